#include "jobs/readiness.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/container_of.h"
#include "base/mem.h"
#include "base/metric.h"
#include "base/wait.h"
#include "domain/master.h"
#include "domain/work.h"

#define ANSWER_US (3 * US_PER_S / 2)
#define FRESH_US  (US_PER_S / 10) /* an answer of the store counts so long */
#define TRIES_US  US_PER_S        /* between two writes while commits fail */
#define SETTING   "written"       /* a row that such a write changes: the time */

struct readiness {
    struct readiness_options options;
    pthread_t thread;
    bool running;

    pthread_mutex_t lock; /* for the rest */
    pthread_cond_t wake;
    bool stopping;
    struct readiness_question *asked;

    /* The read, and what it found. */
    struct store_task task;
    bool reading; /* the store has the task */
    enum err result;
    int64_t read_us; /* when it ended, monotonic */
    struct {
        int schema;
        bool schema_fits, key_fits;
    } found;

    /* The write. */
    struct store_task write;
    bool writing;     /* the store has it */
    int64_t write_us; /* when it was submitted last, monotonic */
};

/* ---- the read ---- */

static enum err probe_run(struct store_task *task, struct db *db)
{
    struct readiness *r = container_of(task, struct readiness, task);
    char memory[512];
    struct arena arena;
    arena_init(&arena, memory, sizeof memory);
    struct tx tx = work_tx(&(struct work){.config = r->options.config, .arena = &arena}, db);
    enum err e = store_fits(db, &r->found.schema, &r->found.schema_fits);
    if (!e)
        e = master_fits(&tx, &r->found.key_fits);
    arena_done(&arena);
    return e;
}

static void probe_done(struct store_task *task, enum err result)
{
    struct readiness *r = container_of(task, struct readiness, task);
    pthread_mutex_lock(&r->lock);
    r->reading = false;
    r->result = result;
    r->read_us = clock_monotonic_us();
    pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->lock);
}

/* The caller holds the lock. */
static bool is_fresh(const struct readiness *r)
{
    return !r->reading && r->read_us && clock_monotonic_us() - r->read_us < FRESH_US;
}

/* Reads the store, or waits for the read that is under way. The caller holds the lock. */
static void read_store(struct readiness *r)
{
    const int64_t until_us = clock_monotonic_us() + ANSWER_US;
    if (!r->reading) {
        r->reading = true;
        r->task = (struct store_task){.mode = STORE_READ, .run = probe_run, .done = probe_done};
        pthread_mutex_unlock(&r->lock); /* `done` may be called before the return */
        store_submit(r->options.store, &r->task);
        pthread_mutex_lock(&r->lock);
    }
    while (r->reading && cond_wait_until(&r->wake, &r->lock, until_us))
        ;
}

/* ---- the write ---- */

static enum err try_run(struct store_task *task, struct db *db)
{
    char now[24];
    (void)task;
    snprintf(now, sizeof now, "%lld", (long long)clock_real_us());
    return db_exec(db, SQL(setting_put, .name = STR(SETTING), .value = str_z(now)), NULL);
}

static void try_done(struct store_task *task, enum err result)
{
    struct readiness *r = container_of(task, struct readiness, write);
    (void)result; /* the store notes it */
    pthread_mutex_lock(&r->lock);
    r->writing = false;
    pthread_mutex_unlock(&r->lock);
}

/* Finds out whether commits succeed again: the next questions learn it. The caller holds the lock. */
static void try_to_write(struct readiness *r)
{
    if (r->writing || !store_failing(r->options.store) || clock_monotonic_us() < r->write_us + TRIES_US)
        return;
    r->writing = true;
    r->write_us = clock_monotonic_us();
    r->write = (struct store_task){.mode = STORE_WRITE, .run = try_run, .done = try_done};
    pthread_mutex_unlock(&r->lock);
    store_submit(r->options.store, &r->write);
    pthread_mutex_lock(&r->lock);
}

/* ---- answers ---- */

static void add_reason(struct readiness_state *state, const char *reason)
{
    state->reasons[state->reason_count++] = reason;
}

/* The caller holds the lock. */
static struct readiness_state state_of(const struct readiness *r)
{
    struct readiness_state state = {0};
    const char *stage = r->options.stage();
    if (stage)
        add_reason(&state, stage);
    const bool opens = !r->options.store && r->options.config->engine == ENGINE_SQLITE;
    const char *waits = opens ? store_waits_for() : NULL; /* a server is asked again and again, so its reason changes */
    if (waits)
        add_reason(&state, waits);
    if (!r->options.store)
        add_reason(&state, "the store is not there yet");
    else if (r->reading)
        add_reason(&state, "the store did not respond within 1.5 s");
    else if (r->result)
        add_reason(&state, "the store failed");
    else if (!r->found.schema_fits)
        add_reason(&state, "the schema does not fit this program");
    else if (!r->found.key_fits)
        add_reason(&state, "the master key is not the store's");
    const char *failing = r->options.store ? store_failing(r->options.store) : NULL;
    if (failing) {
        add_reason(&state, "the store cannot be written");
        add_reason(&state, failing);
    }
    const char *fault = r->options.fault ? r->options.fault(r->options.context) : NULL;
    if (fault && !state.reason_count)
        add_reason(&state, fault);
    state.warning = r->options.store ? store_warning(r->options.store) : NULL;
    state.silent = !r->options.store || r->reading || r->result;
    if (!state.silent)
        state.schema = r->found.schema;
    return state;
}

/* The caller holds the lock. */
static void answer_all(struct readiness *r)
{
    if (r->options.store && !is_fresh(r))
        read_store(r);
    if (r->options.store)
        try_to_write(r);
    const struct readiness_state state = state_of(r);
    metric_set(metrics.ready, state.reason_count == 0);
    while (r->asked) {
        struct readiness_question *q = r->asked;
        r->asked = q->next;
        q->answer(q, &state);
    }
}

static void *readiness_thread(void *arg)
{
    struct readiness *r = arg;
    pthread_mutex_lock(&r->lock);
    while (!r->stopping || r->asked) {
        if (r->asked)
            answer_all(r);
        else
            pthread_cond_wait(&r->wake, &r->lock);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

void readiness_set_store(struct readiness *r, struct store *store)
{
    pthread_mutex_lock(&r->lock);
    r->options.store = store;
    pthread_mutex_unlock(&r->lock);
}

void readiness_ask(struct readiness *r, struct readiness_question *q)
{
    pthread_mutex_lock(&r->lock);
    q->next = r->asked;
    r->asked = q;
    pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->lock);
}

struct waiting_question {
    struct readiness_question question;
    struct readiness_state state;
    sem_t answered;
};

static void wake_waiting(struct readiness_question *q, const struct readiness_state *state)
{
    struct waiting_question *w = container_of(q, struct waiting_question, question);
    w->state = *state;
    sem_post(&w->answered);
}

struct readiness_state readiness_wait(struct readiness *r)
{
    struct waiting_question w = {.question.answer = wake_waiting};
    sem_init(&w.answered, 0, 0);
    readiness_ask(r, &w.question);
    while (sem_wait(&w.answered) < 0)
        ; /* interrupted */
    sem_destroy(&w.answered);
    return w.state;
}

void readiness_write(const struct readiness_state *state, struct buf *out)
{
    buf_printf(out, "{\"ready\":%s,\"reasons\":[", state->reason_count ? "false" : "true");
    for (size_t i = 0; i < state->reason_count; i++)
        buf_printf(out, "%s\"%s\"", i ? "," : "", state->reasons[i]);
    buf_lit(out, "]");
    if (state->warning)
        buf_printf(out, ",\"warnings\":[\"%s\"]", state->warning);
    buf_lit(out, "}\n");
}

/* ---- life ---- */

enum err readiness_new(const struct readiness_options *options, struct readiness **ret)
{
    struct readiness *r = mem_new(struct readiness);
    r->options = *options;
    pthread_mutex_init(&r->lock, NULL);
    cond_init(&r->wake);
    r->running = pthread_create(&r->thread, NULL, readiness_thread, r) == 0;
    if (!r->running) {
        readiness_free(r);
        return ERR_IO;
    }
    *ret = r;
    return ERR_NONE;
}

void readiness_stop(struct readiness *r)
{
    if (!r || !r->running)
        return;
    pthread_mutex_lock(&r->lock);
    r->stopping = true;
    pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->lock);
    pthread_join(r->thread, NULL);
    r->running = false;
}

void readiness_free(struct readiness *r)
{
    if (!r)
        return;
    readiness_stop(r);
    pthread_cond_destroy(&r->wake);
    pthread_mutex_destroy(&r->lock);
    free(r);
}
