#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <semaphore.h>

#include "base/clock.h"
#include "base/container_of.h"
#include "base/metric.h"
#include "store/engine.h"

enum err store_open(const struct config *c, enum store_schema schema, struct store **ret, char **ret_why)
{
    const struct engine *engine = c->engine == ENGINE_POSTGRESQL ? &postgresql_engine : &sqlite_engine;
    struct store *s;
    enum err e = engine->open(c, &s, ret_why);
    if (e)
        return e;
    e = migrate_store(s, schema, ret_why);
    if (e) {
        engine->close(s);
        return e;
    }
    *ret = s;
    return ERR_NONE;
}

static enum err look_as(const struct config *c, enum store_schema schema, struct store **ret, char **ret_why)
{
    const struct engine *engine = c->engine == ENGINE_POSTGRESQL ? &postgresql_engine : &sqlite_engine;
    struct store *s;
    enum err e = engine->look(c, &s, ret_why);
    if (e)
        return e;
    e = migrate_admits(s, schema, ret_why);
    if (e) {
        engine->close(s);
        return e;
    }
    *ret = s;
    return ERR_NONE;
}

enum err store_look(const struct config *c, struct store **ret, char **ret_why)
{
    return look_as(c, STORE_AS_IS, ret, ret_why);
}

enum err store_admits(const struct config *c, enum store_schema schema, char **ret_why)
{
    struct store *s;
    const enum err e = look_as(c, schema, &s, ret_why);
    if (!e)
        store_close(s);
    return e;
}

enum err store_look_run(struct store *s, enum err (*run)(void *arg, struct db *db), void *arg)
{
    return engine_look(s, run, arg);
}

enum err store_start(struct store *s)
{
    return s->engine->start(s);
}

void store_wind_down(struct store *s)
{
    if (s && s->engine->wind_down)
        s->engine->wind_down(s);
}

void store_close(struct store *s)
{
    if (s)
        s->engine->close(s);
}

void store_listen(struct store *s, void (*listener)(void *context, unsigned topics, const struct store_fed *fed),
                  void *context)
{
    s->listener = listener;
    s->listener_context = context;
}

void store_submit(struct store *s, struct store_task *task)
{
    task->submitted_us = clock_monotonic_us();
    metric_add(metrics.store_waiting, 1);
    s->engine->submit(s, task);
}

_Static_assert((int)METRIC_MODE_VALUES == STORE_WRITE + 1, "a series for each mode");

void store_task_done(struct store_task *task, enum err result)
{
    metric_add(metrics.store_waiting, -1);
    metric_observe(&metrics.store_seconds[task->mode], clock_monotonic_us() - task->submitted_us);
    task->done(task, result);
}

int64_t store_oldest_us(struct store *s)
{
    return s->engine->oldest_us(s);
}

/* A task whose submitter waits for it. */
struct waited {
    struct store_task task;
    enum err (*run)(void *arg, struct db *db);
    void *arg;
    enum err result;
    sem_t done;
};

static enum err waited_run(struct store_task *task, struct db *db)
{
    struct waited *w = container_of(task, struct waited, task);
    return w->run(w->arg, db);
}

static void waited_done(struct store_task *task, enum err result)
{
    struct waited *w = container_of(task, struct waited, task);
    w->result = result;
    sem_post(&w->done);
}

static enum err submit_and_wait(struct store *s, struct waited *w)
{
    w->task.run = waited_run;
    w->task.done = waited_done;
    sem_init(&w->done, 0, 0);
    store_submit(s, &w->task);
    while (sem_wait(&w->done) < 0)
        assert(errno == EINTR);
    sem_destroy(&w->done);
    return w->result;
}

enum err store_run(struct store *s, enum store_mode mode, enum err (*run)(void *arg, struct db *db), void *arg)
{
    if (mode == STORE_READ && s->engine->read)
        return s->engine->read(s, run, arg);
    return submit_and_wait(s, &(struct waited){.task = {.mode = mode}, .run = run, .arg = arg});
}

enum err store_run_urgent(struct store *s, enum err (*run)(void *arg, struct db *db), void *arg)
{
    return submit_and_wait(s, &(struct waited){.task = {.mode = STORE_WRITE, .urgent = true}, .run = run, .arg = arg});
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

struct db *store_own_new(struct store *s)
{
    return s->engine->own_new ? s->engine->own_new(s) : NULL;
}

void store_own_free(struct db *db)
{
    if (db)
        db->engine->own_free(db);
}

const char *store_own_failure(const struct db *db)
{
    return db->engine->own_failure(db);
}

enum err store_own_run(struct db *db, enum err (*run)(void *arg, struct db *db), void *arg)
{
    return db->engine->own_run(db, run, arg);
}

enum err store_own_hear(struct db *db, int wake_fd, int wait_ms, void (*heard)(void *context, struct str text),
                        void *context, bool *ret_anew)
{
    return db->engine->own_hear(db, wake_fd, wait_ms, heard, context, ret_anew);
}

enum err store_versions(struct store *s, int *ret_have, int *ret_want)
{
    int have;
    enum err e = store_run(s, STORE_READ, migrate_read_version, &have);
    if (e)
        return e;
    *ret_have = have;
    *ret_want = migrate_newest();
    return ERR_NONE;
}

bool store_exclusive(const struct store *s)
{
    return s->engine->exclusive;
}
