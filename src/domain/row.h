/* Columns as types of this room. */
#pragma once
#include "domain/tx.h"

/* An ID column; empty for NULL. */
static inline struct id col_id(const struct cursor *c, int i)
{
    struct id id = {{0}};
    struct str s = col_str(c, i);
    if (s.n == ID_LEN)
        memcpy(id.text, s.p, ID_LEN);
    return id;
}

/* An ID column that holds bytes; empty for NULL. */
static inline struct id col_id_bytes(const struct cursor *c, int i)
{
    const struct str s = col_blob(c, i);
    return s.n == ID_BYTES_LEN ? id_from_bytes((const unsigned char *)s.p) : (struct id){{0}};
}

/* An ID as the argument for such a column. Borrows *id. */
static inline struct val v_id_bytes(const struct id_bytes *id)
{
    return v_blob(id->p, sizeof id->p);
}

/* A text column, copied to the arena. */
static inline struct str col_copy(const struct cursor *c, int i, struct arena *a)
{
    return arena_str(a, col_str(c, i));
}

/* An integer column, `otherwise` for NULL. */
static inline int64_t col_int_or(const struct cursor *c, int i, int64_t otherwise)
{
    return col_null(c, i) ? otherwise : col_int(c, i);
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
