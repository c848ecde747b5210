#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

void buf_done(struct buf *b)
{
    free(b->p);
    *b = (struct buf){.max = b->max};
}

bool buf_reserve_slow(struct buf *b, size_t n)
{
    if (b->full || n > b->max || b->n > b->max - n) {
        b->full = true;
        return false;
    }
    size_t cap = b->cap ? b->cap : 256;
    while (cap < b->n + n)
        cap *= 2;
    if (cap > b->max)
        cap = b->max;
    mem_resize(b->p, cap);
    b->cap = cap;
    return true;
}

void buf_i64(struct buf *b, int64_t v)
{
    char digits[20];
    size_t at = sizeof digits;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do
        digits[--at] = (char)('0' + u % 10);
    while ((u /= 10) != 0);
    if (v < 0)
        buf_char(b, '-');
    buf_put(b, digits + at, sizeof digits - at);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n >= 0 && buf_reserve(b, (size_t)n + 1)) {
        vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

void buf_html(struct buf *b, struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        switch (text.p[i]) {
        case '&':
            buf_lit(b, "&amp;");
            break;
        case '<':
            buf_lit(b, "&lt;");
            break;
        case '>':
            buf_lit(b, "&gt;");
            break;
        case '"':
            buf_lit(b, "&quot;");
            break;
        case '\'':
            buf_lit(b, "&#39;");
            break;
        default:
            buf_char(b, text.p[i]);
        }
}
