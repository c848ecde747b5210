/* Statements and columns, forwarded to the engine of the session; and functions for the engines. */
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

const char *store_failing(struct store *s)
{
    return atomic_load(&s->failing);
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
    db->fed.count = 0;
    db->fed.more = false;
}

/* ---- statements ---- */

void db_assume(struct db *db, const struct db_assumption *a)
{
    db->engine->assume(db, a);
}

enum err db_exec(struct db *db, enum sql statement, struct db_args args, int64_t *ret_changed)
{
    return db->failed ? db->failed : db->engine->exec(db, statement, args, ret_changed);
}

enum err db_query(struct db *db, enum sql statement, struct db_args args, struct cursor *ret)
{
    *ret = (struct cursor){.db = db};
    if (db->failed)
        return db->failed;
    enum err e = db->engine->query(db, statement, args, ret);
    if (e)
        return e;
    db->cursors++;
    return ERR_NONE;
}

enum err db_next(struct cursor *c, bool *ret_more)
{
    return c->db->failed ? c->db->failed : c->db->engine->next(c, ret_more);
}

enum err db_one(struct db *db, enum sql statement, struct db_args args, struct cursor *ret)
{
    bool more = false;
    enum err e = db_query(db, statement, args, ret);
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

bool col_null(const struct cursor *c, int i)
{
    return c->db->engine->col_null(c, i);
}

int64_t col_int(const struct cursor *c, int i)
{
    return c->db->engine->col_int(c, i);
}

struct str col_str(const struct cursor *c, int i)
{
    return c->db->engine->col_bytes(c, i, false);
}

struct str col_blob(const struct cursor *c, int i)
{
    return c->db->engine->col_bytes(c, i, true);
}
