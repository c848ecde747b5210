/* Memory blocks of one size, kept for reuse up to a bound. */
#pragma once
#include <stddef.h>

struct http_pool {
    void *first; /* each free block begins with a pointer to the next */
    unsigned count;
};

/* A block of `size` bytes; its contents are undefined. */
void *http_pool_take(struct http_pool *p, size_t size);
/* Returns the number of bytes freed: 0 or `size`. */
size_t http_pool_give(struct http_pool *p, void *block, size_t size);
void http_pool_done(struct http_pool *p);
