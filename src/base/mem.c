#include "base/mem.h"

#include <stdint.h>
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
    if (!count || !size || count > SIZE_MAX / size)
        abort();
    return mem_checked(realloc(p, count * size));
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
    va_list again;
    va_copy(again, ap);
    const int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0)
        abort();
    char *text = mem_bytes((size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, fmt, ap);
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
