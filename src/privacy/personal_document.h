/* The document of all that the store holds of a person, in parts that follow one another: for
 * `porterod admin account export`, and for the person's own export on the website. */
#pragma once
#include "privacy/personal.h"

/* A place in the document. All zero: its beginning. The values are in the arena of the part that ended there. */
struct personal_mark {
    size_t table;    /* of personal_tables; personal_table_count: the end of the document */
    struct id owner; /* whose rows were read last; empty: of no owner in this table */
    bool opened;     /* the table's array has begun, … */
    bool filled;     /* … and has a row */
    bool inside;     /* rows of that owner may follow `after` */
    struct val after[2];
};

/* Appends the next part of the document of the account and its e-mail address to `out`, and moves the mark. A part
 * reads a bounded number of pages. */
enum err personal_part(struct tx *tx, const struct id *account, struct str email, struct personal_mark *mark,
                       struct buf *out) CHECKED;
static inline bool personal_ended(const struct personal_mark *mark)
{
    return mark->table >= personal_table_count;
}

/* The mark as an opaque text that is sealed and bound to the account, in the arena. */
struct str personal_mark_write(struct arena *a, const struct id *account, const struct personal_mark *mark);
/* Returns false if the text was not written for this account. The values are in the arena. */
bool personal_mark_read(struct arena *a, const struct id *account, struct str text, struct personal_mark *ret);
