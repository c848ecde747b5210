/* What store.c asks of an engine. Private to the room: engines include it, callers include store.h.
 *
 * A transaction that has seen a statement fail is lost on both engines: `failed` keeps the first failure, every later
 * statement answers the same, and the body's own result no longer counts. */
#pragma once
#include "store/sql_table.h"
#include "store/store.h"

/* The most parameters one statement may have. */
#define SQL_PARAMS_MAX 48

struct engine;

struct store {
    const struct engine *engine;
    void (*listener)(void *context, unsigned topics); /* NULL: nobody listens */
    void *listener_context;
};

struct db {
    const struct engine *engine;
    enum err failed;  /* of the running transaction */
    unsigned cursors; /* open ones */
    unsigned topics;  /* to be told after the commit */
};

struct engine {
    /* ret_why: as in store_open. */
    enum err (*open)(const struct config *c, struct store **ret, char **ret_why);
    enum err (*start)(struct store *s);
    /* Also for a store that was never started. */
    void (*close)(struct store *s);

    void (*submit)(struct store *s, struct store_task *task);
    /* Runs a body on the calling thread, before store_start: for migrations. */
    enum err (*transact)(struct store *s, enum store_mode mode, enum err (*run)(void *arg, struct db *db), void *arg);
    /* Runs a read on the calling thread; NULL where it has to be submitted. */
    enum err (*read)(struct store *s, enum err (*run)(void *arg, struct db *db), void *arg);
    /* After migrations, before start: gives back the room they left behind. NULL where the server does that. */
    void (*compact)(struct store *s);

    struct db *(*session_new)(struct store *s);
    void (*session_free)(struct db *db);
    enum err (*session_begin)(struct db *db);
    void (*session_idle)(struct db *db);

    enum err (*exec)(struct db *db, enum sql statement, struct db_args args, int64_t *ret_changed);
    enum err (*query)(struct db *db, enum sql statement, struct db_args args, struct cursor *ret);
    enum err (*next)(struct cursor *c, bool *ret_more);
    void (*end)(struct cursor *c);
    /* Runs several statements without parameters or results. */
    enum err (*script)(struct db *db, const char *sql);

    bool (*col_null)(const struct cursor *c, int i);
    int64_t (*col_int)(const struct cursor *c, int i);
    struct str (*col_bytes)(const struct cursor *c, int i, bool blob);

    bool exclusive;
    /* What {int} {blob} {clustered} {desc} of a migration stand for; and what stands before and behind X for {bytes X},
     * the bytes of a hexadecimal text, and for {hash X}, crypto_hash64 of a text. */
    const char *word_int, *word_blob, *word_clustered, *word_desc;
    const char *word_bytes[2], *word_hash[2];
};

extern const struct engine sqlite_engine, postgresql_engine;

/* A job's result: the body's own, unless a statement of its transaction failed. */
static inline enum err db_result(const struct db *db, enum err body)
{
    return db->failed ? db->failed : body;
}

/* Runs the store_task at `task`: a body for functions that take any. */
enum err store_task_run(void *task, struct db *db) CHECKED;
/* After a commit: tells the listener what the session's transaction had to tell. */
void store_notify_listener(struct store *s, struct db *db);
/* Says on the log why the engine failed; what names a statement or an operation. Bounded: a full disk does not make a
 * second full disk of the log. */
void store_log_error(const char *what, int code, const char *message);
/* Brings the schema up to date, or refuses (see store_open). */
enum err migrate_store(struct store *s, bool wanted, char **ret_why) CHECKED;
/* To that version and no further: for tests of what later migrations make of its rows. */
enum err migrate_to(struct store *s, int want, char **ret_why) CHECKED;
/* The newest version that this program knows. */
int migrate_newest(void);
/* A body that reads the database's version into the int at `ret_version`. */
enum err migrate_read_version(void *ret_version, struct db *db) CHECKED;
