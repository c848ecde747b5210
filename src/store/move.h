/* Moves a SQLite store into a PostgreSQL database.
 *
 * Table by table, each in one transaction, with COPY. Which tables are done stands in table `moving` of the target,
 * with the number of their rows and a checksum; until the end no service starts on that database. A move that was
 * killed goes on with the next table when it is run again. At the end all rows of the target are read back and
 * compared. */
#pragma once
#include <stdint.h>

#include "base/config.h"
#include "base/err.h"

struct move_table {
    const char *name;
    int64_t rows;
    bool before; /* it was moved by an earlier run, and is only compared */
};

/* Moves the database `from`, which no service may be using: a portero.db in its data directory, or a copy of it. `to`
 * is the connection string of a database with the same version of the schema, without a row or moved into from the same
 * store. Calls `done` after each table. Fails with ERR_USAGE or ERR_IO and *ret_why (caller frees). */
enum err move_store(const char *from, const char *to, void (*done)(void *context, const struct move_table *table),
                    void *context, char **ret_why) CHECKED;
