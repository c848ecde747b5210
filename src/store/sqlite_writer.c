/* The writer: the waiting jobs in one transaction, each in a savepoint of its own; one commit for all of them, and then
 * their answers, in the order they ran.
 *
 * An urgent job runs as soon as the one before it has ended, and the transaction is committed then, or after a few more
 * if it has only begun. So an urgent job waits for one short transaction at most, and the others, of which each
 * transaction takes some, are never starved. */
#include <assert.h>

#include "base/clock.h"
#include "store/sqlite.h"

#define BATCH_MAX   256
#define BATCH_US    4000 /* so long a transaction takes what arrives; the longer it is, the longer its commit */
#define BATCH_SHORT 16   /* jobs that are not urgent: so many in any case */

struct batch {
    struct store_task *tasks[BATCH_MAX];
    enum err results[BATCH_MAX];
    size_t n;
    size_t urgent;    /* of them */
    int64_t until_us; /* monotonic */
    size_t blamed;    /* the job that took the whole transaction with it; BATCH_MAX: none */
};

/* SQLite ends a transaction by itself when the disk is full, a read fails or memory is short. */
static bool transaction_lost(const struct sqlite_db *db)
{
    return sqlite3_get_autocommit(db->handle);
}

static bool writer_control(struct sqlite_db *db, enum sqlite_control what, const char *name)
{
    if (sqlite_control(db, what) == SQLITE_OK)
        return true;
    sqlite_log_error(db, name);
    return false;
}

static void give_up(struct sqlite_db *db)
{
    if (!transaction_lost(db))
        sqlite_control(db, CONTROL_ROLLBACK);
}

/* Runs one body in its savepoint. False if the transaction did not survive it. */
static bool run_in_savepoint(struct sqlite_db *db, enum err (*run)(void *, struct db *), void *arg,
                             enum err *ret_result)
{
    if (!writer_control(db, CONTROL_SAVEPOINT, "savepoint"))
        return false;
    db->base.failed = ERR_NONE;
    enum err e = run(arg, &db->base);
    assert(db->base.cursors == 0 && "a cursor was left open");
    *ret_result = db_result(&db->base, e);
    if (transaction_lost(db))
        return false;
    if (*ret_result && !writer_control(db, CONTROL_SAVEPOINT_ROLLBACK, "roll-back"))
        return false;
    return writer_control(db, CONTROL_SAVEPOINT_RELEASE, "release");
}

static struct store_task *batch_next(struct sqlite_writer *w, const struct batch *b)
{
    struct store_task *task = b->urgent < BATCH_MAX / 2 ? task_list_take(&w->queue.urgent) : NULL;
    const size_t others = b->n - b->urgent;
    if (!task && (others < BATCH_SHORT || (!b->urgent && clock_monotonic_us() < b->until_us)))
        task = task_list_take(&w->queue.others);
    return task;
}

static bool batch_add(struct sqlite_writer *w, struct batch *b)
{
    struct store_task *task = b->n < BATCH_MAX ? batch_next(w, b) : NULL;
    if (!task)
        return false;
    b->urgent += task->urgent;
    b->results[b->n] = ERR_NONE;
    b->tasks[b->n++] = task;
    return true;
}

static void batch_start(struct batch *b)
{
    b->n = b->urgent = 0;
    b->until_us = clock_monotonic_us() + BATCH_US;
}

/* One transaction over the batch, and over what arrives meanwhile. False if nothing of it may be acknowledged. */
static bool batch_attempt(struct sqlite_writer *w, struct batch *b)
{
    const size_t skip = b->blamed;
    b->blamed = BATCH_MAX;
    if (!writer_control(w->db, CONTROL_BEGIN_WRITE, "begin of a write"))
        return false;
    for (size_t i = 0; i < b->n || batch_add(w, b); i++) {
        if (i == skip || run_in_savepoint(w->db, store_task_run, b->tasks[i], &b->results[i]))
            continue;
        give_up(w->db);
        b->blamed = i;
        return false;
    }
    if (writer_control(w->db, CONTROL_COMMIT, "commit"))
        return true;
    give_up(w->db);
    return false;
}

static void batch_run(struct sqlite_store *s, struct batch *b)
{
    struct sqlite_writer *w = &s->writer;
    b->blamed = BATCH_MAX;
    w->committed = false;
    bool durable = batch_attempt(w, b);
    if (!durable && b->blamed < BATCH_MAX && b->n > 1) {
        b->results[b->blamed] = ERR_INTERNAL_ERROR; /* without the culprit, the others may get through */
        durable = batch_attempt(w, b);
    }
    w->failing = !durable;
    if (w->committed)
        atomic_fetch_add(&s->commits, 1);
    store_notify_listener(&s->base, &w->db->base);
    for (size_t i = 0; i < b->n; i++)
        b->tasks[i]->done(b->tasks[i], durable ? b->results[i] : ERR_INTERNAL_ERROR);
}

static void *writer(void *arg)
{
    struct sqlite_store *s = arg;
    struct sqlite_writer *w = &s->writer;
    struct batch batch;
    for (;;) {
        batch_start(&batch);
        if (batch_add(w, &batch))
            batch_run(s, &batch);
        else if (atomic_load(&w->stop))
            return NULL;
        else
            task_queue_wait(&w->queue);
        sqlite_checkpoint_step(s);
    }
}

/* After each commit: how long the WAL is now. */
static int on_wal_commit(void *arg, sqlite3 *handle, const char *name, int frames)
{
    (void)handle;
    (void)name;
    struct sqlite_store *s = arg;
    s->writer.committed = true;
    s->checkpointer.wal_frames = frames;
    return SQLITE_OK;
}

enum err sqlite_writer_start(struct sqlite_store *s)
{
    sqlite3_wal_hook(s->writer.db->handle, on_wal_commit, s);
    if (pthread_create(&s->writer.thread, NULL, writer, s))
        return ERR_IO;
    s->writer.running = true;
    return ERR_NONE;
}

void sqlite_writer_stop(struct sqlite_store *s)
{
    if (!s->writer.running)
        return;
    atomic_store(&s->writer.stop, true);
    task_queue_wake(&s->writer.queue);
    pthread_join(s->writer.thread, NULL);
    s->writer.running = false;
}

enum err sqlite_transact(struct store *base, enum store_mode mode, enum err (*run)(void *, struct db *), void *arg)
{
    struct sqlite_db *db = ((struct sqlite_store *)base)->writer.db;
    enum err result = ERR_INTERNAL_ERROR;
    if (!writer_control(db, mode == STORE_WRITE ? CONTROL_BEGIN_WRITE : CONTROL_BEGIN, "begin"))
        return ERR_INTERNAL_ERROR;
    if (run_in_savepoint(db, run, arg, &result) && writer_control(db, CONTROL_COMMIT, "commit"))
        return result;
    give_up(db);
    return ERR_INTERNAL_ERROR;
}
