#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "fixture.h"
#include "store/sql_table.h"

/* The number of parameters and columns of a prepared statement. */
struct plan {
    int args, columns;
};

/* A column is read under the name that it has. */
static bool is_named(sqlite3_stmt *stmt, const struct sql_statement *s)
{
    for (int i = 0; s->columns && i < s->column_count; i++)
        if (s->columns[i].name && strcmp(s->columns[i].name, sqlite3_column_name(stmt, i)) != 0)
            return false;
    return true;
}

static const char *sqlite_plan(sqlite3 *handle, const struct sql_statement *s, struct plan *ret)
{
    sqlite3_stmt *stmt;
    const char *rest;
    if (sqlite3_prepare_v2(handle, s->sqlite, -1, &stmt, &rest) != SQLITE_OK)
        return sqlite3_errmsg(handle);
    if (!is_named(stmt, s))
        return "a column has another name in sql_table";
    *ret = (struct plan){.columns = sqlite3_column_count(stmt)};
    for (int i = sqlite3_bind_parameter_count(stmt); i > 0; i--) {
        const char *name = sqlite3_bind_parameter_name(stmt, i);
        int n = name && name[0] == '$' ? atoi(name + 1) : 0;
        if (n > ret->args)
            ret->args = n;
    }
    sqlite3_finalize(stmt);
    return rest[strspn(rest, " \n\t;")] ? "more than one statement" : NULL;
}

/* The types of pg_type.dat that values of a kind may have. */
static bool has_type(enum sql_kind kind, Oid type)
{
    switch (kind) {
    case SQL_KIND_TEXT:
    case SQL_KIND_JSON:
    case SQL_KIND_ID:
        return type == 25 || type == 1043;
    case SQL_KIND_BLOB:
    case SQL_KIND_IDBYTES:
        return type == 17;
    case SQL_KIND_INT:
    case SQL_KIND_TIME:
    case SQL_KIND_BOOL:
    case SQL_KIND_INT_OR_NULL:
    case SQL_KIND_TIME_OR_NULL:
    case SQL_KIND_BOOL_OR_NULL:
        return type == 16 || type == 20 || type == 21 || type == 23;
    case SQL_KIND_ANY:
    case SQL_KIND_NOTHING:
        break;
    }
    return type == 16 || type == 17 || type == 20 || type == 21 || type == 23 || type == 25 || type == 1043;
}

static enum sql_kind kind_at(const struct sql_field *fields, int count, int i)
{
    return fields && i < count ? fields[i].kind : SQL_KIND_ANY;
}

static const char *postgresql_plan(PGconn *conn, const struct sql_statement *s, struct plan *ret)
{
    static char why[400];
    PGresult *r = PQprepare(conn, "", s->postgresql, 0, NULL);
    bool good = PQresultStatus(r) == PGRES_COMMAND_OK;
    PQclear(r);
    if (!good)
        return PQerrorMessage(conn);
    r = PQdescribePrepared(conn, "");
    *ret = (struct plan){.args = PQnparams(r), .columns = PQnfields(r)};
    why[0] = '\0';
    for (int i = 0; i < ret->args + ret->columns; i++) {
        const bool arg = i < ret->args;
        const int at = arg ? i : i - ret->args;
        const Oid type = arg ? PQparamtype(r, at) : PQftype(r, at);
        const enum sql_kind kind =
            arg ? kind_at(s->params, s->param_count, at) : kind_at(s->columns, s->column_count, at);
        if (!has_type(kind, type))
            snprintf(why, sizeof why, "%s %d has type %u, which is not of its kind: cast it to BIGINT, TEXT or BYTEA",
                     arg ? "parameter" : "column", at + 1, type);
    }
    PQclear(r);
    return why[0] ? why : NULL;
}

static void both_engines_accept_every_statement(void **state)
{
    struct store_fixture *pg = *state;
    void *other;
    assert_int_equal(store_fixture_open(&other), 0);
    struct store_fixture *lite = other;
    char path[100];
    snprintf(path, sizeof path, "%s/portero.db", lite->dir);
    sqlite3 *handle;
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    PGconn *conn = PQconnectdb(pg->dsn);
    int wrong = 0;
    for (int i = 0; i < SQL_COUNT; i++) {
        const struct sql_statement *s = &sql_table[i];
        struct plan a = {0}, b = {0};
        const char *why = sqlite_plan(handle, s, &a);
        if (why)
            print_error("%s: SQLite: %s\n", s->name, why);
        const char *why_b = postgresql_plan(conn, s, &b);
        if (why_b)
            print_error("%s: PostgreSQL: %s\n", s->name, why_b);
        bool same =
            a.args == b.args && a.columns == b.columns && a.args == s->param_count && a.columns == s->column_count;
        if (!why && !why_b && !same)
            print_error("%s: %d parameters and %d columns on SQLite, %d and %d on PostgreSQL, %d and %d in sql_table\n",
                        s->name, a.args, a.columns, b.args, b.columns, s->param_count, s->column_count);
        wrong += why || why_b || !same;
    }
    PQfinish(conn);
    sqlite3_close(handle);
    store_fixture_close(&other);
    assert_int_equal(wrong, 0);
}

/* Returns NULL if the statement ran, or failed only because of its arguments. */
static const char *sqlite_run(sqlite3 *handle, const char *sql, const char *argument)
{
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(handle, sql, -1, &stmt, NULL) != SQLITE_OK)
        return sqlite3_errmsg(handle);
    for (int i = sqlite3_bind_parameter_count(stmt); i > 0; i--)
        assert_int_equal(sqlite3_bind_text(stmt, i, argument, -1, SQLITE_STATIC), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        continue;
    const int rc = sqlite3_finalize(stmt);
    return rc == SQLITE_OK || rc == SQLITE_CONSTRAINT ? NULL : sqlite3_errmsg(handle);
}

/* Does the same on PostgreSQL, in a transaction, which a failure does not end. */
static const char *postgresql_run(PGconn *conn, const char *sql, const char *argument)
{
    static char why[400];
    const char *values[64];
    PQclear(PQexec(conn, "SAVEPOINT statement"));
    PGresult *r = PQprepare(conn, "", sql, 0, NULL);
    PQclear(r);
    r = PQdescribePrepared(conn, "");
    const int args = PQnparams(r);
    PQclear(r);
    assert_true(args <= (int)(sizeof values / sizeof *values));
    for (int i = 0; i < args; i++)
        values[i] = argument;
    r = PQexecPrepared(conn, "", args, values, NULL, NULL, 0);
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const bool good = !state || strncmp(state, "22", 2) == 0 || strncmp(state, "23", 2) == 0; /* data, constraint */
    snprintf(why, sizeof why, "%s", PQresultErrorMessage(r));
    if (state)
        PQclear(PQexec(conn, "ROLLBACK TO statement"));
    PQclear(r);
    return good ? NULL : why;
}

/* Some faults of a statement show only when it runs. "1" is valid for each type of parameter, and finds the rows that
 * statements before it have written with it. */
static void both_engines_run_every_statement(void **state)
{
    struct store_fixture *pg = *state;
    void *other;
    assert_int_equal(store_fixture_open(&other), 0);
    struct store_fixture *lite = other;
    char path[100];
    snprintf(path, sizeof path, "%s/portero.db", lite->dir);
    sqlite3 *handle;
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    assert_int_equal(sqlite3_exec(handle, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    PGconn *conn = PQconnectdb(pg->dsn);
    PQclear(PQexec(conn, "SET client_min_messages = warning; BEGIN"));
    int wrong = 0;
    for (int i = 0; i < SQL_COUNT; i++) {
        const struct sql_statement *s = &sql_table[i];
        const char *why = sqlite_run(handle, s->sqlite, "1");
        if (why && ++wrong)
            print_error("%s: SQLite: %s\n", s->name, why);
        why = postgresql_run(conn, s->postgresql, "1");
        if (why && ++wrong)
            print_error("%s: PostgreSQL: %s\n", s->name, why);
    }
    PQfinish(conn);
    sqlite3_close(handle);
    store_fixture_close(&other);
    assert_int_equal(wrong, 0);
}

/* A subquery that locks rows returns other rows each time it runs, and PostgreSQL may run it once for each row of the
 * outer statement. It runs once only if it is materialized or a scalar. */
static void a_subquery_that_locks_rows_runs_once(void **state)
{
    (void)state;
    int wrong = 0;
    for (int i = 0; i < SQL_COUNT; i++) {
        const char *sql = sql_table[i].postgresql, *lock = strstr(sql, "FOR UPDATE");
        if (!lock || strstr(sql, "SELECT") == sql + strspn(sql, " \n"))
            continue; /* the statement itself locks */
        const char *once = strstr(sql, "AS MATERIALIZED (");
        if (!once)
            once = strstr(sql, "= (SELECT");
        if (once && once < lock && !strstr(lock + 1, "FOR UPDATE"))
            continue;
        print_error("%s: its subquery may lock more rows than it returns\n", sql_table[i].name);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_engines_accept_every_statement, store_fixture_open_postgresql,
                                        store_fixture_close),
        cmocka_unit_test_setup_teardown(both_engines_run_every_statement, store_fixture_open_postgresql,
                                        store_fixture_close),
        cmocka_unit_test(a_subquery_that_locks_rows_runs_once),
    };
    return cmocka_run_group_tests(tests, store_cluster_start, store_cluster_stop);
}
