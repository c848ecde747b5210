#include "jobs/queue.h"

#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/wait.h"
#include "domain/work.h"
#include "jobs/bell.h"

#define THREADS         8 /* so that a provider that hangs does not hold up mail */
#define THREADS_MAX     64
#define PAUSE_FIRST_S   5
#define PAUSE_LONG_S    300
#define PAUSE_LONGEST_S JOB_LONGEST_S
#define ATTEMPTS_OFTEN  29               /* these take two hours */
#define POLL_SHARED_US  (US_PER_S / 20)  /* another node may run the job that jobs_wait waits for */
#define UNWATCHED_US    (300 * US_PER_S) /* the sleep of a thread while another one watches */

struct jobs {
    struct jobs_options options;
    struct heartbeat *heartbeat; /* NULL: every lease holds */
    struct bell bell;
    pthread_mutex_t lock; /* of ends, busy and watch_us */
    pthread_cond_t ended; /* ends has grown, or the bell is stopping */
    uint64_t ends;        /* counts jobs that were run */
    unsigned busy;        /* threads that look or run */
    int64_t watch_us;     /* when a waiting thread will look, monotonic; INT64_MAX: none watches */
    unsigned started;
    pthread_t threads[THREADS_MAX];
};

/* ---- rows ---- */

struct taken {
    struct job job;
    int64_t leased_until_us;
    int64_t next_us; /* if no job was found: when the next one is due; INT64_MAX: no job is known */
    bool found;
};

static enum err next_due_run(struct tx *tx, void *arg)
{
    struct taken *t = arg;
    CURSOR c;
    enum err e = db_one(tx->db, SQL(job_next), &c);
    if (e && e != ERR_NOT_FOUND)
        return e;
    t->next_us = e ? INT64_MAX : row_job_next(&c, NULL).due_at;
    return ERR_NONE;
}

static enum err lease_job(struct tx *tx, void *arg)
{
    struct taken *t = arg;
    CURSOR c;
    enum err e =
        db_one(tx->db,
               SQL(job_take, .now = tx->now_us, .lasts = JOB_LEASE_S * US_PER_S, .leased_by = &t->job.tenure.node), &c);
    t->found = !e;
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    const struct row_job_take row = row_job_take(&c, tx->arena);
    t->leased_until_us = row.leased_until;
    t->job.id = row.job.id;
    t->job.kind = row.job.kind;
    t->job.attempt = row.job.attempts;
    t->job.created_us = row.job.created_at;
    t->job.payload = row.payload;
    return ERR_NONE;
}

/* A job that was added again while it ran is run again at once. */
static enum err unlease_job(struct tx *tx, const struct taken *t)
{
    return db_exec(tx->db, SQL(job_free, .id = t->job.id, .leased_until = t->leased_until_us), NULL);
}

static enum err finish_job(struct tx *tx, void *arg)
{
    const struct taken *t = arg;
    int64_t finished;
    enum err e = db_exec(
        tx->db, SQL(job_finish, .id = t->job.id, .leased_until = t->leased_until_us, .created_at = t->job.created_us),
        &finished);
    return e || finished ? e : unlease_job(tx, t);
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

static enum err postpone_job(struct tx *tx, void *arg)
{
    const struct taken *t = arg;
    int64_t due_us = tx->now_us + pause_s(t->job.attempt) * US_PER_S, postponed;
    enum err e = db_exec(tx->db,
                         SQL(job_retry, .id = t->job.id, .leased_until = t->leased_until_us,
                             .created_at = t->job.created_us, .due_at = due_us),
                         &postponed);
    return e || postponed ? e : unlease_job(tx, t);
}

static enum err unlease_all(struct tx *tx, void *arg)
{
    (void)arg;
    return db_exec(tx->db, SQL(job_unlease), NULL);
}

/* ---- one job ---- */

static const struct job_kind *find_kind(const struct jobs *j, struct str name)
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

static enum err free_job(struct tx *tx, void *arg)
{
    return unlease_job(tx, arg);
}

static void run_job(struct jobs *j, struct taken *t)
{
    const struct job_kind *kind = find_kind(j, t->job.kind);
    if (!tenure_holds(&t->job.tenure)) { /* this process was stopped between the lease's commit and here */
        if (work_write(t->job.work, free_job, t))
            log_warn("job not freed id=%.*s", STR_ARG(t->job.id));
        return;
    }
    enum err e = kind ? kind->run(kind->context, &t->job) : ERR_INTERNAL_ERROR;
    if (e)
        log_warn("job postponed id=%.*s kind=%.*s attempt=%lld error=%s", STR_ARG(t->job.id), STR_ARG(t->job.kind),
                 (long long)t->job.attempt, kind ? err_info(e)->code : "unknown kind");
    e = work_write(t->job.work, e ? postpone_job : finish_job, t);
    if (e)
        log_error("job not recorded id=%.*s error=%s", STR_ARG(t->job.id), err_info(e)->code);
}

/* Leases and runs one job. *ret_next_us is when to look again without a kick. */
static enum err run_next(struct jobs *j, bool *ret_found, int64_t *ret_next_us)
{
    struct arena arena;
    arena_init(&arena, NULL, 0);
    const int64_t until_us = clock_monotonic_us() + JOB_ALONE_US;
    struct work work = work_on(j, &arena);
    struct taken t = {.job = {.work = &work, .until_us = until_us, .tenure = jobs_tenure(j)}};
    enum err e = tenure_holds(&t.job.tenure) ? work_read(&work, next_due_run, &t) : ERR_RETRY;
    if (!e && t.next_us <= clock_now_us())
        e = work_write(&work, lease_job, &t);
    if (!e && t.found) {
        bell_wake(&j->bell); /* there may be another one */
        run_job(j, &t);
    }
    *ret_found = t.found;
    *ret_next_us = t.next_us;
    arena_done(&arena);
    return e;
}

/* ---- threads ---- */

static void begin_look(struct jobs *j)
{
    pthread_mutex_lock(&j->lock);
    j->busy++;
    pthread_mutex_unlock(&j->lock);
}

/* Returns true if no other thread looks or runs a job. */
static bool end_look(struct jobs *j, bool found)
{
    pthread_mutex_lock(&j->lock);
    bool alone = --j->busy == 0;
    if (found) {
        j->ends++;
        pthread_cond_broadcast(&j->ended);
    }
    pthread_mutex_unlock(&j->lock);
    return alone;
}

/* Waits for a kick, or until at_us. One thread is enough to see what falls due: the others wait for longer, unless they
 * know of something earlier, and the first one wakes another when it finds a job. */
static void job_pause(struct jobs *j, uint64_t heard, int64_t at_us)
{
    pthread_mutex_lock(&j->lock);
    const bool watches = at_us < j->watch_us;
    if (watches)
        j->watch_us = at_us;
    pthread_mutex_unlock(&j->lock);
    bell_wait(&j->bell, heard, watches ? at_us : clock_monotonic_us() + UNWATCHED_US);
    pthread_mutex_lock(&j->lock);
    if (watches && j->watch_us == at_us)
        j->watch_us = INT64_MAX;
    pthread_mutex_unlock(&j->lock);
}

static void *job_thread(void *arg)
{
    struct jobs *j = arg;
    while (!bell_is_stopping(&j->bell)) {
        bool found = false;
        int64_t next_us = INT64_MAX;
        begin_look(j);
        uint64_t heard = bell_heard(&j->bell);
        enum err e = run_next(j, &found, &next_us);
        bool alone = end_look(j, found);
        if (found)
            continue;
        if (alone)
            bell_set_idle(&j->bell, heard);
        job_pause(j, heard, clock_monotonic_us() + bell_sleep_us(j->options.store, e, next_us));
    }
    return NULL;
}

struct jobs *jobs_new(const struct jobs_options *options)
{
    struct jobs *j = mem_new(struct jobs);
    j->options = *options;
    j->watch_us = INT64_MAX;
    if (j->options.threads == 0)
        j->options.threads = THREADS;
    assert(j->options.threads <= THREADS_MAX);
    pthread_mutex_init(&j->lock, NULL);
    bell_init(&j->bell);
    cond_init(&j->ended);
    return j;
}

enum err jobs_start(struct jobs *j, struct heartbeat *heartbeat)
{
    const struct jobs_options *o = &j->options;
    j->heartbeat = heartbeat;
    if (!j->started && store_exclusive(o->store)) {
        struct arena arena;
        arena_init(&arena, NULL, 0);
        struct work work = work_on(j, &arena);
        enum err e = work_write(&work, unlease_all, NULL);
        arena_done(&arena);
        if (e)
            return e;
    }
    for (; j->started < o->threads; j->started++)
        if (pthread_create(&j->threads[j->started], NULL, job_thread, j))
            return ERR_IO;
    return ERR_NONE;
}

struct tenure jobs_tenure(const struct jobs *j)
{
    return heartbeat_tenure(j->heartbeat);
}

unsigned jobs_nodes(const struct jobs *j)
{
    return heartbeat_nodes(j->heartbeat);
}

void jobs_stop(struct jobs *j)
{
    bell_stop(&j->bell);
    pthread_mutex_lock(&j->lock);
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
    pthread_cond_destroy(&j->ended);
    pthread_mutex_destroy(&j->lock);
    bell_done(&j->bell);
    free(j);
}

void jobs_kick(struct jobs *j)
{
    bell_kick(&j->bell);
}

void jobs_drain(struct jobs *j)
{
    (void)bell_wait_idle(&j->bell, bell_kick(&j->bell), INT64_MAX);
}

/* ---- waiting for one job ---- */

struct awaited {
    struct str id;
    bool done;
    bool running;
    int64_t due_us;
};

static enum err read_awaited(struct tx *tx, void *arg)
{
    struct awaited *w = arg;
    CURSOR c;
    enum err e = db_one(tx->db, SQL(job_waiting, .id = w->id), &c);
    w->done = e == ERR_NOT_FOUND;
    if (e)
        return w->done ? ERR_NONE : e;
    const struct row_job_waiting row = row_job_waiting(&c, NULL);
    w->due_us = row.due_at;
    w->running = row.running;
    return ERR_NONE;
}

static enum err look_at(struct jobs *j, struct awaited *w)
{
    struct arena arena;
    arena_init(&arena, NULL, 0);
    struct work work = work_on(j, &arena);
    enum err e = work_read(&work, read_awaited, w);
    arena_done(&arena);
    return e;
}

/* Waits until a job was run since `seen`. Returns false if the threads stop. */
static bool wait_for_any_end(struct jobs *j, uint64_t seen, int64_t left_us)
{
    bool exclusive = store_exclusive(j->options.store);
    int64_t wait_us = exclusive || left_us < POLL_SHARED_US ? left_us : POLL_SHARED_US;
    pthread_mutex_lock(&j->lock);
    if (j->ends == seen && !bell_is_stopping(&j->bell))
        (void)cond_wait_until(&j->ended, &j->lock, clock_monotonic_us() + wait_us);
    pthread_mutex_unlock(&j->lock);
    return !bell_is_stopping(&j->bell);
}

static uint64_t count_ends(struct jobs *j)
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
        uint64_t seen = count_ends(j);
        enum err e = look_at(j, &w);
        if (e)
            return e;
        int64_t left_us = until_us - clock_monotonic_us();
        if (w.done || !going || left_us <= 0 || (!w.running && w.due_us > clock_now_us() + left_us)) {
            *ret_done = w.done;
            return ERR_NONE;
        }
        going = wait_for_any_end(j, seen, left_us);
    }
}
