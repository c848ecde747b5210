#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/engine.h"

#define COMPLAINTS_PER_S 5

void store_complain(const char *what, int code, const char *message)
{
    static _Atomic int64_t second;
    static _Atomic int said;
    int64_t now = clock_monotonic_us() / US_PER_S;
    if (atomic_exchange(&second, now) != now)
        atomic_store(&said, 0);
    if (atomic_fetch_add(&said, 1) < COMPLAINTS_PER_S)
        log_error("store failed what=%s code=%d reason=\"%.*s\"", what, code, (int)strcspn(message, "\n"), message);
}

enum err store_open(const struct config *c, bool migrate_wanted, struct store **ret, char **ret_why)
{
    const struct engine *engine = c->engine == ENGINE_POSTGRESQL ? &postgresql_engine : &sqlite_engine;
    struct store *s;
    enum err e = engine->open(c, &s, ret_why);
    if (e)
        return e;
    e = migrate(s, migrate_wanted, ret_why);
    if (e) {
        engine->close(s);
        return e;
    }
    *ret = s;
    return ERR_NONE;
}

enum err store_start(struct store *s)
{
    return s->engine->start(s);
}

void store_close(struct store *s)
{
    if (s)
        s->engine->close(s);
}

void store_listen(struct store *s, void (*listener)(void *context, unsigned topics), void *context)
{
    s->listener = listener;
    s->listener_context = context;
}

void store_tell(struct store *s, struct db *db)
{
    unsigned topics = db->topics;
    db->topics = 0;
    if (topics && s->listener)
        s->listener(s->listener_context, topics);
}

void store_submit(struct store *s, struct store_task *job)
{
    s->engine->submit(s, job);
}

/* A job whose submitter waits for it. */
struct waited {
    struct store_task job;
    enum err (*run)(void *arg, struct db *db);
    void *arg;
    enum err result;
    sem_t done;
};

static enum err waited_run(struct store_task *job, struct db *db)
{
    struct waited *w = (struct waited *)job;
    return w->run(w->arg, db);
}

static void waited_done(struct store_task *job, enum err result)
{
    struct waited *w = (struct waited *)job;
    w->result = result;
    sem_post(&w->done);
}

static enum err submit_and_wait(struct store *s, struct waited *w)
{
    w->job.run = waited_run;
    w->job.done = waited_done;
    sem_init(&w->done, 0, 0);
    store_submit(s, &w->job);
    while (sem_wait(&w->done) < 0)
        assert(errno == EINTR);
    sem_destroy(&w->done);
    return w->result;
}

enum err store_run(struct store *s, enum store_mode mode, enum err (*run)(void *arg, struct db *db), void *arg)
{
    if (mode == STORE_READ && s->engine->read)
        return s->engine->read(s, run, arg);
    return submit_and_wait(s, &(struct waited){.job = {.mode = mode}, .run = run, .arg = arg});
}

enum err store_run_urgent(struct store *s, enum err (*run)(void *arg, struct db *db), void *arg)
{
    return submit_and_wait(s, &(struct waited){.job = {.mode = STORE_WRITE, .urgent = true}, .run = run, .arg = arg});
}

struct db *store_session_new(struct store *s)
{
    return s->engine->session_new ? s->engine->session_new(s) : NULL;
}

void store_session_free(struct db *db)
{
    if (db)
        db->engine->session_free(db);
}

enum err store_session_begin(struct db *db)
{
    return db->engine->session_begin(db);
}

void store_session_idle(struct db *db)
{
    db->engine->session_idle(db);
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

enum err store_versions(struct store *s, int *ret_have, int *ret_want)
{
    return migrate_versions(s, ret_have, ret_want);
}

enum err store_check(struct store *s)
{
    return s->engine->check(s);
}

bool store_exclusive(const struct store *s)
{
    return s->engine->exclusive;
}
