/* Checkpoints: the WAL's pages go back into the database while the writer goes on.
 *
 * SQLite starts the WAL over only when all of it has been copied and no reader stands on it, which under load never
 * happens by itself. So a round has two parts. The checkpointer thread copies what it can and syncs the database file,
 * in passes, until little is left. Then the writer, between two transactions, has the sessions renew their snapshots
 * (they do at their next request), copies the rest, and has them renew once more: now the database is complete and they
 * read it without the WAL, so that the writer's next commit starts it over. A reader that does not move in time only
 * puts this off to the next round; past a hard limit it is interrupted, as nothing here needs to read that long. */
#include <time.h>

#include "base/clock.h"
#include "store/sqlite.h"

#define ROUND_FRAMES 4096 /* 16 MiB: a WAL of this length begins a round */
#define REST_FRAMES  256  /* left to the writer */
#define PASSES       6
#define LIMIT_FRAMES 262144 /* 1 GiB: from here on old reads fail */

#define WAIT_US      5000 /* for readers; twice as long for each ROUND_FRAMES of the WAL: a busy machine needs it */
#define WAIT_DOUBLED 6    /* times at most: 320 ms, in which nothing is written */
#define WAIT_POLL_NS 50000

static bool sync_database(struct sqlite_db *db)
{
    sqlite3_file *file = NULL;
    int rc = sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (rc == SQLITE_OK)
        rc = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
    if (rc == SQLITE_OK)
        return true;
    store_complain("sync of the database", rc, sqlite3_errstr(rc));
    return false;
}

/* Copies what readers allow; *ret_copied of the WAL's frames are in the database now. */
static bool copy_wal(struct sqlite_db *db, int mode, int *ret_frames, int *ret_copied)
{
    int rc = sqlite3_wal_checkpoint_v2(db->handle, "main", mode, ret_frames, ret_copied);
    if (rc == SQLITE_OK || rc == SQLITE_BUSY)
        return true;
    sqlite_complain(db, "checkpoint");
    return false;
}

/* The checkpointer's part: each pass leaves what was committed while it ran, which is less each time. */
static bool copy_most(struct sqlite_checkpointer *c)
{
    int frames = 0, copied = 0, before;
    int passes = 0;
    do {
        before = copied;
        if (!copy_wal(c->db, SQLITE_CHECKPOINT_PASSIVE, &frames, &copied) || !sync_database(c->db))
            return false;
    } while (copied > before && atomic_load(&c->wal_frames) - copied > REST_FRAMES && ++passes < PASSES);
    return true;
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
        atomic_store(&c->turn, copy_most(c) ? CHECKPOINT_FINISH : CHECKPOINT_QUIET);
        job_queue_wake(&s->writer.queue);
    }
    return NULL;
}

/* Makes the sessions take new snapshots, each at its next request, and waits a moment until they have. */
static bool sessions_renewed(struct sqlite_store *s, int64_t wait_us)
{
    const struct timespec poll = {.tv_nsec = WAIT_POLL_NS};
    const uint64_t commits = atomic_fetch_add(&s->commits, 1) + 1;
    const int64_t until_us = clock_monotonic_us() + wait_us;
    while (!sqlite_sessions_reached(s, commits)) {
        if (clock_monotonic_us() >= until_us)
            return false;
        nanosleep(&poll, NULL);
    }
    return true;
}

/* The writer's part. Sessions must stand at the WAL's end for all of it to be copied, and then leave it. */
static void finish(struct sqlite_store *s)
{
    const int length = atomic_load(&s->checkpointer.wal_frames);
    const int doubled = length / ROUND_FRAMES;
    const int64_t wait_us = (int64_t)WAIT_US << (doubled < WAIT_DOUBLED ? doubled : WAIT_DOUBLED);
    int frames = 0, copied = 0;
    bool renewed = sessions_renewed(s, wait_us);
    if (!renewed && length >= LIMIT_FRAMES) {
        sqlite_sessions_interrupt(s, atomic_load(&s->commits));
        renewed = sessions_renewed(s, wait_us);
    }
    if (renewed && copy_wal(s->writer.db, SQLITE_CHECKPOINT_PASSIVE, &frames, &copied) && copied == frames)
        (void)sessions_renewed(s, wait_us);
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
    int frames, copied;
    (void)copy_wal(s->writer.db, SQLITE_CHECKPOINT_TRUNCATE, &frames, &copied);
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
