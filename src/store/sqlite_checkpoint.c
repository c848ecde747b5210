/* Checkpoints: the WAL's pages go back into the database without holding up the writer.
 *
 * SQLite resets the WAL only if all of it has been copied and no reader stands on it, which under load never happens by
 * itself. So a round has two parts. The checkpointer thread copies what it can and syncs the database file, while the
 * writer goes on committing. Then the writer, between two transactions, copies the little that has come since: now the
 * database is complete, and whoever begins to read reads it without the WAL. The writer counts one more commit, which
 * makes the sessions renew their snapshots at their next request, waits a moment until they have, and its next commit
 * starts the WAL over. A reader that does not move in time only delays this to the next round; past a hard limit it is
 * interrupted, as nothing here needs to read that long. */
#include <time.h>

#include "base/clock.h"
#include "store/sqlite.h"

#define ROUND_FRAMES   4096   /* 16 MiB */
#define PATIENT_FRAMES 65536  /* 256 MiB: from here on the writer waits longer for readers */
#define LIMIT_FRAMES   262144 /* 1 GiB: from here on old reads fail */

#define WAIT_US         5000
#define WAIT_PATIENT_US 100000
#define WAIT_POLL_NS    50000

static enum err sync_database(struct sqlite_db *db)
{
    sqlite3_file *file = NULL;
    int rc = sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (rc == SQLITE_OK)
        rc = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
    if (rc == SQLITE_OK)
        return ERR_NONE;
    store_complain("sync of the database", rc, sqlite3_errstr(rc));
    return ERR_IO;
}

static bool copy_wal(struct sqlite_db *db, int mode, bool *ret_all)
{
    int frames = 0, copied = 0;
    int rc = sqlite3_wal_checkpoint_v2(db->handle, "main", mode, &frames, &copied);
    *ret_all = rc == SQLITE_OK && frames == copied;
    if (rc == SQLITE_OK || rc == SQLITE_BUSY)
        return true;
    sqlite_complain(db, "checkpoint");
    return false;
}

static void *checkpointer(void *arg)
{
    struct sqlite_store *s = arg;
    struct sqlite_checkpointer *c = &s->checkpointer;
    while (!atomic_load(&c->stop)) {
        if (atomic_load(&c->turn) != CHECKPOINT_BACKGROUND) {
            park(&c->parker);
            continue;
        }
        bool all;
        bool good = copy_wal(c->db, SQLITE_CHECKPOINT_PASSIVE, &all) && sync_database(c->db) == ERR_NONE;
        atomic_store(&c->turn, good ? CHECKPOINT_FINISH : CHECKPOINT_QUIET);
        job_queue_wake(&s->writer.queue);
    }
    return NULL;
}

static bool wait_for_sessions(struct sqlite_store *s, uint64_t commits, int64_t wait_us)
{
    const struct timespec poll = {.tv_nsec = WAIT_POLL_NS};
    const int64_t until_us = clock_monotonic_us() + wait_us;
    while (!sqlite_sessions_reached(s, commits)) {
        if (clock_monotonic_us() >= until_us)
            return false;
        nanosleep(&poll, NULL);
    }
    return true;
}

static void finish(struct sqlite_store *s)
{
    const int frames = s->checkpointer.wal_frames;
    bool all;
    if (!copy_wal(s->writer.db, SQLITE_CHECKPOINT_PASSIVE, &all))
        return;
    const uint64_t commits = atomic_fetch_add(&s->commits, 1) + 1;
    if (wait_for_sessions(s, commits, frames < PATIENT_FRAMES ? WAIT_US : WAIT_PATIENT_US) || frames < LIMIT_FRAMES)
        return;
    sqlite_sessions_interrupt(s, commits);
}

void sqlite_checkpoint_step(struct sqlite_store *s)
{
    struct sqlite_checkpointer *c = &s->checkpointer;
    switch ((enum checkpoint_turn)atomic_load_explicit(&c->turn, memory_order_acquire)) {
    case CHECKPOINT_QUIET:
        if (c->wal_frames < c->round_at - ROUND_FRAMES) /* the WAL has started over */
            c->round_at = ROUND_FRAMES;
        if (c->wal_frames < c->round_at)
            return;
        c->round_at = c->wal_frames + ROUND_FRAMES;
        atomic_store(&c->turn, CHECKPOINT_BACKGROUND);
        unpark(&c->parker);
        return;
    case CHECKPOINT_BACKGROUND:
        return;
    case CHECKPOINT_FINISH:
        finish(s);
        c->round_at = c->wal_frames + ROUND_FRAMES;
        atomic_store(&c->turn, CHECKPOINT_QUIET);
        return;
    }
}

void sqlite_checkpoint_final(struct sqlite_store *s)
{
    bool all;
    (void)copy_wal(s->writer.db, SQLITE_CHECKPOINT_TRUNCATE, &all);
}

enum err sqlite_checkpointer_start(struct sqlite_store *s)
{
    struct sqlite_checkpointer *c = &s->checkpointer;
    enum err e = sqlite_connect(s, false, &c->db);
    if (e)
        return e;
    c->round_at = ROUND_FRAMES;
    if (pthread_create(&c->thread, NULL, checkpointer, s))
        return ERR_IO;
    c->running = true;
    return ERR_NONE;
}

void sqlite_checkpointer_stop(struct sqlite_store *s)
{
    struct sqlite_checkpointer *c = &s->checkpointer;
    if (c->running) {
        atomic_store(&c->stop, true);
        unpark(&c->parker);
        pthread_join(c->thread, NULL);
        c->running = false;
    }
    if (c->db)
        sqlite_disconnect(c->db);
    c->db = NULL;
}
