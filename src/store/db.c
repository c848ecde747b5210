/* Statements and columns, forwarded to the engine of the session; and functions for the engines. */
#include <assert.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/metric.h"
#include "store/engine.h"

/* ---- for engines ---- */

#define LOGGED_PER_S 5
#define REMIND_US    (60 * US_PER_S)
#define OTHER_US     (3600 * US_PER_S) /* store_warning() lasts */
#define FAILS_US     (3 * US_PER_S)    /* one commit may find room where the next one does not */
#define HANGS_US     (4 * US_PER_S)    /* no write of SQLite takes so long */

void store_log_error(const char *what, int code, const char *message)
{
    static _Atomic int64_t second;
    static _Atomic int said;
    int64_t now = clock_monotonic_us() / US_PER_S;
    metric_add(metrics.store_errors, 1);
    if (atomic_exchange(&second, now) != now)
        atomic_store(&said, 0);
    if (atomic_fetch_add(&said, 1) < LOGGED_PER_S)
        log_error("store failed what=%s code=%d reason=\"%.*s\"", what, code, (int)strcspn(message, "\n"), message);
}

void store_note_failure(struct store *s, const char *reason, const char *what, const char *message)
{
    const int64_t now_us = clock_monotonic_us(), said_us = atomic_load(&s->said_us);
    metric_add(metrics.store_errors, 1);
    atomic_store(&s->failed_us, now_us);
    const char *before = atomic_exchange(&s->failing, reason);
    if (before == reason && now_us < said_us + REMIND_US)
        return;
    atomic_store(&s->said_us, now_us);
    log_error("store cannot be written reason=\"%s\" what=%s message=\"%.*s\"", reason, what,
              (int)strcspn(message, "\n"), message);
}

void store_note_other(struct store *s, const char *path)
{
    const int64_t now_us = clock_monotonic_us(), said_us = atomic_load(&s->other_us);
    metric_add(metrics.store_others, 1);
    if (said_us && now_us < said_us + REMIND_US)
        return;
    atomic_store(&s->other_us, now_us);
    log_error("store_written_by_others path=%s hint=\"stop the program that writes it: see fuser -v\"", path);
}

void store_log_library(const struct store *s)
{
    if (s->engine->log_library)
        s->engine->log_library();
}

const char *store_warning(struct store *s)
{
    const int64_t other_us = atomic_load(&s->other_us);
    return other_us && clock_monotonic_us() < other_us + OTHER_US ? "another program writes the database" : NULL;
}

void store_note_commit(struct store *s)
{
    if (atomic_load_explicit(&s->failing, memory_order_relaxed) &&
        clock_monotonic_us() > atomic_load(&s->failed_us) + FAILS_US && atomic_exchange(&s->failing, NULL))
        log_info("store can be written again");
}

static bool hangs(struct store *s)
{
    const int64_t oldest_us = s->engine->exclusive ? s->engine->oldest_us(s) : 0;
    return oldest_us && clock_monotonic_us() > oldest_us + HANGS_US;
}

const char *store_failing(struct store *s)
{
    const char *failing = atomic_load(&s->failing);
    return failing || !hangs(s) ? failing : "the disk does not respond";
}

enum err store_task_run(void *task, struct db *db)
{
    struct store_task *t = task;
    return t->run(t, db);
}

void store_notify_listener(struct store *s, struct db *db)
{
    unsigned topics = db->topics;
    db->topics = 0;
    if (topics && s->listener)
        s->listener(s->listener_context, topics, &db->fed);
    db->fed.count = db->fed.door_count = 0;
    db->fed.more = db->fed.all_doors = false;
}

/* ---- statements ---- */

static struct val id_argument(const struct id *id)
{
    return id ? v_str(id_str(id)) : v_null();
}

static struct val bytes_argument(struct str s)
{
    return s.p ? v_blob(s.p, s.n) : v_null();
}

static struct val id_bytes_argument(const struct id_bytes *id)
{
    return id ? v_blob(id->p, sizeof id->p) : v_null();
}

/* A value that may be null is of the kind, and was given. */
static struct val nullable_argument(const struct val *v, enum val_kind kind)
{
    assert(v->kind == VAL_NULL || v->kind == kind);
    return *v;
}

struct val db_argument(const struct db_call *call, int i)
{
    const struct sql_field *f = &sql_table[call->form].params[i];
    const void *at = (const char *)call + f->at;
    switch (f->kind) {
    case SQL_KIND_TEXT:
    case SQL_KIND_JSON:
        return v_str(*(const struct str *)at);
    case SQL_KIND_BLOB:
        return bytes_argument(*(const struct str *)at);
    case SQL_KIND_ID:
        return id_argument(*(const struct id *const *)at);
    case SQL_KIND_IDBYTES:
        return id_bytes_argument(*(const struct id_bytes *const *)at);
    case SQL_KIND_INT:
    case SQL_KIND_TIME:
        return v_int(*(const int64_t *)at);
    case SQL_KIND_BOOL:
        return v_bool(*(const bool *)at);
    case SQL_KIND_INT_OR_NULL:
        return nullable_argument(at, VAL_INT);
    case SQL_KIND_TIME_OR_NULL:
        return nullable_argument(at, VAL_TIME);
    case SQL_KIND_BOOL_OR_NULL:
        return nullable_argument(at, VAL_BOOL);
    case SQL_KIND_ANY:
        return *(const struct val *)at;
    case SQL_KIND_NOTHING:
        break;
    }
    assert(false && "a parameter has a kind");
    return v_null();
}

static void check_form(const struct db_call *call)
{
    assert(sql_table[call->statement].params == sql_table[call->form].params &&
           "a statement takes the arguments of one that has the same parameters");
}

void db_assume(struct db *db, const struct db_assumption *a)
{
    db->engine->assume(db, a);
}

enum err db_exec(struct db *db, const struct db_call *call, int64_t *ret_changed)
{
    check_form(call);
    return db->failed ? db->failed : db->engine->exec(db, call, ret_changed);
}

enum err db_query(struct db *db, const struct db_call *call, struct cursor *ret)
{
    check_form(call);
    *ret = (struct cursor){.db = db};
    if (db->failed)
        return db->failed;
    enum err e = db->engine->query(db, call, ret);
    if (e)
        return e;
    ret->statement = call->statement;
    db->cursors++;
    return ERR_NONE;
}

enum err db_next(struct cursor *c, bool *ret_more)
{
    return c->db->failed ? c->db->failed : c->db->engine->next(c, ret_more);
}

enum err db_one(struct db *db, const struct db_call *call, struct cursor *ret)
{
    bool more = false;
    enum err e = db_query(db, call, ret);
    if (e)
        return e;
    e = db_next(ret, &more);
    if (!e && !more)
        e = ERR_NOT_FOUND;
    if (e)
        db_end(ret);
    return e;
}

void db_end(struct cursor *c)
{
    if (!c->stmt)
        return;
    c->db->engine->end(c);
    c->db->cursors--;
    c->stmt = NULL;
}

void db_notify(struct db *db, unsigned topics)
{
    db->topics |= topics;
}

void db_fed(struct db *db, const struct id *building)
{
    struct store_fed *f = &db->fed;
    db->topics |= TOPIC_FEED;
    if (f->count && id_equal(&f->buildings[f->count - 1], building))
        return;
    if (f->count == STORE_FED_MAX)
        f->more = true;
    else
        f->buildings[f->count++] = *building;
}

void db_doors(struct db *db, const struct id *account)
{
    struct store_fed *f = &db->fed;
    db->topics |= TOPIC_DOORS;
    if (!account || f->door_count == STORE_FED_MAX)
        f->all_doors = true;
    else
        f->doors[f->door_count++] = *account;
}

/* ---- rows ---- */

static struct str row_bytes(const struct cursor *c, int i, bool blob, struct arena *a)
{
    const struct str s = c->db->engine->col_bytes(c, i, blob);
    return a ? arena_str(a, s) : s;
}

static struct id row_id(const struct cursor *c, int i, bool blob)
{
    const struct str s = c->db->engine->col_bytes(c, i, blob);
    struct id id = {{0}};
    if (blob && s.n == ID_BYTES_LEN)
        return id_from_bytes((const unsigned char *)s.p);
    if (!blob && s.n == ID_LEN)
        memcpy(id.text, s.p, ID_LEN);
    return id;
}

static struct val row_value(const struct cursor *c, int i, enum sql_kind kind, struct arena *a)
{
    if (c->db->engine->col_null(c, i))
        return v_null();
    switch (kind) {
    case SQL_KIND_TEXT:
    case SQL_KIND_JSON:
    case SQL_KIND_ID:
        return v_str(row_bytes(c, i, false, a));
    case SQL_KIND_BLOB:
    case SQL_KIND_IDBYTES: {
        const struct str s = row_bytes(c, i, true, a);
        return v_blob(s.p, s.n);
    }
    case SQL_KIND_INT:
    case SQL_KIND_INT_OR_NULL:
        return v_int(c->db->engine->col_int(c, i));
    case SQL_KIND_TIME:
    case SQL_KIND_TIME_OR_NULL:
        return v_time(c->db->engine->col_int(c, i));
    case SQL_KIND_BOOL:
    case SQL_KIND_BOOL_OR_NULL:
        return v_bool(c->db->engine->col_int(c, i) != 0);
    case SQL_KIND_NOTHING:
    case SQL_KIND_ANY:
        break;
    }
    return v_null();
}

static void row_member(const struct cursor *c, int i, enum sql_kind kind, struct arena *a, void *at)
{
    switch (kind) {
    case SQL_KIND_NOTHING:
    case SQL_KIND_ANY:
        return;
    case SQL_KIND_TEXT:
    case SQL_KIND_JSON:
    case SQL_KIND_BLOB:
        *(struct str *)at = row_bytes(c, i, kind == SQL_KIND_BLOB, a);
        return;
    case SQL_KIND_ID:
    case SQL_KIND_IDBYTES:
        *(struct id *)at = row_id(c, i, kind == SQL_KIND_IDBYTES);
        return;
    case SQL_KIND_INT:
    case SQL_KIND_TIME:
        *(int64_t *)at = c->db->engine->col_int(c, i);
        return;
    case SQL_KIND_BOOL:
        *(bool *)at = c->db->engine->col_int(c, i) != 0;
        return;
    case SQL_KIND_INT_OR_NULL:
    case SQL_KIND_TIME_OR_NULL:
    case SQL_KIND_BOOL_OR_NULL:
        *(struct val *)at = row_value(c, i, kind, NULL);
        return;
    }
}

void db_row(const struct cursor *c, const struct sql_field *columns, struct arena *a, void *ret)
{
    const struct sql_statement *s = &sql_table[c->statement];
    assert(s->columns == columns && "a row is read as one of its statement");
    for (int i = 0; i < s->column_count; i++)
        row_member(c, i, columns[i].kind, a, (char *)ret + columns[i].at);
}

struct val db_column(const struct cursor *c, int i, struct arena *a)
{
    const struct sql_statement *s = &sql_table[c->statement];
    assert(s->columns && i < s->column_count);
    return row_value(c, i, s->columns[i].kind, a);
}
