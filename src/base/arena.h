/* A bump allocator. A request allocates from its arena, which is freed as a whole.
 *
 * Not thread-safe: an arena moves between threads only with its request. Requests are bounded before they allocate
 * (body limit, page limits), so a lack of memory aborts (base/mem.h). */
#pragma once
#include "base/str.h"

struct arena_block;
struct arena_end;

struct arena {
    struct arena_block *blocks; /* newest first, as the next */
    struct arena_end *ends;
    char *at, *end; /* free space of the newest block */
};

/* Allocates from `first` (n bytes, the caller's, often on its stack; may be NULL), and then from the heap. */
void arena_init(struct arena *a, void *first, size_t n);
/* Calls the functions of arena_defer, newest first, and frees the heap blocks. `first` stays the caller's. */
void arena_done(struct arena *a);
/* Calls end(arg) at the arena's end: for memory of a library, which lives as long. */
void arena_defer(struct arena *a, void (*end)(void *arg), void *arg);

/* n zeroed bytes, aligned to 16. */
void *arena_zalloc(struct arena *a, size_t n);
/* n bytes, not initialised, aligned to 16. */
void *arena_alloc(struct arena *a, size_t n);
#define arena_new(a, type)      ((type *)arena_zalloc((a), sizeof(type)))
#define arena_array(a, type, n) ((type *)arena_zalloc((a), sizeof(type) * (n)))

/* A NUL-terminated copy of s; STR_NONE for STR_NONE. */
struct str arena_str(struct arena *a, struct str s);
/* The formatted text, NUL-terminated. */
struct str arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
