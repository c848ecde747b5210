/* A growing byte buffer with a hard maximum, after curl's dynbuf. A write beyond the maximum is dropped and sets
 * `full`, which stays set, so that a writer checks once, at the end. */
#pragma once
#include "base/str.h"

struct buf {
    char *p;
    size_t n;   /* bytes used */
    size_t cap; /* bytes allocated */
    size_t max; /* the limit of n */
    bool full;
};

#define BUF(limit) ((struct buf){.max = (limit)})

void buf_done(struct buf *b);

/* Makes room for n bytes at b->p + b->n. False, and `full` is set, beyond the maximum. */
bool buf_reserve_slow(struct buf *b, size_t n);
static inline bool buf_reserve(struct buf *b, size_t n)
{
    return b->cap - b->n >= n || buf_reserve_slow(b, n);
}

static inline void buf_put(struct buf *b, const void *p, size_t n)
{
    if (n && buf_reserve(b, n)) {
        memcpy(b->p + b->n, p, n);
        b->n += n;
    }
}
static inline void buf_char(struct buf *b, char c)
{
    if (buf_reserve(b, 1))
        b->p[b->n++] = c;
}
static inline void buf_str(struct buf *b, struct str s)
{
    buf_put(b, s.p, s.n);
}
#define buf_lit(b, literal) buf_put((b), "" literal, sizeof(literal) - 1)

void buf_i64(struct buf *b, int64_t v);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The text for HTML, between tags and in quoted values. */
void buf_html(struct buf *b, struct str text);
static inline struct str buf_view(const struct buf *b)
{
    return (struct str){b->p ? b->p : "", b->n};
}
