/* The interface of an engine. Private to the room: engines include it, callers include store.h.
 *
 * A failed statement fails its transaction on both engines: `failed` keeps the first failure, every later statement
 * returns it, and the result of the body no longer counts. */
#pragma once
#include <stdatomic.h>

#include "store/sql_table.h"
#include "store/store.h"

/* The maximum number of parameters of a statement. */
#define SQL_PARAMS_MAX 48

struct engine;

struct store {
    const struct engine *engine;
    void (*listener)(void *context, unsigned topics, const struct store_fed *fed); /* may be NULL */
    void *listener_context;
    _Atomic(const char *) failing;      /* store_failing() */
    _Atomic int64_t failed_us, said_us; /* the last failure, and its last line in the log: monotonic */
    _Atomic int64_t other_us;           /* when another program was last seen to write: monotonic; 0: never */
};

struct db {
    const struct engine *engine;
    enum err failed;      /* of the running transaction */
    unsigned cursors;     /* open ones */
    unsigned topics;      /* for the listener, after the commit, */
    struct store_fed fed; /* like these */
};

struct engine {
    /* ret_why: as in store_open. */
    enum err (*open)(const struct config *c, struct store **ret, char **ret_why);
    /* The same for reads that run before a start, next to a running service. */
    enum err (*look)(const struct config *c, struct store **ret, char **ret_why);
    enum err (*start)(struct store *s);
    /* NULL where nothing is waited for. */
    void (*wind_down)(struct store *s);
    /* Accepts a store that was never started. */
    void (*close)(struct store *s);

    void (*submit)(struct store *s, struct store_task *task);
    int64_t (*oldest_us)(struct store *s); /* store_oldest_us() */
    /* Runs a body on the calling thread. Only before store_start. */
    enum err (*transact)(struct store *s, enum store_mode mode, enum err (*run)(void *arg, struct db *db), void *arg);
    /* The same for a migration: each of its statements sees what was committed before it. */
    enum err (*migrate)(struct store *s, enum err (*run)(void *arg, struct db *db), void *arg);
    /* Runs a read on the calling thread; NULL where reads must be submitted. */
    enum err (*read)(struct store *s, enum err (*run)(void *arg, struct db *db), void *arg);
    /* Fails if the disk has no room for the next, and for the migrations. */
    enum err (*room)(struct store *s, char **ret_why);
    /* Copies the store before migrations; called before start. Both NULL where the operator does that. */
    enum err (*keep)(struct store *s, char **ret_why);
    /* Frees the disk space that migrations left unused; called before start. NULL where the server does that. */
    void (*compact)(struct store *s);

    struct db *(*session_new)(struct store *s);
    void (*session_free)(struct db *db);
    enum err (*session_begin)(struct db *db);
    void (*session_idle)(struct db *db);

    /* NULL where one process has the store. */
    struct db *(*own_new)(struct store *s);
    void (*own_free)(struct db *db);
    enum err (*own_run)(struct db *db, enum err (*run)(void *arg, struct db *db), void *arg);
    enum err (*own_hear)(struct db *db, int wake_fd, int wait_ms, void (*heard)(void *context, struct str text),
                         void *context, bool *ret_anew);
    const char *(*own_failure)(const struct db *db);

    /* NULL where a statement costs no round trip. */
    void (*assume)(struct db *db, const struct db_assumption *a);
    enum err (*exec)(struct db *db, const struct db_call *call, int64_t *ret_changed);
    enum err (*query)(struct db *db, const struct db_call *call, struct cursor *ret);
    enum err (*next)(struct cursor *c, bool *ret_more);
    void (*end)(struct cursor *c);
    /* Runs several statements without parameters or results. */
    void (*log_library)(void); /* may be NULL */
    enum err (*script)(struct db *db, const char *sql);

    bool (*col_null)(const struct cursor *c, int i);
    int64_t (*col_int)(const struct cursor *c, int i);
    struct str (*col_bytes)(const struct cursor *c, int i, bool blob);

    bool exclusive;
    /* The replacements of {int}, {blob}, {clustered} and {desc} in migrations. Then the text before and after X for
     * {bytes X}, the bytes of a hexadecimal text, for {hash X}, crypto_hash64 of a text, and for {postgresql X}, which
     * only PostgreSQL runs. */
    const char *word_int, *word_blob, *word_clustered, *word_desc;
    const char *word_bytes[2], *word_hash[2], *word_sqlite[2], *word_postgresql[2];
};

extern const struct engine sqlite_engine, postgresql_engine;

/* The result of a transaction: the body's result, unless a statement failed. */
static inline enum err db_result(const struct db *db, enum err body)
{
    return db->failed ? db->failed : body;
}

/* The i-th argument of a call, from 0: that for $1. */
struct val db_argument(const struct db_call *call, int i);

/* Returns a task to its owner. */
void store_task_done(struct store_task *task, enum err result);
/* Runs a read on the calling thread; a store that was not started, too. */
CHECKED static inline enum err engine_look(struct store *s, enum err (*run)(void *arg, struct db *db), void *arg)
{
    return s->engine->read ? s->engine->read(s, run, arg) : s->engine->transact(s, STORE_READ, run, arg);
}

/* Runs the struct store_task at `task`: a body for functions that take any. */
enum err store_task_run(void *task, struct db *db) CHECKED;
/* Called after a commit: calls the listener with the topics of the session. */
void store_notify_listener(struct store *s, struct db *db);
/* Note what store_waits_for returns from now on, NULL for nothing: a wait for other processes, or else one for the
 * server's answer. */
void store_note_wait(const char *reason);
void store_note_answer(const char *reason);
/* Logs a failure of the engine; `what` names the statement or operation. Rate-limited, so that a full disk does not
 * also flood the log. */
void store_log_error(const char *what, int code, const char *message);
/* Notes that the store cannot be written, for the reason that store_failing() returns from now on, and logs it at most
 * once a minute. `what` and `message` as in store_log_error. */
void store_note_failure(struct store *s, const char *reason, const char *what, const char *message);
/* Notes that another program has written the database at that path, and logs it at most once a minute. */
void store_note_other(struct store *s, const char *path);
/* Notes that changes were committed. */
void store_note_commit(struct store *s);
/* Brings the schema up to date, or fails (see store_open). */
enum err migrate_store(struct store *s, enum store_schema schema, char **ret_why) CHECKED;
/* Fails, as store_open does with STORE_AS_IS, if this program cannot use the schema. */
enum err migrate_admits(struct store *s, enum store_schema schema, char **ret_why) CHECKED;
/* Migrates up to version `want`: for tests of later migrations. */
enum err migrate_to(struct store *s, int want, char **ret_why) CHECKED;
/* The newest version that this program knows. */
int migrate_newest(void);
/* A body that reads the database's version into the int at `ret_version`. */
enum err migrate_read_version(void *ret_version, struct db *db) CHECKED;
