#include "base/mem.h"

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

char *mem_vprintf(const char *fmt, va_list ap)
{
    char *text;
    if (vasprintf(&text, fmt, ap) < 0)
        abort();
    return text;
}

char *mem_printf(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = mem_vprintf(fmt, ap);
    va_end(ap);
    return text;
}
