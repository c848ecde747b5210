/* Named statements on a SQLite connection, prepared at first use and kept. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "store/sqlite.h"

static const char *const control_sql[CONTROL_COUNT] = {
    [CONTROL_BEGIN] = "BEGIN",
    [CONTROL_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [CONTROL_COMMIT] = "COMMIT",
    [CONTROL_ROLLBACK] = "ROLLBACK",
    [CONTROL_SAVEPOINT] = "SAVEPOINT task",
    [CONTROL_SAVEPOINT_RELEASE] = "RELEASE task",
    [CONTROL_SAVEPOINT_ROLLBACK] = "ROLLBACK TO task",
    [CONTROL_DATA_VERSION] = "PRAGMA data_version",
};

void sqlite_log_error(const struct sqlite_db *db, const char *what)
{
    store_log_error(what, sqlite3_extended_errcode(db->handle), sqlite3_errmsg(db->handle));
}

/* Also returns the first column of the row, if there is one. */
static int control_row(struct sqlite_db *db, enum sqlite_control control, int64_t *ret)
{
    sqlite3_stmt **stmt = &db->control[control];
    int rc = SQLITE_OK;
    if (!*stmt)
        rc = sqlite3_prepare_v3(db->handle, control_sql[control], -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
    if (rc != SQLITE_OK)
        return rc;
    if (sqlite3_step(*stmt) == SQLITE_ROW)
        *ret = sqlite3_column_int64(*stmt, 0);
    return sqlite3_reset(*stmt);
}

int sqlite_control(struct sqlite_db *db, enum sqlite_control control)
{
    int64_t unused;
    return control_row(db, control, &unused);
}

int64_t sqlite_data_version(struct sqlite_db *db)
{
    int64_t version = 0;
    return control_row(db, CONTROL_DATA_VERSION, &version) == SQLITE_OK ? version : 0;
}

void sqlite_finalize_all(struct sqlite_db *db)
{
    for (int i = 0; i < CONTROL_COUNT; i++)
        sqlite3_finalize(db->control[i]);
    for (int i = 0; i < SQL_COUNT; i++)
        sqlite3_finalize(db->statements[i].handle);
}

/* Failures that may pass: primary result codes, and the reason for the operator; NULL: the system's. */
static const struct {
    int code;
    const char *reason;
} troubles[] = {
    {SQLITE_FULL, "the disk is full"},
    {SQLITE_IOERR, NULL},
    {SQLITE_CANTOPEN, NULL},
    {SQLITE_READONLY, "the database is read-only"},
    {SQLITE_BUSY, "another program has the database locked"},
    {SQLITE_PROTOCOL, "another program has the database locked"},
};

/* The last error that the system returned for the WAL, or for the database if that cannot be opened. */
static int system_error(const struct sqlite_db *db)
{
    sqlite3_file *wal = NULL;
    int error = 0;
    if (!sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal) && wal && wal->pMethods)
        (void)wal->pMethods->xFileControl(wal, SQLITE_FCNTL_LAST_ERRNO, &error);
    return error ? error : sqlite3_system_errno(db->handle);
}

static const char *trouble_reason(const struct sqlite_db *db, const char *reason)
{
    const int error = reason ? 0 : system_error(db);
    if (reason)
        return reason;
    return error == ENOSPC ? troubles[0].reason : error ? strerrordesc_np(error) : "the disk fails";
}

static bool is_trouble(const struct sqlite_db *db, int code, const char **ret_reason)
{
    const bool writes = db == db->store->writer.db;
    for (size_t i = 0; i < sizeof troubles / sizeof *troubles; i++)
        if (code == troubles[i].code) {
            *ret_reason = writes ? trouble_reason(db, troubles[i].reason) : NULL;
            return writes || code != SQLITE_READONLY; /* a read body that writes: our own bug */
        }
    return false;
}

enum err sqlite_failed(struct sqlite_db *db, const char *what)
{
    const char *reason = NULL;
    const bool trouble = is_trouble(db, sqlite3_errcode(db->handle) & 0xff, &reason);
    if (reason)
        store_note_failure(&db->store->base, reason, what, sqlite3_errmsg(db->handle));
    else
        sqlite_log_error(db, what);
    return db->failure = trouble ? ERR_SERVICE_UNAVAILABLE : ERR_INTERNAL_ERROR;
}

static enum err statement_failed(struct sqlite_db *db, const char *what)
{
    return db->base.failed = sqlite_failed(db, what);
}

static void map_parameters(struct sqlite_statement *st)
{
    int slots = sqlite3_bind_parameter_count(st->handle);
    assert(slots <= SQL_PARAMS_MAX);
    st->slots = (unsigned char)slots;
    st->columns = sqlite3_column_count(st->handle);
    for (int i = 0; i < slots; i++) {
        const char *name = sqlite3_bind_parameter_name(st->handle, i + 1);
        assert(name && name[0] == '$');
        long n = strtol(name + 1, NULL, 10);
        assert(n >= 1 && n <= SQL_PARAMS_MAX);
        st->arg_of[i] = (unsigned char)(n - 1);
    }
}

static int bind(sqlite3_stmt *stmt, int slot, const struct val *v)
{
    switch (v->kind) {
    case VAL_BOOL:
        return sqlite3_bind_int(stmt, slot, v->b);
    case VAL_INT:
    case VAL_TIME:
        return sqlite3_bind_int64(stmt, slot, v->i);
    case VAL_STR:
        return sqlite3_bind_text64(stmt, slot, v->s.p, v->s.n, SQLITE_STATIC, SQLITE_UTF8);
    case VAL_BLOB:
        return sqlite3_bind_blob64(stmt, slot, v->s.p, v->s.n, SQLITE_STATIC);
    case VAL_ABSENT:
    case VAL_NULL:
        return sqlite3_bind_null(stmt, slot);
    case VAL_OBJECT:
    case VAL_LIST:
        break;
    }
    assert(false && "a statement takes scalars");
    return SQLITE_MISUSE;
}

/* Returns the statement, prepared and with its arguments bound, or NULL on failure. */
static struct sqlite_statement *sqlite_ready(struct sqlite_db *db, const struct db_call *call)
{
    struct sqlite_statement *st = &db->statements[call->statement];
    if (!st->handle) {
        if (sqlite3_prepare_v3(db->handle, sql_table[call->statement].sqlite, -1, SQLITE_PREPARE_PERSISTENT,
                               &st->handle, NULL))
            return NULL;
        map_parameters(st);
    }
    assert(!st->open && "one cursor per statement at a time");
    for (int i = 0; i < st->slots; i++) {
        const struct val v = db_argument(call, st->arg_of[i]);
        if (bind(st->handle, i + 1, &v))
            return NULL;
    }
    return st;
}

enum err sqlite_exec(struct db *base, const struct db_call *call, int64_t *ret_changed)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    struct sqlite_statement *st = sqlite_ready(db, call);
    if (!st)
        return statement_failed(db, sql_table[call->statement].name);
    int rc = sqlite3_step(st->handle);
    assert(rc != SQLITE_ROW && "db_exec is for statements without rows");
    if (rc != SQLITE_DONE) {
        enum err e = statement_failed(db, sql_table[call->statement].name);
        sqlite3_reset(st->handle);
        return e;
    }
    if (ret_changed)
        *ret_changed = sqlite3_changes64(db->handle);
    sqlite3_reset(st->handle);
    return ERR_NONE;
}

enum err sqlite_query(struct db *base, const struct db_call *call, struct cursor *ret)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    struct sqlite_statement *st = sqlite_ready(db, call);
    if (!st)
        return statement_failed(db, sql_table[call->statement].name);
    st->open = true;
    *ret = (struct cursor){.db = base, .stmt = st};
    return ERR_NONE;
}

enum err sqlite_next(struct cursor *c, bool *ret_more)
{
    struct sqlite_statement *st = c->stmt;
    int rc = c->row < 0 ? SQLITE_DONE : sqlite3_step(st->handle);
    if (rc == SQLITE_ROW) {
        c->row++;
        *ret_more = true;
        return ERR_NONE;
    }
    c->row = -1; /* another step would start over */
    if (rc != SQLITE_DONE) {
        struct sqlite_db *db = (struct sqlite_db *)c->db;
        return statement_failed(db, sql_table[st - db->statements].name);
    }
    *ret_more = false;
    return ERR_NONE;
}

void sqlite_end(struct cursor *c)
{
    struct sqlite_statement *st = c->stmt;
    sqlite3_reset(st->handle);
    st->open = false;
}

/* A value of the current row. Connections are used by one thread at a time, so it needs no protection (sqlite3_value).
 * */
static sqlite3_value *current_value(const struct cursor *c, int i)
{
    const struct sqlite_statement *st = c->stmt;
    assert(st && c->row > 0 && "there is no current row");
    assert(i >= 0 && i < st->columns);
    return sqlite3_column_value(st->handle, i);
}

bool sqlite_col_null(const struct cursor *c, int i)
{
    return sqlite3_value_type(current_value(c, i)) == SQLITE_NULL;
}

int64_t sqlite_col_int(const struct cursor *c, int i)
{
    sqlite3_value *v = current_value(c, i);
    int type = sqlite3_value_type(v);
    assert(type == SQLITE_INTEGER || type == SQLITE_NULL);
    return type == SQLITE_INTEGER ? sqlite3_value_int64(v) : 0;
}

struct str sqlite_col_bytes(const struct cursor *c, int i, bool blob)
{
    sqlite3_value *v = current_value(c, i);
    int type = sqlite3_value_type(v);
    if (type == SQLITE_NULL)
        return STR_NONE;
    assert(type == (blob ? SQLITE_BLOB : SQLITE_TEXT));
    const void *p = blob ? sqlite3_value_blob(v) : sqlite3_value_text(v);
    return (struct str){p ? p : "", (size_t)sqlite3_value_bytes(v)};
}
