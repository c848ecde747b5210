/* Named statements on a PostgreSQL connection, prepared at first use and kept. Arguments and columns are binary. */
#include <assert.h>
#include <endian.h>
#include <stdlib.h>

#include "base/clock.h"
#include "store/postgresql.h"

/* The types of pg_type.dat that statements may use. */
enum {
    TYPE_BOOL = 16,
    TYPE_BYTEA = 17,
    TYPE_INT8 = 20,
    TYPE_INT2 = 21,
    TYPE_INT4 = 23,
    TYPE_TEXT = 25,
    TYPE_VARCHAR = 1043
};

/* ---- arguments ---- */

struct arguments {
    int n;
    const char *values[SQL_PARAMS_MAX];
    int lengths[SQL_PARAMS_MAX];
    int formats[SQL_PARAMS_MAX];
    int64_t numbers[SQL_PARAMS_MAX]; /* in network order */
};

static void put_bytes(struct arguments *a, int i, const void *p, size_t n)
{
    assert(n <= INT32_MAX);
    a->values[i] = p;
    a->lengths[i] = (int)n;
}

/* Returns false if the number does not fit its parameter. */
static bool put_integer(struct arguments *a, int i, Oid type, int64_t v)
{
    void *at = &a->numbers[i];
    switch (type) {
    case TYPE_INT8:
        put_bytes(a, i, memcpy(at, &(uint64_t){htobe64((uint64_t)v)}, 8), 8);
        return true;
    case TYPE_INT4:
        put_bytes(a, i, memcpy(at, &(uint32_t){htobe32((uint32_t)v)}, 4), 4);
        return v >= INT32_MIN && v <= INT32_MAX;
    case TYPE_INT2:
        put_bytes(a, i, memcpy(at, &(uint16_t){htobe16((uint16_t)v)}, 2), 2);
        return v >= INT16_MIN && v <= INT16_MAX;
    case TYPE_BOOL:
        put_bytes(a, i, memcpy(at, &(char){v != 0}, 1), 1);
        return true;
    default:
        return false;
    }
}

/* Returns false if the value does not fit its parameter. */
static bool put_argument(struct arguments *a, int i, Oid type, const struct val *v)
{
    a->formats[i] = 1;
    a->values[i] = NULL;
    switch (v->kind) {
    case VAL_BOOL:
        return put_integer(a, i, type, v->b);
    case VAL_INT:
    case VAL_TIME:
        return put_integer(a, i, type, v->i);
    case VAL_STR:
        put_bytes(a, i, v->s.p, v->s.n);
        return type == TYPE_TEXT || type == TYPE_VARCHAR;
    case VAL_BLOB:
        put_bytes(a, i, v->s.p, v->s.n);
        return type == TYPE_BYTEA;
    case VAL_ABSENT:
    case VAL_NULL:
        return true;
    case VAL_OBJECT:
    case VAL_LIST:
        break;
    }
    return false;
}

static bool known_type(Oid type)
{
    return type == TYPE_INT8 || type == TYPE_TEXT || type == TYPE_BYTEA || type == TYPE_INT4 || type == TYPE_BOOL ||
           type == TYPE_INT2 || type == TYPE_VARCHAR;
}

/* ---- results ---- */

/* Stores the types of the parameters. Returns false for a type that no column or val has. */
static bool note_types(struct postgresql_statement *st, const PGresult *r)
{
    int args = PQnparams(r);
    assert(args <= SQL_PARAMS_MAX);
    for (int i = 0; i < args; i++) {
        st->types[i] = PQparamtype(r, i);
        if (!known_type(st->types[i]))
            return false;
    }
    for (int i = 0; i < PQnfields(r); i++)
        if (!known_type(PQftype(r, i)))
            return false;
    return true;
}

static bool succeeded(const PGresult *r)
{
    return PQresultStatus(r) == PGRES_TUPLES_OK || PQresultStatus(r) == PGRES_COMMAND_OK;
}

/* ---- sending and collecting ---- */

/* Notes that a command was sent; `what` names it. */
static enum err sent(struct postgresql_db *db, const char *what, int good)
{
    assert(db->sent < POSTGRESQL_SENT_MAX);
    if (!good)
        return postgresql_failed(db, what, NULL);
    db->sent_names[db->sent++] = what;
    return ERR_NONE;
}

enum err postgresql_send(struct postgresql_db *db, enum postgresql_control control, const char *what)
{
    return sent(db, what, PQenterPipelineMode(db->conn) && postgresql_send_control(db, control));
}

bool postgresql_assumption_holds(struct postgresql_db *db, PGresult *r)
{
    const struct db_assumption *a = db->assumption;
    struct cursor c = {.db = &db->base, .stmt = r, .row = 1, .statement = a->call->statement};
    db->assumption = NULL;
    return a->holds(a->context, PQntuples(r) > 0 ? &c : NULL);
}

static void check_result(struct postgresql_db *db, int at, PGresult *r)
{
    if (db->base.failed)
        return;
    if (!succeeded(r))
        db->base.failed = postgresql_failed(db, db->sent_names[at], r);
    else if (db->assumption && db->assumption_at == at && !postgresql_assumption_holds(db, r))
        db->base.failed = ERR_RETRY;
}

enum err postgresql_collect(struct postgresql_db *db, PGresult **ret)
{
    PGresult *r = NULL;
    const bool synchronised = db->sent && PQpipelineSync(db->conn);
    for (int i = 0; i < db->sent; i++) {
        PQclear(r);
        r = synchronised ? postgresql_result(db) : NULL;
        if (r)
            PQclear(postgresql_result(db)); /* the end of this command */
        check_result(db, i, r);
    }
    db->sent = 0;
    if (synchronised)
        PQclear(postgresql_result(db)); /* the synchronisation point */
    if (!db->base.failed && ret) {
        *ret = r;
        return ERR_NONE;
    }
    PQclear(r);
    return db->base.failed;
}

/* Collects what was sent. After it, commands can be sent outside of a pipeline. */
static void leave_pipeline(struct postgresql_db *db)
{
    if (db->sent)
        (void)postgresql_collect(db, NULL);
    if (!PQexitPipelineMode(db->conn))
        db->broken = true;
}

PGresult *postgresql_control(struct postgresql_db *db, enum postgresql_control control)
{
    leave_pipeline(db);
    return postgresql_only_result(db, postgresql_send_control(db, control));
}

/* ---- arguments of a statement ---- */

static enum err prepare_statement(struct postgresql_db *db, int id)
{
    struct postgresql_statement *st = &db->statements[id];
    const char *name = sql_table[id].name;
    PGresult *r = NULL;
    enum err e = postgresql_collect(db, NULL);
    if (!e)
        e = sent(db, name,
                 PQenterPipelineMode(db->conn) && PQsendPrepare(db->conn, name, sql_table[id].postgresql, 0, NULL));
    if (!e)
        e = sent(db, name, PQsendDescribePrepared(db->conn, name));
    if (!e)
        e = postgresql_collect(db, &r);
    if (!e && !note_types(st, r)) {
        store_log_error(name, 0, "a parameter or column needs a cast to BIGINT, TEXT or BYTEA");
        db->base.failed = e = ERR_INTERNAL_ERROR;
    }
    PQclear(r);
    st->prepared = !e;
    return e;
}

/* Prepares the statement and its arguments in the binary form of the server. */
static enum err postgresql_ready(struct postgresql_db *db, const struct db_call *call, struct arguments *ret)
{
    struct postgresql_statement *st = &db->statements[call->statement];
    const struct sql_statement *s = &sql_table[call->statement];
    if (!st->prepared) {
        enum err e = prepare_statement(db, call->statement);
        if (e)
            return e;
    }
    for (int i = 0; i < s->param_count; i++) {
        const struct val v = db_argument(call, i);
        if (put_argument(ret, i, st->types[i], &v))
            continue;
        store_log_error(s->name, i + 1, "an argument does not fit its parameter's type");
        return db->base.failed = ERR_INTERNAL_ERROR;
    }
    ret->n = s->param_count;
    return ERR_NONE;
}

static enum err send_statement(struct postgresql_db *db, int id, const struct arguments *a)
{
    const char *name = sql_table[id].name;
    return sent(db, name,
                PQenterPipelineMode(db->conn) &&
                    PQsendQueryPrepared(db->conn, name, a->n, a->values, a->lengths, a->formats, 1));
}

enum err postgresql_send_statement(struct postgresql_db *db, const struct db_call *call)
{
    struct arguments a;
    enum err e = postgresql_ready(db, call, &a);
    return e ? e : send_statement(db, call->statement, &a);
}

static enum err send_assumption(struct postgresql_db *db, const struct arguments *a)
{
    db->assumption_at = db->sent;
    return send_statement(db, db->assumption->call->statement, a);
}

/* ---- the beginning of a transaction ---- */

/* Sends BEGIN, and what follows it in a write transaction. */
static enum err send_begin(struct postgresql_db *db, const struct arguments *mark)
{
    const bool write = db->mode == STORE_WRITE;
    const enum postgresql_control begin = !write ? PG_BEGIN_READ : db->migrates ? PG_BEGIN_PLAIN : PG_BEGIN_WRITE;
    enum err e = postgresql_send(db, begin, "begin");
    db->begun = !e;
    if (!e && db->patient)
        e = sent(db, "lock time-out", postgresql_send_patience(db));
    return e || !mark ? e : send_statement(db, SQL_COMMIT_MARK_PUT, mark);
}

/* Sends what must come before the first statement of a transaction. A statement that was never followed by another one
 * in a read needs no BEGIN: if one follows this time, all runs again with BEGIN. */
static enum err begin_with(struct postgresql_db *db, int id, bool query)
{
    const struct db_assumption *assumed = db->assumption;
    struct arguments mark, assumption;
    const bool marks = db->mode == STORE_WRITE && db->marks;
    const bool alone = query && db->mode == STORE_READ && !db->patient && !db->statements[id].followed;
    db->alone = alone ? &db->statements[id] : NULL;
    enum err e = marks ? postgresql_ready(db, POSTGRESQL_MARK(commit_mark_put, db), &mark) : ERR_NONE;
    if (!e && assumed)
        e = postgresql_ready(db, assumed->call, &assumption);
    if (!e && !alone)
        e = send_begin(db, marks ? &mark : NULL);
    return e || !assumed ? e : send_assumption(db, &assumption);
}

void postgresql_assume(struct db *base, const struct db_assumption *a)
{
    struct postgresql_db *db = (struct postgresql_db *)base;
    assert(!db->begun && !db->alone && !db->assumption);
    db->assumption = a;
    db->assumption_at = -1;
}

enum err postgresql_check_assumption(struct postgresql_db *db)
{
    struct arguments a;
    enum err e = db->base.failed;
    if (e || !db->assumption)
        return e;
    e = postgresql_ready(db, db->assumption->call, &a);
    if (!e)
        e = send_assumption(db, &a);
    return e ? e : postgresql_collect(db, NULL);
}

/* ---- running ---- */

/* Sends the statement. If its result is not needed now, it stays with the results that are collected later. */
static enum err run_statement(struct postgresql_db *db, const struct db_call *call, bool query, PGresult **ret)
{
    struct arguments a;
    if (db->together)
        return db->together(db, call, query ? ret : NULL);
    if (db->alone) {
        db->alone->followed = true;
        return db->base.failed = ERR_RETRY;
    }
    enum err e = postgresql_ready(db, call, &a);
    if (!e && !db->begun)
        e = begin_with(db, call->statement, query);
    if (!e)
        e = send_statement(db, call->statement, &a);
    if (e)
        return e;
    const bool later = !ret && db->defers && !db->assumption && db->sent < POSTGRESQL_SENT_MAX / 2;
    return later ? ERR_NONE : postgresql_collect(db, ret);
}

enum err postgresql_exec(struct db *base, const struct db_call *call, int64_t *ret_changed)
{
    PGresult *r = NULL;
    enum err e = run_statement((struct postgresql_db *)base, call, false, ret_changed ? &r : NULL);
    if (e || !ret_changed)
        return e;
    assert(PQresultStatus(r) == PGRES_COMMAND_OK && "db_exec is for statements without rows");
    *ret_changed = strtoll(PQcmdTuples(r), NULL, 10);
    PQclear(r);
    return ERR_NONE;
}

enum err postgresql_query(struct db *base, const struct db_call *call, struct cursor *ret)
{
    PGresult *r = NULL;
    enum err e = run_statement((struct postgresql_db *)base, call, true, &r);
    if (!e)
        *ret = (struct cursor){.db = base, .stmt = r};
    return e;
}

enum err postgresql_next(struct cursor *c, bool *ret_more)
{
    bool more = c->row >= 0 && c->row < PQntuples(c->stmt);
    c->row = more ? c->row + 1 : -1;
    *ret_more = more;
    return ERR_NONE;
}

void postgresql_end(struct cursor *c)
{
    PQclear(c->stmt);
}

enum err postgresql_script(struct db *base, const char *sql)
{
    struct postgresql_db *db = (struct postgresql_db *)base;
    assert(db->begun);
    leave_pipeline(db);
    PGresult *r = postgresql_only_result(db, PQsendQuery(db->conn, sql));
    enum err e = succeeded(r) ? ERR_NONE : postgresql_failed(db, "script", r);
    PQclear(r);
    return e;
}

/* ---- columns ---- */

/* The index of the current row, from 0. */
static int row(const struct cursor *c, int i)
{
    assert(c->stmt && c->row > 0 && "there is no current row");
    assert(i >= 0 && i < PQnfields(c->stmt));
    return c->row - 1;
}

bool postgresql_col_null(const struct cursor *c, int i)
{
    return PQgetisnull(c->stmt, row(c, i), i);
}

int64_t postgresql_col_int(const struct cursor *c, int i)
{
    if (postgresql_col_null(c, i))
        return 0;
    const char *p = PQgetvalue(c->stmt, row(c, i), i);
    uint64_t v8;
    uint32_t v4;
    uint16_t v2;
    switch (PQftype(c->stmt, i)) {
    case TYPE_INT8:
        memcpy(&v8, p, sizeof v8);
        return (int64_t)be64toh(v8);
    case TYPE_INT4:
        memcpy(&v4, p, sizeof v4);
        return (int32_t)be32toh(v4);
    case TYPE_INT2:
        memcpy(&v2, p, sizeof v2);
        return (int16_t)be16toh(v2);
    case TYPE_BOOL:
        return *p != 0;
    default:
        assert(false && "the column is not an integer");
        return 0;
    }
}

struct str postgresql_col_bytes(const struct cursor *c, int i, bool blob)
{
    if (postgresql_col_null(c, i))
        return STR_NONE;
    Oid type = PQftype(c->stmt, i);
    assert(blob ? type == TYPE_BYTEA : type == TYPE_TEXT || type == TYPE_VARCHAR);
    (void)type;
    return (struct str){PQgetvalue(c->stmt, row(c, i), i), (size_t)PQgetlength(c->stmt, row(c, i), i)};
}
