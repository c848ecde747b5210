/* The statements and migrations generated from store/sql by scripts/sqlgen.awk. */
#pragma once
#include "sql.h"

struct sql_statement {
    const char *name;
    const char *sqlite;
    const char *postgresql;
};

extern const struct sql_statement sql_table[SQL_COUNT];
/* Oldest first, NULL-terminated; {int} {blob} {clustered} {desc} stand for each engine's own words. */
extern const char *const sql_migrations[];
