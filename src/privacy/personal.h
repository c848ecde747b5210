/* All that the store holds of a person, table by table: the rows of an export (privacy/personal_document.h). */
#pragma once
#include "base/buf.h"
#include "domain/tx.h"

enum personal_owner { PERSONAL_NOTHING, PERSONAL_ACCOUNT, PERSONAL_EMAIL, PERSONAL_BUILDING, PERSONAL_WEBHOOK };

/* A table of the schema, and its rows of a person. A new table needs a row (test/e2e/account-export.test.js). */
struct personal_table {
    const char *name; /* the table; `memberships` is a second look at member */
    enum personal_owner owner;
    const char *why; /* of PERSONAL_NOTHING: why it is not in an export */
    enum sql statement;
    int keys;            /* columns that rows are paged by, the first of each row; 0: the rows are few */
    const char *purpose; /* that its blobs are sealed for; NULL: they are not */
};

struct cursor;

/* Appends the row as a JSON object with the names of its columns. */
enum err personal_row(struct tx *tx, const struct personal_table *table, const struct cursor *c,
                      struct buf *out) CHECKED;
/* Appends the bytes as a string. */
void personal_base64(struct str bytes, struct buf *out);
/* The value of key i in the row, in the arena of the transaction; without a row: one below all of the column. */
struct val personal_key(struct tx *tx, const struct personal_table *table, int i, const struct cursor *row);

extern const struct personal_table personal_tables[];
extern const size_t personal_table_count;

/* A place in an export. All zero: the beginning of a table's rows of one owner. */
struct personal_place {
    const struct personal_table *table;
    struct str owner;
    struct val after[2]; /* in the arena of the caller */
    bool begun, more;    /* more: rows may follow this page */
};

/* Appends the next page of rows as JSON objects, with a comma before each but the export's first row of the table
 * (*empty), and moves the place. */
enum err personal_page(struct tx *tx, struct personal_place *place, struct buf *out, bool *empty) CHECKED;
