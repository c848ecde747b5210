/* The PostgreSQL engine: a pool of connections, each with a thread. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/postgresql.h"

#define OVERTAKEN_MOST 16             /* urgent tasks that may run before another task */
#define OWN_ANSWER_US  (5 * US_PER_S) /* a caller's own connection */
#define RESERVED_FROM  4              /* with at least this many workers, one is kept for urgent tasks */
#define ANSWER_US      (12 * US_PER_S)
#define MIGRATION_US   (3600 * US_PER_S)

/* ---- the queue and its workers ---- */

static void task_push(struct postgresql_tasks *l, struct store_task *task)
{
    task->next = NULL;
    *l->newest = task;
    l->newest = &task->next;
}

static struct store_task *task_pop(struct postgresql_tasks *l)
{
    struct store_task *task = l->oldest;
    if (task)
        l->oldest = task->next;
    if (!l->oldest)
        l->newest = &l->oldest;
    return task;
}

static void postgresql_submit(struct store *base, struct store_task *task)
{
    struct postgresql_store *s = (struct postgresql_store *)base;
    pthread_mutex_lock(&s->mutex);
    task_push(task->urgent ? &s->urgent : &s->others, task);
    pthread_mutex_unlock(&s->mutex);
    pthread_cond_signal(&s->wake);
    if (task->urgent)
        pthread_cond_signal(&s->wake_reserved);
}

/* The oldest urgent task, or else the oldest other task. Now and then an other task comes first, so that they are not
 * starved. */
static struct store_task *next_task(struct postgresql_store *s, bool reserved)
{
    struct store_task *task = reserved || s->overtaken < OVERTAKEN_MOST ? task_pop(&s->urgent) : NULL;
    if (reserved)
        return task;
    s->overtaken = task ? s->overtaken + 1 : 0;
    if (!task)
        task = task_pop(&s->others);
    return task ? task : task_pop(&s->urgent);
}

/* Waits for a task; returns NULL when the store closes and no task is left. */
static struct store_task *take_task(struct postgresql_store *s, bool reserved)
{
    struct store_task *task;
    pthread_mutex_lock(&s->mutex);
    while (!(task = next_task(s, reserved)) && !s->stop)
        pthread_cond_wait(reserved ? &s->wake_reserved : &s->wake, &s->mutex);
    pthread_mutex_unlock(&s->mutex);
    return task;
}

static void *work(void *arg)
{
    struct postgresql_worker *w = arg;
    struct store_task *task;
    while ((task = take_task(w->db.store, w->reserved))) {
        enum store_mode mode = task->mode;
        enum err e = postgresql_run(&w->db, mode, store_task_run, task);
        store_notify_listener(&w->db.store->base, &w->db.base);
        task->done(task, e);
        postgresql_marks_forget(&w->db);
    }
    return NULL;
}

/* ---- the engine ---- */

static void stop_workers(struct postgresql_store *s)
{
    pthread_mutex_lock(&s->mutex);
    s->stop = true;
    pthread_mutex_unlock(&s->mutex);
    pthread_cond_broadcast(&s->wake);
    pthread_cond_broadcast(&s->wake_reserved);
    for (size_t i = 0; i < s->worker_count; i++)
        if (s->workers[i].running)
            pthread_join(s->workers[i].thread, NULL);
}

static void postgresql_close(struct store *base)
{
    struct postgresql_store *s = (struct postgresql_store *)base;
    stop_workers(s);
    for (size_t i = 0; i < s->worker_count; i++)
        postgresql_disconnect(&s->workers[i].db);
    pthread_mutex_destroy(&s->mutex);
    pthread_cond_destroy(&s->wake);
    pthread_cond_destroy(&s->wake_reserved);
    pthread_rwlock_destroy(&s->writes);
    free(s->dsn);
    free(s);
}

static enum err read_dsn(struct postgresql_store *s, const char *value, char **ret_why)
{
    struct arena arena;
    struct str dsn;
    arena_init(&arena, NULL, 0);
    enum err e = config_secret_of("store.dsn", value ? value : "", &arena, &dsn, ret_why);
    if (!e)
        s->dsn = mem_strdup(dsn.p);
    arena_done(&arena);
    return e;
}

static enum err connect_first(struct postgresql_store *s, char **ret_why)
{
    struct postgresql_db *db = &s->workers[0].db;
    if (!postgresql_connect(db))
        return err_why(ret_why, ERR_USAGE, "PostgreSQL: %s", PQerrorMessage(db->conn));
    const char *encoding = PQparameterStatus(db->conn, "server_encoding");
    if (!encoding || strcmp(encoding, "UTF8") != 0)
        return err_why(ret_why, ERR_USAGE, "PostgreSQL: the database's encoding is %s, it must be UTF8",
                       encoding ? encoding : "unknown");
    return ERR_NONE;
}

/* Initialises a lock that prefers writers: a transaction that asks to run alone is next. */
static void init_turn(pthread_rwlock_t *turn)
{
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(turn, &attributes);
    pthread_rwlockattr_destroy(&attributes);
}

static enum err postgresql_open(const struct config *c, struct store **ret, char **ret_why)
{
    size_t workers = c->store_workers > 0 ? (size_t)c->store_workers : 1;
    struct postgresql_store *s = mem_new_with(struct postgresql_store, workers * sizeof(struct postgresql_worker));
    s->base.engine = &postgresql_engine;
    s->worker_count = workers;
    s->urgent.newest = &s->urgent.oldest;
    s->others.newest = &s->others.oldest;
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->wake, NULL);
    pthread_cond_init(&s->wake_reserved, NULL);
    init_turn(&s->writes);
    for (size_t i = 0; i < workers; i++)
        s->workers[i].db = (struct postgresql_db){
            .base.engine = &postgresql_engine, .store = s, .broken = true, .answer_us = MIGRATION_US};
    s->workers[workers - 1].reserved = workers >= RESERVED_FROM;
    enum err e = read_dsn(s, c->store_dsn, ret_why);
    if (!e)
        e = connect_first(s, ret_why);
    if (e) {
        postgresql_close(&s->base);
        return e;
    }
    *ret = &s->base;
    return ERR_NONE;
}

static enum err postgresql_start(struct store *base)
{
    struct postgresql_store *s = (struct postgresql_store *)base;
    postgresql_marks_expire(&s->workers[0].db);
    for (size_t i = 0; i < s->worker_count; i++) {
        struct postgresql_worker *w = &s->workers[i];
        postgresql_marks_start(&w->db);
        w->db.answer_us = ANSWER_US;
        if (pthread_create(&w->thread, NULL, work, w))
            return ERR_IO;
        w->running = true;
    }
    return ERR_NONE;
}

static enum err transact(struct store *base, enum store_mode mode, enum err (*run)(void *, struct db *), void *arg)
{
    struct postgresql_store *s = (struct postgresql_store *)base;
    return postgresql_run(&s->workers[0].db, mode, run, arg);
}

static enum err migrate(struct store *base, enum err (*run)(void *, struct db *), void *arg)
{
    struct postgresql_db *db = &((struct postgresql_store *)base)->workers[0].db;
    db->migrates = true;
    enum err e = postgresql_run(db, STORE_WRITE, run, arg);
    db->migrates = false;
    return e;
}

/* ---- a caller's own connection ---- */

static struct db *own_new(struct store *base)
{
    struct postgresql_db *db = mem_new(struct postgresql_db);
    *db = (struct postgresql_db){
        .base.engine = &postgresql_engine, .store = (struct postgresql_store *)base, .broken = true};
    return &db->base;
}

static void own_free(struct db *base)
{
    postgresql_disconnect((struct postgresql_db *)base);
    free(base);
}

/* No statement begins a transaction while one counts as begun. */
static enum err own_run(struct db *base, enum err (*run)(void *, struct db *), void *arg)
{
    struct postgresql_db *db = (struct postgresql_db *)base;
    if ((db->broken || PQstatus(db->conn) != CONNECTION_OK) && !postgresql_connect(db))
        return ERR_RETRY;
    base->failed = ERR_NONE;
    db->mode = STORE_WRITE;
    db->until_us = clock_monotonic_us() + OWN_ANSWER_US;
    db->begun = true;
    enum err e = db_result(base, run(arg, base));
    db->begun = false;
    return e;
}

const struct engine postgresql_engine = {
    .open = postgresql_open,
    .start = postgresql_start,
    .close = postgresql_close,
    .submit = postgresql_submit,
    .transact = transact,
    .migrate = migrate,
    .own_new = own_new,
    .own_free = own_free,
    .own_run = own_run,
    .exec = postgresql_exec,
    .query = postgresql_query,
    .next = postgresql_next,
    .end = postgresql_end,
    .script = postgresql_script,
    .col_null = postgresql_col_null,
    .col_int = postgresql_col_int,
    .col_bytes = postgresql_col_bytes,
    .word_int = "BIGINT",
    .word_blob = "BYTEA",
    .word_clustered = "",
    .word_desc = "",
    .word_bytes = {"decode(", ", 'hex')"},
    .word_hash = {"('x' || encode(substr(sha256(convert_to(", ", 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint"},
};
