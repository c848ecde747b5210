/* Transactions on PostgreSQL. They run again after a lost race or a lost connection. If the connection is lost during
 * COMMIT, the result of the commit is determined exactly.
 *
 * A server that goes away during COMMIT may or may not have committed. So each write transaction inserts a mark, a row
 * (worker, mark) that no other transaction has. After a loss, the same mark is inserted on a new connection; the insert
 * waits for the old transaction if that still runs. If it succeeds, the transaction was not committed and never will
 * be: the insert is rolled back, and the task runs again. (The ID of the transaction would not do: after a crash or a
 * failover, IDs of transactions that left no trace are assigned again.) The insert of a mark travels with BEGIN, and
 * marks that are no longer needed are deleted in bulk.
 *
 * A mark that can be read does not prove that the commit will last. With synchronous replication, a server whose wait
 * for a standby is cut short (by statement_timeout, or when it ends the connection) has committed already, but a
 * failover would undo that. Such a COMMIT succeeds with a warning, or loses its connection. So a mark that is found is
 * changed: commits are replicated in their order, and when the commit of the change is confirmed, so is the other. */
#include <assert.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/metric.h"
#include "base/wait.h"
#include "store/postgresql.h"

#define ATTEMPTS        32 /* in a row; then the task waits among the tasks that met a lock */
#define ATTEMPTS_SHARED 4  /* together with other writes of this process; later attempts run alone */
#define BACKOFF_US      500u
#define BACKOFF_MAX_US  50000u
#define MARKS_KEPT      256
#define MARKS_AGE_US    (24 * 3600 * US_PER_S)

static bool run_control(struct postgresql_db *db, enum postgresql_control what, const char *name)
{
    PGresult *r = postgresql_control(db, what);
    bool good = PQresultStatus(r) == PGRES_COMMAND_OK || postgresql_failed(db, name, r) == ERR_NONE;
    PQclear(r);
    return good;
}

static void roll_back(struct postgresql_db *db)
{
    if (db->begun && !db->broken) {
        PGresult *r = postgresql_control(db, PG_ROLLBACK);
        db->broken = PQresultStatus(r) != PGRES_COMMAND_OK;
        PQclear(r);
    }
    db->begun = false;
}

/* ---- settling ---- */

/* The insert waits for the old transaction, which the server may still run. */
static bool wait_for_locks(struct postgresql_db *db)
{
    PGresult *r = postgresql_only_result(db, postgresql_send_patience(db));
    bool good = PQresultStatus(r) == PGRES_TUPLES_OK || !postgresql_failed(db, "lock time-out", r);
    PQclear(r);
    return good;
}

/* Commits. Returns false if that failed, or if no standby has confirmed it. */
static bool commit_confirmed(struct postgresql_db *db)
{
    db->warned = false;
    bool good = run_control(db, PG_COMMIT, "commit");
    db->begun = false;
    return good && !db->warned;
}

/* Changes the mark, or inserts it again. */
static enum metric_label_FATE fate_of_mark(struct postgresql_db *db)
{
    enum metric_label_FATE fate = METRIC_FATE_UNKNOWN;
    int64_t found = 0;
    db->base.failed = ERR_NONE;
    db->until_us = clock_monotonic_us() + db->answer_us;
    if (!run_control(db, PG_BEGIN_PLAIN, "begin"))
        return METRIC_FATE_UNKNOWN;
    db->begun = true;
    if (wait_for_locks(db) && !postgresql_exec(&db->base, POSTGRESQL_MARK(commit_mark_touch, db), &found)) {
        if (found)
            fate = commit_confirmed(db) ? METRIC_FATE_COMMITTED : METRIC_FATE_UNKNOWN;
        else if (!postgresql_exec(&db->base, POSTGRESQL_MARK(commit_mark_put, db), NULL))
            fate = METRIC_FATE_NOT_COMMITTED;
    }
    roll_back(db);
    db->blocked = false;
    return fate;
}

static enum metric_label_FATE find_fate(struct postgresql_db *db)
{
    do {
        const enum metric_label_FATE fate = postgresql_connected(db) ? fate_of_mark(db) : METRIC_FATE_UNKNOWN;
        if (fate != METRIC_FATE_UNKNOWN)
            return fate;
        sleep_for_us(BACKOFF_MAX_US);
    } while (clock_monotonic_us() < db->give_up_us && !atomic_load(&db->store->silent) &&
             !postgresql_stopping(db->store));
    return METRIC_FATE_UNKNOWN;
}

/* Determines the result of a COMMIT whose answer was lost, or that no standby has confirmed. */
static enum err settle_commit(struct postgresql_db *db)
{
    const enum metric_label_FATE fate = find_fate(db);
    metric_add(&metrics.store_settled[fate], 1);
    if (fate == METRIC_FATE_UNKNOWN) {
        store_log_error("commit", 0, "the connection was lost or no standby confirmed, and the result is unknown");
        return ERR_SERVICE_UNAVAILABLE;
    }
    return fate == METRIC_FATE_COMMITTED ? ERR_NONE : ERR_RETRY;
}

/* ---- one attempt ---- */

static enum err commit(struct postgresql_db *db)
{
    PGresult *r = NULL;
    db->warned = false;
    enum err e = postgresql_send(db, PG_COMMIT, "commit");
    if (db->mode == STORE_WRITE)
        store_note_answer("PostgreSQL does not confirm a commit: see synchronous_standby_names");
    if (!e)
        e = postgresql_collect(db, &r);
    store_note_answer(NULL);
    if (!e && strcmp(PQcmdStatus(r), "COMMIT") != 0) /* "ROLLBACK": a statement had failed unnoticed */
        e = ERR_INTERNAL_ERROR;
    PQclear(r);
    if (PQtransactionStatus(db->conn) != PQTRANS_IDLE)
        roll_back(db); /* a statement that was sent with COMMIT failed, so COMMIT did not run */
    db->begun = false;
    metric_add(metrics.store_commits, !e && db->mode == STORE_WRITE);
    if (!e && db->mode == STORE_WRITE)
        store_note_commit(&db->store->base);
    db->in_doubt = db->mode == STORE_WRITE && db->marks && (e ? db->broken : db->warned);
    return e;
}

/* Runs the body. Its result counts only if what it assumed holds. */
static enum err run_body(struct postgresql_db *db, enum err (*run)(void *, struct db *), void *arg)
{
    db->defers = db->mode == STORE_WRITE;
    db->assumption = NULL;
    enum err e = run(arg, &db->base);
    assert(db->base.cursors == 0 && "a cursor was left open");
    db->defers = false;
    db->alone = NULL;
    const enum err assumed = postgresql_check_assumption(db);
    return assumed ? assumed : e;
}

static enum err run_once(struct postgresql_db *db, enum store_mode mode, enum err (*run)(void *, struct db *),
                         void *arg)
{
    db->base.failed = ERR_NONE;
    db->until_us = clock_monotonic_us() + db->answer_us;
    db->mode = mode;
    db->begun = db->blocked = db->in_doubt = db->commits = false;
    db->mark += mode == STORE_WRITE;
    enum err e = db_result(&db->base, run_body(db, run, arg));
    if (!e && db->begun)
        return commit(db);
    roll_back(db);
    return e;
}

/* ---- marks ---- */

static enum err delete_marks(struct postgresql_db *db, const struct db_call *call)
{
    db->base.failed = ERR_NONE;
    db->until_us = clock_monotonic_us() + db->answer_us;
    if (!run_control(db, PG_BEGIN_PLAIN, "begin"))
        return db->base.failed;
    db->begun = true;
    enum err e = postgresql_exec(&db->base, call, NULL);
    if (e)
        roll_back(db);
    else if (!commit_confirmed(db))
        e = db->base.failed; /* not if only a standby is missing */
    return e;
}

void postgresql_marks_forget(struct postgresql_db *db)
{
    if (!db->marks || db->broken || db->mode != STORE_WRITE || db->mark - db->marks_forgotten < MARKS_KEPT)
        return;
    if (!delete_marks(db, SQL(commit_mark_forget, .worker = db->worker, .mark = db->mark)))
        db->marks_forgotten = db->mark;
}

void postgresql_marks_start(struct postgresql_db *db)
{
    uint64_t worker;
    crypto_random(&worker, sizeof worker);
    db->worker = (int64_t)(worker >> 1);
    db->marks = true;
}

void postgresql_marks_expire(struct postgresql_db *db)
{
    const int64_t before_us = clock_real_us() - MARKS_AGE_US;
    if (delete_marks(db, SQL(commit_mark_expire, .before = before_us)))
        store_log_error("deletion of old marks", 0, db->state);
}

/* ---- a task ---- */

static void back_off(int attempts)
{
    uint32_t most = attempts < 7 ? BACKOFF_US << attempts : BACKOFF_MAX_US;
    sleep_for_us(1 + crypto_uniform(most));
}

/* A write that has lost several races runs alone in this process, so that a stream of other writes cannot starve it.
 * Then only another node can win the race against it, or a write that waits for a lock: nobody waits for that one. */
static enum err run_in_turn(struct postgresql_db *db, bool alone, enum store_mode mode,
                            enum err (*run)(void *, struct db *), void *arg)
{
    if (mode == STORE_READ || db->patient)
        return run_once(db, mode, run, arg);
    pthread_rwlock_t *writes = &db->store->writes;
    (void)(alone ? pthread_rwlock_wrlock(writes) : pthread_rwlock_rdlock(writes));
    enum err e = run_once(db, mode, run, arg);
    pthread_rwlock_unlock(writes);
    return e;
}

enum err postgresql_run(struct postgresql_db *db, enum store_mode mode, enum err (*run)(void *, struct db *), void *arg)
{
    for (int attempts = 0; attempts < ATTEMPTS; attempts++) {
        enum err e = run_in_turn(db, attempts >= ATTEMPTS_SHARED, mode, run, arg);
        if (db->in_doubt)
            e = settle_commit(db);
        if (e != ERR_RETRY || db->broken || db->blocked)
            return e;
        if (clock_monotonic_us() >= db->give_up_us) {
            store_log_error("transaction given up", attempts + 1, db->state);
            return ERR_SERVICE_UNAVAILABLE;
        }
        back_off(attempts);
    }
    db->blocked = true; /* by a transaction that may wait in COMMIT for a standby, and conflicts until then */
    return ERR_RETRY;
}
