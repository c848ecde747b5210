/* Lists of rows. */
#pragma once
#include "domain/tx.h"

/* Fails with ERR_INVALID_DATE if the times of a filter that are set are in the wrong order. */
static inline CHECKED enum err list_check_period(struct tx *tx, struct val since, struct val until)
{
    return v_set(since) && v_set(until) && since.i > until.i
               ? tx_fail(tx, ERR_INVALID_DATE, "since must not be later than until")
               : ERR_NONE;
}

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
