/* A bump allocator: what one request allocates is freed at once with its arena.
 *
 * Not thread-safe; an arena moves between threads only as a whole, with its request. Requests are bounded before they
 * reach it (body limit, page limits), so running out of memory here is the machine's failure and ends the process. */
#pragma once
#include "base/str.h"

struct arena_block;

struct arena {
    struct arena_block *blocks; /* newest first */
    char *at, *end;             /* free space of the newest block */
};

/* An arena that starts with `first` (size n, owned by the caller, may be on its stack) and then grows by malloc. */
void arena_init(struct arena *a, void *first, size_t n);
/* Frees every grown block. Memory handed in stays the caller's. */
void arena_done(struct arena *a);

/* n zeroed bytes aligned to 16. Never NULL. */
void *arena_zalloc(struct arena *a, size_t n);
/* n bytes, not zeroed, aligned to 16. Never NULL. */
void *arena_alloc(struct arena *a, size_t n);
#define arena_new(a, type)      ((type *)arena_zalloc((a), sizeof(type)))
#define arena_array(a, type, n) ((type *)arena_zalloc((a), sizeof(type) * (n)))

/* A copy of s, NUL-terminated behind its length. STR_NONE stays STR_NONE. */
struct str arena_str(struct arena *a, struct str s);
/* Formatted, NUL-terminated. */
struct str arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
