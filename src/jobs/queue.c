#include "jobs/queue.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/wait.h"
#include "domain/row.h"
#include "domain/work.h"

#define THREADS         8 /* a provider that hangs holds up no mail */
#define THREADS_MAX     64
#define PAUSE_FIRST_S   5
#define PAUSE_LONG_S    300
#define PAUSE_LONGEST_S 3600
#define ATTEMPTS_OFTEN  29              /* these take two hours */
#define SLEEP_ALONE_US  (30 * US_PER_S) /* one process has the store: whoever adds a row kicks */
#define SLEEP_SHARED_US US_PER_S        /* another node may have added a row, or lost its lease */
#define PAUSE_US        US_PER_S        /* after a failure of the store */
#define POLL_SHARED_US  (US_PER_S / 20) /* another node may run what somebody waits for */

struct jobs {
    struct jobs_options options;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_cond_t idle;
    pthread_cond_t ended; /* a job was run */
    uint64_t ends;
    uint64_t kicks;      /* counts reasons to look */
    uint64_t idle_since; /* the youngest kick after which nothing was found due and nothing ran */
    unsigned busy;       /* threads that look or run */
    bool stopping;
    unsigned started;
    pthread_t threads[THREADS_MAX];
};

/* ---- rows ---- */

struct taken {
    struct job job;
    int64_t leased_until_us;
    int64_t next_us; /* without a job: when the next one is due; INT64_MAX: none is known */
    bool found;
};

static enum err next_due(struct tx *tx, void *arg)
{
    struct taken *t = arg;
    CURSOR c;
    enum err e = db_one(tx->db, SQL_JOB_NEXT, DB_ARGS(v_int(clock_real_us())), &c);
    if (e && e != ERR_NOT_FOUND)
        return e;
    t->next_us = e ? INT64_MAX : col_int(&c, COL_JOB_NEXT_DUE_AT);
    return ERR_NONE;
}

static enum err take(struct tx *tx, void *arg)
{
    struct taken *t = arg;
    int64_t real_us = clock_real_us();
    int64_t until_us = real_us + JOB_LEASE_S * US_PER_S;
    CURSOR c;
    enum err e = db_one(tx->db, SQL_JOB_TAKE, DB_ARGS(v_int(tx->now_us), v_int(real_us), v_int(until_us)), &c);
    t->found = !e;
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    t->leased_until_us = until_us;
    t->job.id = col_copy(&c, COL_JOB_ID, tx->arena);
    t->job.kind = col_copy(&c, COL_JOB_KIND, tx->arena);
    t->job.attempt = col_int(&c, COL_JOB_ATTEMPTS);
    t->job.created_us = col_int(&c, COL_JOB_CREATED_AT);
    t->job.payload = arena_str(tx->arena, col_blob(&c, COL_JOB_TAKE_PAYLOAD));
    return ERR_NONE;
}

/* What was added again while it ran runs again at once. */
static enum err set_free(struct tx *tx, const struct taken *t)
{
    return db_exec(tx->db, SQL_JOB_FREE, DB_ARGS(v_str(t->job.id), v_int(t->leased_until_us)), NULL);
}

static enum err finish(struct tx *tx, void *arg)
{
    const struct taken *t = arg;
    int64_t finished;
    enum err e = db_exec(tx->db, SQL_JOB_FINISH,
                         DB_ARGS(v_str(t->job.id), v_int(t->leased_until_us), v_int(t->job.created_us)), &finished);
    return e || finished ? e : set_free(tx, t);
}

static int64_t pause_s(int64_t attempt)
{
    if (attempt < 7)
        return PAUSE_FIRST_S << (attempt - 1);
    if (attempt <= ATTEMPTS_OFTEN)
        return PAUSE_LONG_S;
    int64_t s = (1 + attempt - ATTEMPTS_OFTEN) * PAUSE_LONG_S;
    return s < PAUSE_LONGEST_S ? s : PAUSE_LONGEST_S;
}

static enum err postpone(struct tx *tx, void *arg)
{
    const struct taken *t = arg;
    int64_t due_us = tx->now_us + pause_s(t->job.attempt) * US_PER_S, postponed;
    enum err e = db_exec(tx->db, SQL_JOB_RETRY,
                         DB_ARGS(v_str(t->job.id), v_int(t->leased_until_us), v_int(t->job.created_us), v_int(due_us)),
                         &postponed);
    return e || postponed ? e : set_free(tx, t);
}

static enum err unlease(struct tx *tx, void *arg)
{
    (void)arg;
    return db_exec(tx->db, SQL_JOB_UNLEASE, DB_NO_ARGS, NULL);
}

/* ---- one job ---- */

static const struct job_kind *kind_of(const struct jobs *j, struct str name)
{
    for (size_t i = 0; i < j->options.kind_count; i++)
        if (str_eq(name, str_z(j->options.kinds[i].name)))
            return &j->options.kinds[i];
    return NULL;
}

static struct work work_on(const struct jobs *j, struct arena *arena)
{
    return (struct work){.store = j->options.store, .config = j->options.config, .arena = arena};
}

static void run(struct jobs *j, struct taken *t)
{
    const struct job_kind *kind = kind_of(j, t->job.kind);
    enum err e = kind ? kind->run(kind->context, &t->job) : ERR_INTERNAL_ERROR;
    if (e)
        log_warn("job postponed id=%.*s kind=%.*s attempt=%lld error=%s", STR_ARG(t->job.id), STR_ARG(t->job.kind),
                 (long long)t->job.attempt, kind ? err_info(e)->code : "unknown kind");
    e = work_write(t->job.work, e ? postpone : finish, t);
    if (e)
        log_error("job not recorded id=%.*s error=%s", STR_ARG(t->job.id), err_info(e)->code);
}

/* Takes and runs one job. *ret_next_us: when to look again without being told. */
static enum err run_one(struct jobs *j, bool *ret_found, int64_t *ret_next_us)
{
    struct arena arena;
    arena_init(&arena, NULL, 0);
    const int64_t until_us = clock_monotonic_us() + JOB_ALONE_US;
    struct work work = work_on(j, &arena);
    struct taken t = {.job = {.work = &work, .until_us = until_us}};
    enum err e = work_read(&work, next_due, &t);
    if (!e && t.next_us <= clock_now_us())
        e = work_write(&work, take, &t);
    if (!e && t.found) {
        pthread_cond_signal(&j->wake); /* there may be another one */
        run(j, &t);
    }
    *ret_found = t.found;
    *ret_next_us = t.next_us;
    arena_done(&arena);
    return e;
}

/* ---- threads ---- */

static int64_t sleep_us(const struct jobs *j, enum err e, int64_t next_us)
{
    int64_t longest = store_exclusive(j->options.store) ? SLEEP_ALONE_US : SLEEP_SHARED_US;
    if (e)
        return PAUSE_US;
    if (next_us == INT64_MAX)
        return longest;
    int64_t wait = next_us - clock_now_us();
    return wait < 0 ? 0 : wait < longest ? wait : longest;
}

static void wait_for(struct jobs *j, pthread_cond_t *condition, int64_t us)
{
    (void)cond_wait_until(condition, &j->lock, clock_monotonic_us() + us);
}

static void *worker(void *arg)
{
    struct jobs *j = arg;
    pthread_mutex_lock(&j->lock);
    while (!j->stopping) {
        uint64_t seen = j->kicks;
        bool found = false;
        int64_t next_us = INT64_MAX;
        j->busy++;
        pthread_mutex_unlock(&j->lock);
        enum err e = run_one(j, &found, &next_us);
        pthread_mutex_lock(&j->lock);
        j->busy--;
        if (found) {
            j->ends++;
            pthread_cond_broadcast(&j->ended);
            continue;
        }
        if (j->busy == 0 && seen > j->idle_since) {
            j->idle_since = seen;
            pthread_cond_broadcast(&j->idle);
        }
        if (seen == j->kicks && !j->stopping)
            wait_for(j, &j->wake, sleep_us(j, e, next_us));
    }
    pthread_mutex_unlock(&j->lock);
    return NULL;
}

struct jobs *jobs_new(const struct jobs_options *options)
{
    struct jobs *j = mem_new(struct jobs);
    j->options = *options;
    if (j->options.threads == 0)
        j->options.threads = THREADS;
    assert(j->options.threads <= THREADS_MAX);
    pthread_mutex_init(&j->lock, NULL);
    cond_init(&j->wake);
    cond_init(&j->idle);
    cond_init(&j->ended);
    return j;
}

enum err jobs_start(struct jobs *j)
{
    const struct jobs_options *o = &j->options;
    if (store_exclusive(o->store)) {
        struct arena arena;
        arena_init(&arena, NULL, 0);
        struct work work = work_on(j, &arena);
        enum err e = work_write(&work, unlease, NULL);
        arena_done(&arena);
        if (e)
            return e;
    }
    for (; j->started < o->threads; j->started++)
        if (pthread_create(&j->threads[j->started], NULL, worker, j))
            return ERR_IO;
    return ERR_NONE;
}

void jobs_stop(struct jobs *j)
{
    pthread_mutex_lock(&j->lock);
    j->stopping = true;
    pthread_cond_broadcast(&j->wake);
    pthread_cond_broadcast(&j->idle);
    pthread_cond_broadcast(&j->ended);
    pthread_mutex_unlock(&j->lock);
    while (j->started > 0)
        pthread_join(j->threads[--j->started], NULL);
}

void jobs_free(struct jobs *j)
{
    if (!j)
        return;
    jobs_stop(j);
    pthread_cond_destroy(&j->idle);
    pthread_cond_destroy(&j->ended);
    pthread_cond_destroy(&j->wake);
    pthread_mutex_destroy(&j->lock);
    free(j);
}

void jobs_kick(struct jobs *j)
{
    pthread_mutex_lock(&j->lock);
    j->kicks++;
    pthread_cond_signal(&j->wake);
    pthread_mutex_unlock(&j->lock);
}

void jobs_drain(struct jobs *j)
{
    pthread_mutex_lock(&j->lock);
    uint64_t wanted = ++j->kicks;
    pthread_cond_signal(&j->wake);
    while (j->idle_since < wanted && !j->stopping)
        pthread_cond_wait(&j->idle, &j->lock);
    pthread_mutex_unlock(&j->lock);
}

/* ---- waiting for one ---- */

struct awaited {
    struct str id;
    bool done;
    bool running;
    int64_t due_us;
};

static enum err look(struct tx *tx, void *arg)
{
    struct awaited *w = arg;
    CURSOR c;
    enum err e = db_one(tx->db, SQL_JOB_WAITING, DB_ARGS(v_str(w->id)), &c);
    w->done = e == ERR_NOT_FOUND;
    if (e)
        return w->done ? ERR_NONE : e;
    w->due_us = col_int(&c, COL_JOB_WAITING_DUE_AT);
    w->running = col_int(&c, COL_JOB_WAITING_LEASED_UNTIL) > clock_real_us();
    return ERR_NONE;
}

static enum err look_once(struct jobs *j, struct awaited *w)
{
    struct arena arena;
    arena_init(&arena, NULL, 0);
    struct work work = work_on(j, &arena);
    enum err e = work_read(&work, look, w);
    arena_done(&arena);
    return e;
}

/* Sleeps until a job was run since `seen`; false if the jobs end. */
static bool wait_for_end(struct jobs *j, uint64_t seen, int64_t left_us)
{
    bool alone = store_exclusive(j->options.store);
    pthread_mutex_lock(&j->lock);
    if (j->ends == seen && !j->stopping)
        wait_for(j, &j->ended, alone || left_us < POLL_SHARED_US ? left_us : POLL_SHARED_US);
    bool stopping = j->stopping;
    pthread_mutex_unlock(&j->lock);
    return !stopping;
}

static uint64_t ends_seen(struct jobs *j)
{
    pthread_mutex_lock(&j->lock);
    uint64_t seen = j->ends;
    pthread_mutex_unlock(&j->lock);
    return seen;
}

enum err jobs_wait(struct jobs *j, struct str id, int64_t wait_ms, bool *ret_done)
{
    int64_t until_us = clock_monotonic_us() + wait_ms * 1000;
    for (bool going = true;;) {
        struct awaited w = {.id = id};
        uint64_t seen = ends_seen(j);
        enum err e = look_once(j, &w);
        if (e)
            return e;
        int64_t left_us = until_us - clock_monotonic_us();
        if (w.done || !going || left_us <= 0 || (!w.running && w.due_us > clock_now_us() + left_us)) {
            *ret_done = w.done;
            return ERR_NONE;
        }
        going = wait_for_end(j, seen, left_us);
    }
}
