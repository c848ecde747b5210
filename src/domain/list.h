/* Lists of rows. */
#pragma once
#include "domain/tx.h"

/* Returns a list in the arena with room for one item after its `count` items. *room must be 0 at first. */
static inline void *list_room(struct arena *a, void *list, size_t count, size_t *room, size_t item_size)
{
    if (count < *room)
        return list;
    *room = *room ? 2 * *room : 16;
    void *grown = arena_alloc(a, *room * item_size);
    if (count)
        memcpy(grown, list, count * item_size);
    return grown;
}
