/* The store: sessions, transactions and named statements over one of two engines, SQLite or PostgreSQL.
 *
 * Callers cannot tell the engines apart. All SQL is in store/sql/<group>.sql, one statement per name. `enum sql`
 * (SQL_<NAME>) and the numbers of columns (COL_<NAME>_<COLUMN>) are generated from it by scripts/sqlgen.awk. Parameters
 * are $1, $2 …; the text is the same for both engines, unless a statement has the overrides `-- name: x (sqlite)` and
 * `-- name: x (postgresql)`.
 *
 * Writes are jobs. A job's body runs on a store thread inside a transaction that commits before job->done is called:
 * with SQLite in a savepoint of its own within the batch's one transaction on the one writer thread, with PostgreSQL
 * in a SERIALIZABLE transaction of its own on a worker's connection. A body may be run more than once (a lost race, a
 * lost connection): it must only touch the database and what it resets itself at its start. A body that returns an
 * error is rolled back; one that must both answer an error and keep its changes returns ERR_NONE and says so in its own
 * result. */
#pragma once
#include "base/arena.h"
#include "base/config.h"
#include "base/val.h"
#include "sql.h" /* generated: enum sql */

struct store; /* the process's store */
struct db;    /* one session: a connection on one thread, inside a transaction while a body runs */

/* Opens and, with `migrate`, brings the schema up to date; without it a schema that is not current is ERR_USAGE.
 * ret_why as in config_load. Takes the data directory's lock (SQLite): a second process gets ERR_USAGE. */
enum err store_open(const struct config *c, bool migrate, struct store **ret, char **ret_why) CHECKED;
/* Starts the store's threads. */
enum err store_start(struct store *s) CHECKED;
/* Finishes every submitted job, checkpoints, closes. */
void store_close(struct store *s);

/* What a transaction changed that somebody waits for. */
enum store_topic {
    TOPIC_JOBS = 1,       /* a row of table `job` is due */
    TOPIC_DELIVERIES = 2, /* a webhook delivery is due, or was canceled */
    TOPIC_KEYS = 4        /* what authentication reads: keys, accounts, buildings, subscriptions */
};

/* Before store_start. The listener is told after every commit that has news and before the commit's jobs are done, on a
 * store thread: it must not block. It may also be told of what was rolled back. Other processes on the same store are
 * not heard. */
void store_listen(struct store *s, void (*listener)(void *context, unsigned topics), void *context);

enum store_mode { STORE_READ, STORE_WRITE };

struct store_task {
    struct store_task *next; /* the store's */
    enum store_mode mode;
    bool urgent;  /* it goes before all that are not: a caller waits at a door */
    bool lengthy; /* a read that may take long: it waits for others like it, and none but those waits for it */
    enum err (*run)(struct store_task *task, struct db *db);
    /* On a store thread, after the commit (or the roll-back): hands the job back to its owner. */
    void (*done)(struct store_task *task, enum err result);
};

/* Any thread. The job must stay alive until done. */
void store_submit(struct store *s, struct store_task *task);
/* Runs one job and waits for it: for threads that may block (jobs, admin, tests). */
enum err store_run(struct store *s, enum store_mode mode, enum err (*run)(void *arg, struct db *db), void *arg) CHECKED;
/* The same for a write that is urgent. */
enum err store_run_urgent(struct store *s, enum err (*run)(void *arg, struct db *db), void *arg) CHECKED;

/* A read session for the calling thread alone, or NULL where reads have to be submitted (PostgreSQL).
 * It keeps a snapshot open across reads and renews it when a commit has happened since, so that a read sees every
 * write that was acknowledged before it began; store_session_idle ends the snapshot (call before sleeping). */
struct db *store_session_new(struct store *s);
void store_session_free(struct db *db);
/* Before each request's first statement on a read session. */
enum err store_session_begin(struct db *db) CHECKED;
void store_session_idle(struct db *db);

/* ---- statements ---- */

/* Parameters in order: DB_ARGS(v_str(a), v_int(b)). */
struct db_args {
    const struct val *v;
    size_t n;
};
#define DB_ARGS(...)                                                                                                   \
    ((struct db_args){(const struct val[]){__VA_ARGS__},                                                               \
                      sizeof((const struct val[]){__VA_ARGS__}) / sizeof(struct val)})
#define DB_NO_ARGS ((struct db_args){NULL, 0})

/* The rows of one running statement; at most one cursor per statement and session at a time. */
struct cursor {
    struct db *db;
    void *stmt; /* sqlite3_stmt or PGresult */
    int row;
};
#define CURSOR __attribute__((cleanup(db_end))) struct cursor

/* Runs a statement that returns no rows. ret_changed may be NULL. */
enum err db_exec(struct db *db, enum sql statement, struct db_args args, int64_t *ret_changed) CHECKED;
/* Starts a statement that returns rows. End the cursor with db_end (CURSOR does it). */
enum err db_query(struct db *db, enum sql statement, struct db_args args, struct cursor *ret) CHECKED;
/* The next row: ERR_NONE with *ret_more. */
enum err db_next(struct cursor *c, bool *ret_more) CHECKED;
/* Starts a statement and takes its first row: ERR_NOT_FOUND if there is none. */
enum err db_one(struct db *db, enum sql statement, struct db_args args, struct cursor *ret) CHECKED;
void db_end(struct cursor *c);

/* Columns of the current row, numbered by the enumerators COL_<LIST>_<COLUMN> and COL_<STATEMENT>_<COLUMN> of sql.h.
 * Text and blobs are valid until the next db_next or db_end. NULL reads as 0, STR_NONE. */
bool col_null(const struct cursor *c, int i);
int64_t col_int(const struct cursor *c, int i);
struct str col_str(const struct cursor *c, int i);
struct str col_blob(const struct cursor *c, int i);

/* To be told to the store's listener after the commit: bits of enum store_topic. */
void db_notify(struct db *db, unsigned topics);

/* ---- whole database ---- */

/* What the schema's version is, and what this program wants. */
enum err store_versions(struct store *s, int *ret_have, int *ret_want) CHECKED;
/* Whether this process alone uses the data (SQLite): caches of committed data can then be exact. */
bool store_exclusive(const struct store *s);
