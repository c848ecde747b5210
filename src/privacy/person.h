/* All that the store holds of a person who is known by a telephone number or an e-mail address, at all doors: visitor,
 * guest, member, neighbour of a ring group. The rows of an account are found, and left: billing/erasure.h ends them. */
#pragma once
#include "base/buf.h"
#include "domain/tx.h"

#define PERSON_KEYS   3
#define PERSON_TABLES 15

/* A place in a walk through the tables. All zero: the beginning. Its values are in the arena of the walk. */
struct person_mark {
    size_t table; /* PERSON_TABLES: the end */
    bool begun;
    struct val after[PERSON_KEYS];
};

struct person_walk {
    struct str word; /* person_word() */
    struct person_mark mark;
    bool erase;
    struct buf *out; /* of a walk that erases nothing: the rows as JSON objects, with commas between them; or NULL */
    int64_t found[PERSON_TABLES];
};

const char *person_table_name(size_t table);
/* Whether a walk leaves the rows of the table: they belong to an account. */
bool person_keeps(size_t table);

/* Reads the next rows, at most PERSON_WINDOW of one table, finds the ones with the person, and erases them, or the
 * person in them. */
#define PERSON_WINDOW 1000
enum err person_step(struct tx *tx, struct person_walk *walk) CHECKED;

struct str person_mark_write(const struct person_mark *mark, struct arena *a);
bool person_mark_read(struct str text, struct arena *a, struct person_mark *ret);
