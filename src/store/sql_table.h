/* The statements and migrations generated from store/sql by scripts/sqlgen.awk. */
#pragma once
#include "sql.h"

struct sql_statement {
    const char *name;
    const char *sqlite;
    const char *postgresql;
};

extern const struct sql_statement sql_table[SQL_COUNT];
/* Oldest first, NULL-terminated; {int}, {bytes X} and the like stand for each engine's own words (engine.h). */
extern const char *const sql_migrations[];
