/* A filled store on PostgreSQL and the statements of spread.def, prepared on a connection to it; for spread_test.c.
 * A query that fails ends the program.
 * reads: test/unit/store/spread.sql */
#pragma once
#include <jansson.h>
#include <libpq-fe.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/sql_table.h"

enum spread_path { REQUEST, CALL, BACKGROUND, OTHER };

static const struct spread_table {
    const char *name, *owner, *directories;
} spread_tables[] = {
#define TABLE(name, owner, directories) {#name, owner, directories},
#include "store/spread.def"
};

static const struct spread_statement {
    const char *name;
    enum spread_path path;
    int rows;
    const char *arguments; /* "": not run */
} spread_statements[] = {
#define STATEMENT(name, path, user, rows, arguments) {#name, path, rows, arguments},
#include "store/spread.def"
};

#define SPREAD_TABLES     (sizeof spread_tables / sizeof *spread_tables)
#define SPREAD_STATEMENTS (sizeof spread_statements / sizeof *spread_statements)

__attribute__((format(printf, 2, 3))) static inline PGresult *spread_query(PGconn *conn, const char *format, ...)
{
    char *sql = NULL;
    va_list ap;
    va_start(ap, format);
    if (vasprintf(&sql, format, ap) < 0)
        abort();
    va_end(ap);
    PGresult *r = PQexec(conn, sql);
    if (PQresultStatus(r) != PGRES_COMMAND_OK && PQresultStatus(r) != PGRES_TUPLES_OK) {
        fprintf(stderr, "%.300s: %s", sql, PQerrorMessage(conn));
        exit(1);
    }
    free(sql);
    return r;
}

#define spread_do(conn, ...) PQclear(spread_query(conn, __VA_ARGS__))

/* The rows that the first building has besides in a store of `rows`. */
static inline long spread_more(long rows)
{
    return rows < 1000000 ? rows / 50 : 20000;
}

/* Fills an empty store with `rows` grants and as many log entries, and all else in proportion; the first building has
 * `more` of both besides. */
static inline void spread_fill(PGconn *conn, long rows, long more)
{
    char *sql = NULL;
    FILE *file = fopen(SOURCE_DIR "/test/unit/store/spread.sql", "r");
    if (!file || getdelim(&sql, &(size_t){0}, '\0', file) < 0)
        abort();
    fclose(file);
    spread_do(conn, "SET portero.rows = %ld; SET portero.more = %ld; SET synchronous_commit = off", rows, more);
    spread_do(conn, "%s", sql);
    free(sql);
    for (size_t i = 0; i < SPREAD_TABLES; i++)
        spread_do(conn, "ANALYZE %s", spread_tables[i].name);
}

/* Prepares the statements as the service does, with its setting for the planner (postgresql_control.c). */
static inline void spread_prepare(PGconn *conn, long rows)
{
    spread_do(conn, "SET portero.rows = %ld; SET random_page_cost = 1.1", rows);
    for (int i = 0; i < SQL_COUNT; i++)
        if (strncmp(sql_table[i].name, "schema_", 7) != 0)
            spread_do(conn, "PREPARE %s AS %s", sql_table[i].name, sql_table[i].postgresql);
}

/* Chooses the building whose IDs the arguments have. */
static inline void spread_at(PGconn *conn, long building)
{
    spread_do(conn, "SET portero.at = %ld", building);
}

/* The value of the argument, which is name=value in a list separated by "; ". */
static inline const char *spread_argument(const char *arguments, const char *name, int *ret_length)
{
    const size_t n = strlen(name);
    for (const char *at = arguments; at; at = strstr(at, "; "), at = at ? at + 2 : NULL)
        if (strncmp(at, name, n) == 0 && at[n] == '=') {
            const char *value = at + n + 1, *end = strstr(value, "; ");
            *ret_length = (int)(end ? (size_t)(end - value) : strlen(value));
            return value;
        }
    fprintf(stderr, "spread.def: no argument %s in \"%s\"\n", name, arguments);
    exit(1);
}

/* Writes "(v1, v2)", the arguments in the order of the statement's parameters; "" without any. */
static inline void spread_arguments(const char *name, const char *arguments, char *out, size_t size)
{
    int i = 0, length = 0;
    while (strcmp(sql_table[i].name, name) != 0)
        i++;
    const struct sql_statement *s = &sql_table[i];
    size_t n = 0;
    out[0] = '\0';
    for (int k = 0; k < s->param_count && n < size; k++) {
        const char *value = spread_argument(arguments, s->params[k].name, &length);
        n += (size_t)snprintf(out + n, size - n, "%s%.*s%s", k ? ", " : "(", length, value,
                              k + 1 == s->param_count ? ")" : "");
    }
}

/* Explains a statement with options as "ANALYZE, BUFFERS", in a transaction that is rolled back. Returns the object of
 * the plan, which the caller frees. */
static inline json_t *spread_explain(PGconn *conn, const char *options, const char *name, const char *arguments)
{
    char list[2000] = "";
    if (*arguments)
        spread_arguments(name, arguments, list, sizeof list);
    spread_do(conn, "BEGIN");
    PGresult *r = spread_query(conn, "EXPLAIN (%sFORMAT JSON) EXECUTE %s%s", options, name, list);
    json_t *plans = json_loads(PQgetvalue(r, 0, 0), 0, NULL);
    json_t *plan = json_incref(json_array_get(plans, 0));
    json_decref(plans);
    PQclear(r);
    spread_do(conn, "ROLLBACK");
    return plan;
}
