#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *mem_checked(void *p)
{
    if (!p)
        abort();
    return p;
}

void *mem_zeroed(size_t count, size_t size)
{
    return mem_checked(calloc(count, size));
}

void *mem_resized(void *p, size_t count, size_t size)
{
    return mem_checked(reallocarray(p, count, size));
}

void *mem_bytes(size_t n)
{
    return mem_checked(malloc(n));
}

char *mem_strdup(const char *s)
{
    return mem_checked(strdup(s));
}

char *mem_strndup(const char *s, size_t n)
{
    return mem_checked(strndup(s, n));
}

char *mem_printf(const char *fmt, ...)
{
    char *text;
    va_list ap;
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        abort();
    va_end(ap);
    return text;
}
