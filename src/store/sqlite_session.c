/* Read sessions. Each has a connection whose snapshot stays open across requests until a commit. */
#include <assert.h>
#include <stdlib.h>

#include "store/sqlite.h"

static struct sqlite_db *session_open(struct sqlite_store *s)
{
    struct sqlite_db *db;
    if (sqlite_connect(s, true, &db))
        return NULL;
    pthread_mutex_lock(&s->sessions_mutex);
    db->next = s->sessions;
    s->sessions = db;
    pthread_mutex_unlock(&s->sessions_mutex);
    return db;
}

static void session_close(struct sqlite_db *db)
{
    struct sqlite_store *s = db->store;
    sqlite_session_idle(&db->base);
    pthread_mutex_lock(&s->sessions_mutex);
    struct sqlite_db **at = &s->sessions;
    while (*at != db)
        at = &(*at)->next;
    *at = db->next;
    pthread_mutex_unlock(&s->sessions_mutex);
    sqlite_disconnect(db);
}

struct db *sqlite_session_new(struct store *base)
{
    struct sqlite_db *db = session_open((struct sqlite_store *)base);
    return db ? &db->base : NULL;
}

void sqlite_session_free(struct db *db)
{
    session_close((struct sqlite_db *)db);
}

void sqlite_session_idle(struct db *base)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    assert(base->cursors == 0 && "a cursor was left open");
    base->failed = ERR_NONE;
    if (!sqlite3_get_autocommit(db->handle) && sqlite_control(db, CONTROL_COMMIT))
        sqlite_control(db, CONTROL_ROLLBACK);
    atomic_store(&db->snapshot, 0);
}

enum err sqlite_session_begin(struct db *base)
{
    struct sqlite_db *db = (struct sqlite_db *)base;
    assert(base->cursors == 0 && "a cursor was left open");
    uint64_t commits = atomic_load(&db->store->commits);
    if (atomic_load_explicit(&db->snapshot, memory_order_relaxed) == commits && !base->failed)
        return ERR_NONE;
    sqlite_session_idle(base);
    /* SQLite takes the snapshot at the first read that follows, after the counter was read. So the snapshot may be
     * newer than the counter, never older. */
    atomic_store(&db->snapshot, commits);
    if (sqlite_control(db, CONTROL_BEGIN)) {
        atomic_store(&db->snapshot, 0);
        return sqlite_failed(db, "begin of a read");
    }
    return ERR_NONE;
}

/* ---- spare sessions, for threads that read only now and then ---- */

static struct sqlite_db *spare_take(struct sqlite_store *s)
{
    pthread_mutex_lock(&s->sessions_mutex);
    struct sqlite_db *db = s->spare;
    if (db)
        s->spare = db->next_spare;
    pthread_mutex_unlock(&s->sessions_mutex);
    return db ? db : session_open(s);
}

static void spare_give(struct sqlite_db *db)
{
    struct sqlite_store *s = db->store;
    pthread_mutex_lock(&s->sessions_mutex);
    db->next_spare = s->spare;
    s->spare = db;
    pthread_mutex_unlock(&s->sessions_mutex);
}

enum err sqlite_read(struct store *base, enum err (*run)(void *, struct db *), void *arg)
{
    struct sqlite_db *db = spare_take((struct sqlite_store *)base);
    if (!db)
        return ERR_SERVICE_UNAVAILABLE;
    enum err e = sqlite_session_begin(&db->base);
    if (!e)
        e = db_result(&db->base, run(arg, &db->base));
    sqlite_session_idle(&db->base);
    spare_give(db);
    return e;
}

void sqlite_spare_sessions_free(struct sqlite_store *s)
{
    while (s->spare) {
        struct sqlite_db *db = s->spare;
        s->spare = db->next_spare;
        session_close(db);
    }
    assert(!s->sessions && "a session was left open");
}

/* ---- for checkpoints ---- */

bool sqlite_sessions_reached(struct sqlite_store *s, uint64_t commits)
{
    bool reached = true;
    pthread_mutex_lock(&s->sessions_mutex);
    for (struct sqlite_db *db = s->sessions; db && reached; db = db->next) {
        uint64_t snapshot = atomic_load(&db->snapshot);
        reached = snapshot == 0 || snapshot >= commits;
    }
    pthread_mutex_unlock(&s->sessions_mutex);
    return reached;
}

void sqlite_sessions_interrupt(struct sqlite_store *s, uint64_t commits)
{
    pthread_mutex_lock(&s->sessions_mutex);
    for (struct sqlite_db *db = s->sessions; db; db = db->next) {
        uint64_t snapshot = atomic_load(&db->snapshot);
        if (snapshot != 0 && snapshot < commits)
            sqlite3_interrupt(db->handle);
    }
    pthread_mutex_unlock(&s->sessions_mutex);
}
