/* The writer. It runs the waiting tasks in one transaction, each in a savepoint, commits once for all of them, and then
 * reports their results in the order they ran.
 *
 * An urgent task runs as soon as the running one has ended. The transaction is then committed at once, or after a few
 * more tasks if it has just begun. So an urgent task waits for one short transaction at most. Each transaction also
 * takes some of the other tasks, so they are never starved. */
#include <assert.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/metric.h"
#include "store/sqlite.h"

#define BATCH_MAX   256
#define BATCH_US    4000 /* the time in which a transaction accepts tasks; a longer one takes longer to commit */
#define BATCH_SHORT 16   /* tasks that are not urgent: a transaction accepts this many in any case */

struct batch {
    struct store_task *tasks[BATCH_MAX];
    enum err results[BATCH_MAX];
    size_t n;
    size_t urgent;    /* urgent tasks among them */
    int64_t until_us; /* monotonic */
    size_t blamed;    /* the task that made the whole transaction fail; BATCH_MAX: no task did */
};

/* SQLite ends a transaction by itself if the disk is full, a read fails or memory is short. */
static bool transaction_lost(const struct sqlite_db *db)
{
    return sqlite3_get_autocommit(db->handle);
}

static bool writer_control(struct sqlite_db *db, enum sqlite_control what, const char *name)
{
    if (sqlite_control(db, what) == SQLITE_OK)
        return true;
    (void)sqlite_failed(db, name);
    return false;
}

static void give_up(struct sqlite_db *db)
{
    if (!transaction_lost(db))
        sqlite_control(db, CONTROL_ROLLBACK);
}

/* Runs a body in a savepoint. Returns false if the transaction was lost. */
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

/* Whether the database or its WAL was removed or replaced: what is written now would be lost. */
static bool files_lost(struct sqlite_store *s)
{
    int moved = 0;
    if (!s->writer.lost && sqlite3_file_control(s->writer.db->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == 0 &&
        (moved || access(s->wal_path, F_OK) < 0)) {
        s->writer.lost = true;
        log_error("store_lost path=%s hint=\"removed or replaced while in use: nothing is written until a restart\"",
                  moved ? s->path : s->wal_path);
    }
    if (s->writer.lost)
        store_note_failure(&s->base, "the database was removed or replaced", "commit", "nothing is written any more");
    return s->writer.lost;
}

/* Only this connection commits, as long as no other program does: with SQLite before 3.51.3 that can damage the
 * database (sqlite_checkpoint.c). */
static void look_for_others(struct sqlite_writer *w)
{
    const int64_t version = sqlite_data_version(w->db);
    if (w->version && version && version != w->version)
        store_note_other(&w->db->store->base, w->db->store->path);
    w->version = version ? version : w->version;
}

/* Runs the batch, and tasks that arrive meanwhile, in one transaction. Returns false if no result may be acknowledged.
 * */
static bool batch_attempt(struct sqlite_writer *w, struct batch *b)
{
    const size_t skip = b->blamed;
    b->blamed = BATCH_MAX;
    if (!writer_control(w->db, CONTROL_BEGIN_WRITE, "begin of a write"))
        return false;
    look_for_others(w);
    for (size_t i = 0; i < b->n || batch_add(w, b); i++) {
        if (i == skip || run_in_savepoint(w->db, store_task_run, b->tasks[i], &b->results[i]))
            continue;
        give_up(w->db);
        b->blamed = i;
        return false;
    }
    if (files_lost(w->db->store))
        w->db->failure = ERR_SERVICE_UNAVAILABLE;
    else if (writer_control(w->db, CONTROL_COMMIT, "commit"))
        return true;
    give_up(w->db);
    return false;
}

static void batch_run(struct sqlite_store *s, struct batch *b)
{
    struct sqlite_writer *w = &s->writer;
    b->blamed = BATCH_MAX;
    w->committed = false;
    atomic_store_explicit(&w->oldest_us, b->tasks[0]->submitted_us, memory_order_relaxed);
    bool durable = batch_attempt(w, b);
    if (!durable && b->blamed < BATCH_MAX && b->n > 1) {
        b->results[b->blamed] = w->db->failure; /* without this task, the others may succeed */
        durable = batch_attempt(w, b);
    }
    w->failing = !durable;
    if (w->committed) {
        atomic_fetch_add(&s->commits, 1);
        store_note_commit(&s->base);
    }
    atomic_store_explicit(&w->oldest_us, 0, memory_order_relaxed);
    metric_add(metrics.store_commits, w->committed);
    store_notify_listener(&s->base, &w->db->base);
    for (size_t i = 0; i < b->n; i++)
        store_task_done(b->tasks[i], durable ? b->results[i] : w->db->failure);
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
            task_queue_wait(&w->queue, sqlite_checkpoint_wait_us(s));
        sqlite_checkpoint_step(s);
    }
}

/* Called by SQLite after each commit, with the length of the WAL. */
static int on_wal_commit(void *arg, sqlite3 *handle, const char *name, int frames)
{
    (void)handle;
    (void)name;
    struct sqlite_store *s = arg;
    s->writer.committed = true;
    sqlite_checkpoint_note(s, frames);
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
        return db->failure;
    if (run_in_savepoint(db, run, arg, &result) && writer_control(db, CONTROL_COMMIT, "commit"))
        return result;
    give_up(db);
    return db->failure;
}
