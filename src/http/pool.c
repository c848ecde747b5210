#include "http/pool.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Under AddressSanitizer nothing is kept, so that it detects every use after free. */
#if defined(__SANITIZE_ADDRESS__)
static const unsigned pool_max = 0;
#else
static const unsigned pool_max = 64;
#endif

void *http_pool_take(struct http_pool *p, size_t size)
{
    void *block = p->first;
    if (block) {
        memcpy(&p->first, block, sizeof p->first);
        p->count--;
        return block;
    }
    return mem_bytes(size);
}

size_t http_pool_give(struct http_pool *p, void *block, size_t size)
{
    if (p->count >= pool_max) {
        free(block);
        return size;
    }
    memcpy(block, &p->first, sizeof p->first);
    p->first = block;
    p->count++;
    return 0;
}

void http_pool_done(struct http_pool *p)
{
    while (p->first)
        free(http_pool_take(p, 0));
}
