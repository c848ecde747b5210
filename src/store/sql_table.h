/* The statements and migrations generated from store/sql by scripts/sqlgen.awk. */
#pragma once
#include "sql.h"

struct sql_statement {
    const char *name;
    const char *sqlite;
    const char *postgresql;
    const struct sql_field *params; /* shared with statements that have the same */
    int param_count;
    const struct sql_field *columns; /* NULL: it returns no rows */
    int column_count;
};

extern const struct sql_statement sql_table[SQL_COUNT];
/* Oldest first, NULL-terminated; with {int}, {bytes X} and so on in place of the words of an engine (engine.h). */
extern const char *const sql_migrations[];
/* The oldest program, named by its newest migration, that may use the schema of each migration. */
extern const int sql_migration_oldest[];
