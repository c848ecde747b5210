/* The PostgreSQL engine: a pool of connections, each with a thread. */
#include <stdlib.h>

#include "store/postgresql.h"

#define OVERTAKEN_MOST 16 /* urgent jobs that go before another one */
#define RESERVED_FROM  4  /* workers: from so many on, one is kept for urgent jobs */

/* ---- the queue and its workers ---- */

static void push(struct postgresql_jobs *l, struct store_task *job)
{
    job->next = NULL;
    *l->newest = job;
    l->newest = &job->next;
}

static struct store_task *pop(struct postgresql_jobs *l)
{
    struct store_task *job = l->oldest;
    if (job)
        l->oldest = job->next;
    if (!l->oldest)
        l->newest = &l->oldest;
    return job;
}

static void submit(struct store *base, struct store_task *job)
{
    struct postgresql_store *s = (struct postgresql_store *)base;
    pthread_mutex_lock(&s->mutex);
    push(job->urgent ? &s->urgent : &s->others, job);
    pthread_mutex_unlock(&s->mutex);
    pthread_cond_signal(&s->wake);
    if (job->urgent)
        pthread_cond_signal(&s->wake_reserved);
}

/* The oldest urgent job, or else the oldest; now and then the oldest of the others first, so that they are not starved.
 */
static struct store_task *next_job(struct postgresql_store *s, bool reserved)
{
    struct store_task *job = reserved || s->overtaken < OVERTAKEN_MOST ? pop(&s->urgent) : NULL;
    if (reserved)
        return job;
    s->overtaken = job ? s->overtaken + 1 : 0;
    if (!job)
        job = pop(&s->others);
    return job ? job : pop(&s->urgent);
}

/* Waits for a job; NULL when the store closes and none is left. */
static struct store_task *take(struct postgresql_store *s, bool reserved)
{
    struct store_task *job;
    pthread_mutex_lock(&s->mutex);
    while (!(job = next_job(s, reserved)) && !s->stop)
        pthread_cond_wait(reserved ? &s->wake_reserved : &s->wake, &s->mutex);
    pthread_mutex_unlock(&s->mutex);
    return job;
}

static enum err run_job(void *arg, struct db *db)
{
    struct store_task *job = arg;
    return job->run(job, db);
}

static void *work(void *arg)
{
    struct postgresql_worker *w = arg;
    struct store_task *job;
    while ((job = take(w->db.store, w->reserved))) {
        enum store_mode mode = job->mode;
        enum err e = postgresql_run(&w->db, mode, run_job, job);
        store_tell(&w->db.store->base, &w->db.base);
        job->done(job, e);
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

static void close_store(struct store *base)
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
    if (!e && !(s->dsn = strdup(dsn.p)))
        e = err_why(ret_why, ERR_USAGE, "out of memory");
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

/* Whoever asks to be alone comes next. */
static void init_turn(pthread_rwlock_t *turn)
{
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(turn, &attributes);
    pthread_rwlockattr_destroy(&attributes);
}

static enum err open_store(const struct config *c, struct store **ret, char **ret_why)
{
    size_t workers = c->store_workers > 0 ? (size_t)c->store_workers : 1;
    struct postgresql_store *s = calloc(1, sizeof *s + workers * sizeof s->workers[0]);
    if (!s)
        return err_why(ret_why, ERR_USAGE, "out of memory");
    s->base.engine = &postgresql_engine;
    s->worker_count = workers;
    s->urgent.newest = &s->urgent.oldest;
    s->others.newest = &s->others.oldest;
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->wake, NULL);
    pthread_cond_init(&s->wake_reserved, NULL);
    init_turn(&s->writes);
    for (size_t i = 0; i < workers; i++)
        s->workers[i].db = (struct postgresql_db){.base.engine = &postgresql_engine, .store = s, .broken = true};
    s->workers[workers - 1].reserved = workers >= RESERVED_FROM;
    enum err e = read_dsn(s, c->store_dsn, ret_why);
    if (!e)
        e = connect_first(s, ret_why);
    if (e) {
        close_store(&s->base);
        return e;
    }
    *ret = &s->base;
    return ERR_NONE;
}

static enum err start(struct store *base)
{
    struct postgresql_store *s = (struct postgresql_store *)base;
    postgresql_marks_expire(&s->workers[0].db);
    for (size_t i = 0; i < s->worker_count; i++) {
        struct postgresql_worker *w = &s->workers[i];
        postgresql_marks_start(&w->db);
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

static enum err check(struct store *base)
{
    (void)base;
    return ERR_NONE;
}

const struct engine postgresql_engine = {
    .open = open_store,
    .start = start,
    .close = close_store,
    .submit = submit,
    .transact = transact,
    .check = check,
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
