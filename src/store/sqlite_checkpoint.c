/* Checkpoints: copying the pages of the WAL into the database while the writer continues.
 *
 * SQLite starts the WAL over only after all of it has been copied and no reader uses it any more. Under load that never
 * happens by itself, so a round has two parts. First, the checkpointer thread copies frames and syncs the database
 * file, in passes, until few are left. Then the writer, between two transactions, makes the sessions renew their
 * snapshots (they do at their next request), copies the rest, and makes them renew once more. Now the database is
 * complete and the sessions read it without the WAL, so the next commit starts the WAL over. Nothing is written while
 * the writer waits for sessions. So it waits only briefly, and then writes for ten times as long before the next
 * attempt. The thread of lengthy reads starts no read while an attempt is due (sqlite_checkpoint_offer). After a number
 * of failed attempts, the rest is left to the next round. If the WAL exceeds a hard limit, old reads are interrupted;
 * no read in this program needs that long.
 *
 * A round also starts half a minute after the first commit that followed the last truncation: it truncates the WAL, so
 * that the database is complete without it, and so that data that was deleted leaves the disk (secure_delete overwrites
 * it in the database). And it starts when commits fail: on a full disk, an empty WAL may free all the space they need.
 * A WAL left by a crash or a migration is copied before the threads start.
 *
 * The threads must never meet in the WAL-reset bug of SQLite before 3.51.3 (sqlite.org/wal.html): a checkpoint that has
 * read the header of a WAL of which nothing is left to copy, while a commit starts that WAL over, marks frames of the
 * new one as copied. Therefore: no pass of the checkpointer begins unless a frame is left to copy. Then no commit can
 * start the WAL over before the pass has copied that frame, and so not before it has read the header. A frame is
 * certainly left if the WAL's length at the last commit (wal_frames) is greater than the frames that the last copy
 * found in the database (copied): either the WAL has not started over since, or it has, and nothing of it was copied
 * (may_begin). With nothing left, the writer does the copying itself, between two commits. All of this holds only while
 * no other process writes or checkpoints; sqlite_writer.c notices one that writes. After a failed sync of the database,
 * the state of the pages copied before is unknown, even if a later sync succeeds. The WAL is then kept, however long it
 * grows, until another process reads it from its beginning. */
#include <assert.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/metric.h"
#include "base/wait.h"
#include "store/sqlite.h"

#define ROUND_FRAMES 4096 /* 16 MiB: the length of the WAL that starts a round */
#define FRAME_BYTES  (4096 + 24)
#define REST_FRAMES  256 /* left to the writer */
#define PASSES       6
#define LIMIT_FRAMES 262144 /* 1 GiB: the length from which old reads are interrupted */

#define REST_MOST 2048 /* 8 MiB: a longer rest goes back to the checkpointer */

#define WAIT_US      2000 /* for readers; doubled for each ROUND_FRAMES of the WAL, because a busy machine needs it */
#define WAIT_DOUBLED 5    /* doublings at most: 64 ms, in which nothing is written */
#define WAIT_POLL_US 50
#define WRITE_TIMES  10 /* the writer writes this many times as long as it waited before it waits again */
#define TRIES        16
#define OFFER_US     250000          /* the maximum wait of a lengthy read for an attempt */
#define FAILING_US   1000000         /* between rounds while commits fail */
#define TRUNCATE_US  (30 * US_PER_S) /* from a commit to the round that truncates the WAL */
#define RETRY_PART   6               /* of this time passes after a round that readers kept from its end */

static void note_failed_sync(struct sqlite_checkpointer *c, int rc)
{
    if (rc != SQLITE_IOERR_FSYNC || atomic_exchange(&c->unsynced, true))
        return;
    log_error("store_not_synced hint=\"the write-ahead log is kept and grows until the service is restarted\"");
}

static bool sync_database(struct sqlite_checkpointer *c)
{
    struct sqlite_db *db = c->db;
    sqlite3_file *file = NULL;
    int rc = sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    if (rc == SQLITE_OK)
        rc = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
    if (rc == SQLITE_OK)
        return true;
    store_log_error("sync of the database", rc, sqlite3_errstr(rc));
    note_failed_sync(c, rc);
    return false;
}

/* Whether a frame is left to copy, so that no commit can start the WAL over before a pass has begun. */
static bool may_begin(const struct sqlite_checkpointer *c)
{
    return atomic_load(&c->wal_frames) > atomic_load(&c->copied);
}

/* Copies the frames that readers allow; *ret_copied is the number of frames that are in the database then. */
static bool copy_wal(struct sqlite_db *db, int mode, int *ret_frames, int *ret_copied)
{
    struct sqlite_checkpointer *c = &db->store->checkpointer;
    int rc = sqlite3_wal_checkpoint_v2(db->handle, "main", mode, ret_frames, ret_copied);
    if (rc == SQLITE_OK)
        atomic_store(&c->copied, *ret_copied);
    if (rc == SQLITE_OK || rc == SQLITE_BUSY)
        return true;
    sqlite_log_error(db, "checkpoint");
    note_failed_sync(c, rc);
    return false;
}

/* The part of the checkpointer. Each pass leaves the frames that were committed while it ran, fewer each time. */
static bool copy_most(struct sqlite_checkpointer *c)
{
    int frames = 0, copied = 0, before;
    int passes = 0;
    do {
        before = copied;
        assert(may_begin(c));
        if (!copy_wal(c->db, SQLITE_CHECKPOINT_PASSIVE, &frames, &copied) || !sync_database(c))
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
        task_queue_wake(&s->writer.queue);
    }
    return NULL;
}

/* Makes the sessions take new snapshots, each at its next request, and waits briefly until they have. */
static bool sessions_renewed(struct sqlite_store *s, int64_t until_us)
{
    const uint64_t commits = atomic_fetch_add(&s->commits, 1) + 1;
    while (!sqlite_sessions_reached(s, commits)) {
        if (clock_monotonic_us() >= until_us)
            return false;
        sleep_for_us(WAIT_POLL_US);
    }
    return true;
}

/* No session uses the WAL. Another process may, and is not waited for. */
static bool truncate_wal(struct sqlite_store *s)
{
    struct sqlite_checkpointer *c = &s->checkpointer;
    int frames = 0, copied = 0;
    (void)sqlite3_busy_timeout(s->writer.db->handle, 0);
    const bool done = copy_wal(s->writer.db, SQLITE_CHECKPOINT_TRUNCATE, &frames, &copied) && frames == 0;
    (void)sqlite3_busy_timeout(s->writer.db->handle, SQLITE_BUSY_MS);
    if (!done)
        return false;
    atomic_store(&c->wal_frames, 0);
    c->behind = false;
    return true;
}

/* The part of the writer. All of the WAL can be copied only if every session is at its end; then they must leave it.
 * Returns false if they did not. */
static bool finish_round(struct sqlite_store *s, bool truncates)
{
    const int length = atomic_load(&s->checkpointer.wal_frames);
    const int doubled = length / ROUND_FRAMES;
    const int64_t wait_us = (int64_t)WAIT_US << (doubled < WAIT_DOUBLED ? doubled : WAIT_DOUBLED);
    int frames = 0, copied = 0;
    bool renewed = sessions_renewed(s, clock_monotonic_us() + wait_us);
    if (!renewed && length >= LIMIT_FRAMES) {
        sqlite_sessions_interrupt(s, atomic_load(&s->commits));
        renewed = sessions_renewed(s, clock_monotonic_us() + wait_us);
    }
    return renewed && copy_wal(s->writer.db, SQLITE_CHECKPOINT_PASSIVE, &frames, &copied) && copied == frames &&
           sessions_renewed(s, clock_monotonic_us() + wait_us) && (!truncates || truncate_wal(s));
}

/* Makes one attempt to finish the round. Returns the next turn. */
static enum checkpoint_turn attempt_to_finish(struct sqlite_store *s)
{
    struct sqlite_checkpointer *c = &s->checkpointer;
    const int64_t began_us = clock_monotonic_us();
    const bool truncates = c->behind && began_us >= c->truncate_at;
    const bool finished = finish_round(s, truncates);
    atomic_store(&c->offered, false); /* not earlier: the read would begin now, on an old snapshot */
    const int64_t now_us = clock_monotonic_us();
    c->again_us = now_us + WRITE_TIMES * (now_us - began_us);
    if (!finished && ++c->tries < TRIES && !atomic_load(&c->unsynced))
        return atomic_load(&c->wal_frames) - atomic_load(&c->copied) > REST_MOST ? CHECKPOINT_BACKGROUND
                                                                                 : CHECKPOINT_FINISH;
    metric_add(&metrics.checkpoints[finished ? METRIC_ROUND_DONE : METRIC_ROUND_PUT_OFF], 1);
    if (finished)
        metric_set(&metrics.store_bytes[METRIC_FILE_WAL], 0);
    if (truncates && !finished)
        c->truncate_at = now_us + c->truncate_us / RETRY_PART;
    c->tries = 0;
    c->round_at = c->wal_frames + ROUND_FRAMES;
    return CHECKPOINT_QUIET;
}

static bool round_is_due(struct sqlite_store *s)
{
    struct sqlite_checkpointer *c = &s->checkpointer;
    if (atomic_load(&c->unsynced))
        return false;
    if (c->wal_frames < c->round_at - ROUND_FRAMES) /* the WAL has started over */
        c->round_at = ROUND_FRAMES;
    if (c->wal_frames >= c->round_at)
        return true;
    const int64_t now_us = clock_monotonic_us();
    if (c->behind && now_us >= c->truncate_at)
        return true;
    if (!s->writer.failing || now_us < c->again_us)
        return false;
    c->again_us = now_us + FAILING_US;
    return true;
}

void sqlite_checkpoint_note(struct sqlite_store *s, int wal_frames)
{
    struct sqlite_checkpointer *c = &s->checkpointer;
    if (wal_frames <= atomic_load(&c->wal_frames)) /* it has started over */
        atomic_store(&c->copied, 0);
    atomic_store(&c->wal_frames, wal_frames);
    metric_set(&metrics.store_bytes[METRIC_FILE_WAL], wal_frames * (int64_t)FRAME_BYTES);
    if (!c->behind)
        c->truncate_at = clock_monotonic_us() + c->truncate_us;
    c->behind = true;
}

int64_t sqlite_checkpoint_wait_us(struct sqlite_store *s)
{
    const struct sqlite_checkpointer *c = &s->checkpointer;
    const int turn = atomic_load(&c->turn);
    if (turn == CHECKPOINT_BACKGROUND || (turn == CHECKPOINT_QUIET && (!c->behind || atomic_load(&c->unsynced))))
        return -1;
    const int64_t left_us = (turn == CHECKPOINT_QUIET ? c->truncate_at : c->again_us) - clock_monotonic_us();
    return left_us > 0 ? left_us : 0;
}

void sqlite_checkpoint_step(struct sqlite_store *s)
{
    struct sqlite_checkpointer *c = &s->checkpointer;
    enum checkpoint_turn turn = (enum checkpoint_turn)atomic_load_explicit(&c->turn, memory_order_acquire);
    if (turn == CHECKPOINT_BACKGROUND)
        return;
    if (turn == CHECKPOINT_QUIET) {
        if (!round_is_due(s))
            return;
        c->round_at = c->wal_frames + ROUND_FRAMES;
        turn = may_begin(c) ? CHECKPOINT_BACKGROUND : CHECKPOINT_FINISH;
    } else if (atomic_load(&c->offered) || clock_monotonic_us() >= c->again_us) {
        turn = attempt_to_finish(s);
    }
    atomic_store(&c->turn, turn);
    if (turn == CHECKPOINT_BACKGROUND)
        unpark(&c->parker);
}

void sqlite_checkpoint_offer(struct sqlite_store *s)
{
    struct sqlite_checkpointer *c = &s->checkpointer;
    if (atomic_load(&c->turn) != CHECKPOINT_FINISH)
        return;
    const int64_t until_us = clock_monotonic_us() + OFFER_US;
    atomic_store(&c->offered, true);
    task_queue_wake(&s->writer.queue);
    while (atomic_load(&c->offered) && atomic_load(&c->turn) == CHECKPOINT_FINISH && clock_monotonic_us() < until_us)
        sleep_for_us(WAIT_POLL_US);
}

void sqlite_checkpoint_final(struct sqlite_store *s)
{
    int frames, copied;
    /* Closing would copy the rest of the WAL and delete it, or the WAL of a database that has replaced this one. */
    if (atomic_load(&s->checkpointer.unsynced) || s->writer.lost)
        (void)sqlite3_db_config(s->writer.db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    else
        (void)copy_wal(s->writer.db, SQLITE_CHECKPOINT_TRUNCATE, &frames, &copied);
}

enum err sqlite_checkpointer_start(struct sqlite_store *s)
{
    struct sqlite_checkpointer *c = &s->checkpointer;
    int frames = 0, copied = 0;
    enum err e = sqlite_connect(s, false, &c->db);
    if (e)
        return e;
    c->round_at = ROUND_FRAMES;
    c->truncate_us = c->truncate_us ? c->truncate_us : TRUNCATE_US;
    if (copy_wal(s->writer.db, SQLITE_CHECKPOINT_PASSIVE, &frames, &copied) && frames > 0)
        sqlite_checkpoint_note(s, frames);
    atomic_store(&c->copied, copied);
    atomic_store(&c->turn, CHECKPOINT_QUIET);
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
