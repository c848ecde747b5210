#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

#define BLOCK 4096

struct arena_end {
    struct arena_end *next;
    void (*end)(void *arg);
    void *arg;
};

struct arena_block {
    struct arena_block *next;
    _Alignas(16) char bytes[];
};

void arena_init(struct arena *a, void *first, size_t n)
{
    *a = (struct arena){.at = first, .end = first ? (char *)first + n : NULL};
}

void arena_defer(struct arena *a, void (*end)(void *arg), void *arg)
{
    struct arena_end *e = arena_alloc(a, sizeof *e);
    *e = (struct arena_end){a->ends, end, arg};
    a->ends = e;
}

void arena_done(struct arena *a)
{
    for (struct arena_end *e = a->ends; e; e = e->next)
        e->end(e->arg);
    while (a->blocks) {
        struct arena_block *b = a->blocks;
        a->blocks = b->next;
        free(b);
    }
    *a = (struct arena){0};
}

static void grow(struct arena *a, size_t n)
{
    size_t size = n + 16 > BLOCK ? n + 16 : BLOCK;
    struct arena_block *b = mem_bytes(sizeof *b + size);
    b->next = a->blocks;
    a->blocks = b;
    a->at = b->bytes;
    a->end = b->bytes + size;
}

void *arena_alloc(struct arena *a, size_t n)
{
    size_t pad = (size_t)(-(uintptr_t)a->at) & 15u;
    if (n > SIZE_MAX / 2)
        abort();
    if (!a->at || (size_t)(a->end - a->at) < n + pad) {
        grow(a, n);
        pad = (size_t)(-(uintptr_t)a->at) & 15u;
    }
    void *p = a->at + pad;
    a->at += pad + n;
    return p;
}

void *arena_zalloc(struct arena *a, size_t n)
{
    return memset(arena_alloc(a, n), 0, n);
}

struct str arena_str(struct arena *a, struct str s)
{
    if (!s.p)
        return s;
    char *p = arena_alloc(a, s.n + 1);
    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return (struct str){p, s.n};
}

struct str arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        abort();
    char *p = arena_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return (struct str){p, (size_t)n};
}
