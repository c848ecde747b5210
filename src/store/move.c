#include "store/move.h"

#include <glib.h>
#include <inttypes.h>
#include <libpq-fe.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/mem.h"
#include "store/engine.h"
#include "store/sqlite.h"

#define PORTION     65536
#define ROW_MOST    (64U << 20)
#define COLUMNS_MAX 64
#define SQL_MAX     8192

enum { TYPE_BYTEA = 17, TYPE_INT8 = 20, TYPE_TEXT = 25 }; /* OIDs */

/* The frame of COPY's binary format: "COPY TO" in PostgreSQL's manual. */
static const char copy_head[19] = "PGCOPY\n\377\r\n\0";
static const char copy_end[2] = {'\377', '\377'};

/* Tables that belong to a database, not to a store. */
#define NOT_MOVED "('schema_version', 'commit_mark', 'node', 'moving')"

struct column {
    char *name;
    Oid type;
};

struct table {
    char *name;
    char *columns; /* their quoted names, for SQL */
    int width;
    struct column list[COLUMNS_MAX];
    int64_t rows, sum;
};

struct move {
    sqlite3 *from;
    PGconn *to;
    int lock_fd;
    GPtrArray *names;
    char **ret_why;
};

/* ---- errors ---- */

static enum err fail_from(const struct move *m, const char *what)
{
    return err_why(m->ret_why, ERR_IO, "SQLite: %s: %s", what, sqlite3_errmsg(m->from));
}

/* Without the server's details, which quote values. */
static enum err fail_to(const struct move *m, const char *what, const PGresult *r)
{
    const char *message = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    return err_why(m->ret_why, ERR_IO, "PostgreSQL: %s: %s", what, message ? message : PQerrorMessage(m->to));
}

/* Runs a statement; the caller clears the result, which is NULL on failure. */
static PGresult *ask(const struct move *m, const char *sql, const char *parameter)
{
    PGresult *r = PQexecParams(m->to, sql, parameter ? 1 : 0, NULL, &parameter, NULL, NULL, 0);
    if (PQresultStatus(r) == PGRES_TUPLES_OK || PQresultStatus(r) == PGRES_COMMAND_OK)
        return r;
    if (fail_to(m, "a statement", r))
        PQclear(r);
    return NULL;
}

static enum err run(const struct move *m, const char *sql)
{
    PGresult *r = ask(m, sql, NULL);
    PQclear(r);
    return r ? ERR_NONE : ERR_IO;
}

/* The first column of the first row as a number. */
static enum err ask_number(const struct move *m, const char *sql, const char *parameter, int64_t *ret)
{
    PGresult *r = ask(m, sql, parameter);
    if (!r)
        return ERR_IO;
    *ret = PQntuples(r) ? strtoll(PQgetvalue(r, 0, 0), NULL, 10) : 0;
    PQclear(r);
    return ERR_NONE;
}

/* ---- tables ---- */

static void table_free(struct table *t)
{
    for (int i = 0; i < t->width; i++)
        free(t->list[i].name);
    free(t->columns);
    free(t->name);
}

static enum err list_tables(struct move *m)
{
    static const char sql[] =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE "
        "'\\' AND name NOT IN " NOT_MOVED " ORDER BY name";
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(m->from, sql, -1, &stmt, NULL);
    while (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
        g_ptr_array_add(m->names, mem_strdup((const char *)sqlite3_column_text(stmt, 0)));
    rc = sqlite3_finalize(stmt);
    return rc == SQLITE_OK && m->names->len ? ERR_NONE : fail_from(m, "the list of tables");
}

static enum err add_column(const struct move *m, struct table *t, struct buf *columns, const char *name)
{
    PGresult *r = PQexecParams(
        m->to,
        "SELECT atttypid::int FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = $2 AND NOT attisdropped",
        2, NULL, (const char *const[]){t->name, name}, NULL, NULL, 0);
    const Oid type = PQntuples(r) == 1 ? (Oid)strtoul(PQgetvalue(r, 0, 0), NULL, 10) : 0;
    PQclear(r);
    if (t->width == COLUMNS_MAX || (type != TYPE_BYTEA && type != TYPE_INT8 && type != TYPE_TEXT))
        return err_why(m->ret_why, ERR_USAGE, "column %s.%s is not the same in both databases", t->name, name);
    buf_printf(columns, "%s\"%s\"", t->width ? ", " : "", name);
    t->list[t->width++] = (struct column){mem_strdup(name), type};
    return ERR_NONE;
}

/* Reads the columns of a table, which both databases must have. */
static enum err describe(const struct move *m, const char *name, struct table *t)
{
    sqlite3_stmt *stmt = NULL;
    struct buf columns = BUF(SQL_MAX);
    int64_t theirs = 0;
    enum err e = ERR_NONE;
    *t = (struct table){.name = mem_strdup(name)};
    int rc = sqlite3_prepare_v2(m->from, "SELECT name FROM pragma_table_info(?) ORDER BY cid", -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
    while (!e && rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
        e = add_column(m, t, &columns, (const char *)sqlite3_column_text(stmt, 0));
    rc = sqlite3_finalize(stmt);
    if (!e && rc != SQLITE_OK)
        e = fail_from(m, name);
    if (!e)
        e = ask_number(m,
                       "SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0"
                       " AND NOT attisdropped",
                       name, &theirs);
    if (!e && theirs != t->width)
        e = err_why(m->ret_why, ERR_USAGE, "table %s has other columns in PostgreSQL", name);
    buf_char(&columns, '\0');
    t->columns = mem_strdup(columns.p);
    buf_done(&columns);
    return e;
}

/* ---- rows, in COPY's binary format ---- */

static void put_number(struct buf *row, uint64_t n, int bytes)
{
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
        buf_char(row, (char)(unsigned char)(n >> shift));
}

static void put_bytes(struct buf *row, const void *p, int n)
{
    put_number(row, (uint32_t)n, 4);
    buf_put(row, p ? p : "", (size_t)n);
}

static bool put_value(sqlite3_stmt *stmt, int i, Oid type, struct buf *row)
{
    const int found = sqlite3_column_type(stmt, i);
    if (found == SQLITE_NULL) {
        put_number(row, UINT32_MAX, 4);
    } else if (found == SQLITE_INTEGER && type == TYPE_INT8) {
        put_number(row, 8, 4);
        put_number(row, (uint64_t)sqlite3_column_int64(stmt, i), 8);
    } else if (found == SQLITE_TEXT && type == TYPE_TEXT) {
        put_bytes(row, sqlite3_column_text(stmt, i), sqlite3_column_bytes(stmt, i));
    } else if (found == SQLITE_BLOB && type == TYPE_BYTEA) {
        put_bytes(row, sqlite3_column_blob(stmt, i), sqlite3_column_bytes(stmt, i));
    } else {
        return false;
    }
    return !row->full;
}

/* The checksum does not depend on the order of the rows. */
static void count_row(struct table *t, const char *p, size_t n)
{
    t->rows++;
    t->sum = (int64_t)((uint64_t)t->sum + (uint64_t)crypto_hash64((struct str){p, n}));
}

static enum err put_row(const struct move *m, struct table *t, sqlite3_stmt *stmt, struct buf *row)
{
    row->n = 0;
    put_number(row, (uint16_t)t->width, 2);
    for (int i = 0; i < t->width; i++)
        if (!put_value(stmt, i, t->list[i].type, row))
            return err_why(m->ret_why, ERR_IO, "table %s, row %" PRId64 ": column %s has a value of another type",
                           t->name, t->rows + 1, t->list[i].name);
    count_row(t, row->p, row->n);
    return ERR_NONE;
}

static enum err send_portion(const struct move *m, const char *p, size_t n)
{
    return PQputCopyData(m->to, p, (int)n) == 1 ? ERR_NONE : fail_to(m, "COPY", NULL);
}

/* Reads all rows of the table, and sends them unless the table is only compared. */
static enum err read_rows(const struct move *m, struct table *t, bool sends)
{
    sqlite3_stmt *stmt = NULL;
    struct buf row = BUF(ROW_MOST), portion = BUF(ROW_MOST + PORTION);
    char *sql = mem_printf("SELECT %s FROM \"%s\"", t->columns, t->name);
    enum err e = ERR_NONE;
    int rc = sqlite3_prepare_v2(m->from, sql, -1, &stmt, NULL);
    t->rows = t->sum = 0;
    buf_put(&portion, copy_head, sizeof copy_head);
    while (!e && rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
        e = put_row(m, t, stmt, &row);
        if (!e && sends)
            buf_put(&portion, row.p, row.n);
        if (!e && portion.n >= PORTION) {
            e = send_portion(m, portion.p, portion.n);
            portion.n = 0;
        }
    }
    if (sqlite3_finalize(stmt) != SQLITE_OK && !e)
        e = fail_from(m, t->name);
    buf_put(&portion, copy_end, sizeof copy_end);
    if (!e && sends)
        e = send_portion(m, portion.p, portion.n);
    buf_done(&row);
    buf_done(&portion);
    free(sql);
    return e;
}

/* ---- to PostgreSQL ---- */

/* Takes all results of a COPY; returns `e`, or the first failure. */
static enum err take_results(const struct move *m, const struct table *t, enum err e)
{
    PGresult *r;
    while ((r = PQgetResult(m->to))) {
        if (!e && PQresultStatus(r) != PGRES_COMMAND_OK)
            e = fail_to(m, t->name, r);
        PQclear(r);
    }
    return e;
}

static enum err end_copy(const struct move *m, const struct table *t, enum err e)
{
    if (PQputCopyEnd(m->to, e ? "failed" : NULL) != 1)
        return e ? e : fail_to(m, t->name, NULL);
    return take_results(m, t, e);
}

static enum err start_copy(const struct move *m, const char *sql, ExecStatusType expected)
{
    PGresult *r = PQexec(m->to, sql);
    enum err e = PQresultStatus(r) == expected ? ERR_NONE : fail_to(m, "COPY", r);
    PQclear(r);
    return e;
}

static enum err note_moved(const struct move *m, const struct table *t)
{
    PGresult *r = ask(m, "INSERT INTO moving (name) VALUES ($1)", t->name);
    PQclear(r);
    return r ? ERR_NONE : ERR_IO;
}

static enum err set_triggers(const struct move *m, const struct table *t, const char *verb)
{
    char *sql = mem_printf("ALTER TABLE \"%s\" %s TRIGGER USER", t->name, verb);
    enum err e = run(m, sql);
    free(sql);
    return e;
}

/* Without triggers, which would change the rows of other tables. */
static enum err copy_in(const struct move *m, struct table *t)
{
    char *sql = mem_printf("COPY \"%s\" (%s) FROM STDIN (FORMAT binary)", t->name, t->columns);
    enum err e = run(m, "BEGIN");
    if (!e)
        e = set_triggers(m, t, "DISABLE");
    if (!e && !(e = start_copy(m, sql, PGRES_COPY_IN)))
        e = end_copy(m, t, read_rows(m, t, true));
    if (!e)
        e = set_triggers(m, t, "ENABLE");
    if (!e)
        e = note_moved(m, t);
    free(sql);
    return e ? e : run(m, "COMMIT");
}

/* Counts the row of a message. The first one begins with the head; the last one is the end. */
static void count_message(struct table *t, const char *p, size_t n, bool first)
{
    if (first && n >= sizeof copy_head) {
        p += sizeof copy_head;
        n -= sizeof copy_head;
    }
    if (n > sizeof copy_end)
        count_row(t, p, n);
}

/* Reads the table back from PostgreSQL. */
static enum err copy_out(const struct move *m, struct table *t)
{
    char *sql = mem_printf("COPY \"%s\" (%s) TO STDOUT (FORMAT binary)", t->name, t->columns);
    char *row = NULL;
    int n = 0;
    bool first = true;
    enum err e = start_copy(m, sql, PGRES_COPY_OUT);
    t->rows = t->sum = 0;
    free(sql);
    if (e)
        return e;
    while ((n = PQgetCopyData(m->to, &row, 0)) > 0) {
        count_message(t, row, (size_t)n, first);
        first = false;
        PQfreemem(row);
    }
    return take_results(m, t, e);
}

/* ---- the move ---- */

static enum err was_moved(const struct move *m, const struct table *t, bool *ret)
{
    int64_t moved = 0;
    enum err e = ask_number(m, "SELECT count(*) FROM moving WHERE name = $1", t->name, &moved);
    *ret = moved > 0;
    return e;
}

/* Moves a table, unless an earlier run did, and compares what PostgreSQL has. */
static enum err move_table(const struct move *m, const char *name, struct move_table *ret)
{
    struct table t, back;
    bool before = false;
    enum err e = describe(m, name, &t);
    if (!e)
        e = was_moved(m, &t, &before);
    if (!e)
        e = before ? read_rows(m, &t, false) : copy_in(m, &t);
    back = t;
    if (!e)
        e = copy_out(m, &back);
    if (!e && (back.rows != t.rows || back.sum != t.sum))
        e = err_why(m->ret_why, ERR_IO,
                    "table %s: SQLite has %" PRId64 " rows, PostgreSQL %" PRId64 "%s: the target is half of another "
                    "move, or was changed; empty it and begin again",
                    name, t.rows, back.rows, back.rows == t.rows ? ", with other contents" : "");
    *ret = (struct move_table){name, t.rows, before};
    table_free(&t);
    return e;
}

static enum err refuse_rows(const struct move *m)
{
    for (guint i = 0; i < m->names->len; i++) {
        int64_t rows = 0;
        char *sql = mem_printf("SELECT count(*) FROM (SELECT 1 FROM \"%s\" LIMIT 1) AS t", (char *)m->names->pdata[i]);
        enum err e = ask_number(m, sql, NULL, &rows);
        free(sql);
        if (e)
            return e;
        if (rows)
            return err_why(m->ret_why, ERR_USAGE, "the PostgreSQL database is not empty: table %s has rows",
                           (char *)m->names->pdata[i]);
    }
    return ERR_NONE;
}

static enum err check_versions(const struct move *m)
{
    sqlite3_stmt *stmt = NULL;
    int64_t theirs = 0, ours = 0;
    int rc = sqlite3_prepare_v2(m->from, sql_table[SQL_SCHEMA_VERSION].sqlite, -1, &stmt, NULL);
    if (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
        ours = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    enum err e = rc == SQLITE_OK ? ask_number(m, sql_table[SQL_SCHEMA_VERSION].postgresql, NULL, &theirs)
                                 : fail_from(m, "not a store");
    if (!e && ours != theirs)
        e = err_why(m->ret_why, ERR_USAGE,
                    "the schema of SQLite is version %" PRId64 ", that of PostgreSQL %" PRId64
                    ": update the older one with porterod migrate",
                    ours, theirs);
    return e;
}

/* Notes that a move has begun, if the target is empty. Another move or a service must not be at work there. */
static enum err begin(const struct move *m)
{
    int64_t locked = 0, begun = 0, nodes = 0;
    enum err e = ask_number(m, "SELECT CAST(pg_try_advisory_lock(7046029254386353131) AS INTEGER)", NULL, &locked);
    if (!e && !locked)
        return err_why(m->ret_why, ERR_USAGE, "another process moves a store into this database");
    if (!e)
        e = ask_number(m,
                       "SELECT count(*) FROM node WHERE ended_at IS NULL AND heartbeat_at > "
                       "CAST(extract(epoch FROM statement_timestamp()) * 1000000 AS BIGINT) - 10000000",
                       NULL, &nodes);
    if (!e && nodes)
        return err_why(m->ret_why, ERR_USAGE, "services are running on the PostgreSQL database: stop them");
    if (!e)
        e = ask_number(m, "SELECT count(*) FROM pg_class WHERE oid = to_regclass($1)", "moving", &begun);
    if (!e && !begun)
        e = refuse_rows(m);
    if (!e && !begun)
        e = run(m, "CREATE TABLE moving (name TEXT NOT NULL PRIMARY KEY)");
    return e;
}

static enum err move_all(struct move *m, void (*done)(void *, const struct move_table *), void *context)
{
    enum err e = list_tables(m);
    if (!e)
        e = check_versions(m);
    if (!e)
        e = begin(m);
    for (guint i = 0; !e && i < m->names->len; i++) {
        struct move_table moved;
        e = move_table(m, m->names->pdata[i], &moved);
        if (!e)
            done(context, &moved);
    }
    if (!e)
        e = run(m, "ANALYZE");
    return e ? e : run(m, "DROP TABLE moving");
}

/* ---- both databases ---- */

/* A store in a data directory is locked; a copy elsewhere has no lock. Reading it in one transaction keeps it the same.
 */
static enum err open_from(struct move *m, const char *path)
{
    char *dir = g_path_get_dirname(path), *name = g_path_get_basename(path);
    enum err e = strcmp(name, "portero.db") ? ERR_NONE : sqlite_lock_directory(dir, &m->lock_fd, m->ret_why);
    g_free(dir);
    g_free(name);
    if (e)
        return e;
    int rc = sqlite3_open_v2(path, &m->from, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(m->from, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite_distrust(m->from);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(m->from, "PRAGMA query_only=ON; BEGIN; SELECT * FROM sqlite_schema", NULL, NULL, NULL);
    return rc == SQLITE_OK ? ERR_NONE : fail_from(m, path);
}

static enum err open_to(struct move *m, const char *dsn)
{
    static const char *const names[] = {"connect_timeout", "target_session_attrs", "application_name",
                                        "dbname",          "client_encoding",      NULL};
    const char *const values[] = {"10", "read-write", "portero", dsn, "UTF8", NULL};
    m->to = PQconnectdbParams(names, values, 1);
    if (PQstatus(m->to) != CONNECTION_OK)
        return err_why(m->ret_why, ERR_USAGE, "PostgreSQL: %s", PQerrorMessage(m->to));
    enum err e = run(m, "SET statement_timeout = 0");
    if (!e)
        e = run(m, "SET idle_in_transaction_session_timeout = 0");
    return e ? e : run(m, "SET client_min_messages = error");
}

enum err move_store(const char *from, const char *to, void (*done)(void *context, const struct move_table *table),
                    void *context, char **ret_why)
{
    struct move m = {.lock_fd = -1, .names = g_ptr_array_new_with_free_func(free), .ret_why = ret_why};
    enum err e = open_from(&m, from);
    if (!e)
        e = open_to(&m, to);
    if (!e)
        e = move_all(&m, done, context);
    PQfinish(m.to);
    sqlite3_close(m.from);
    if (m.lock_fd >= 0)
        close(m.lock_fd);
    g_ptr_array_free(m.names, TRUE);
    return e;
}
