/* The store: sessions, transactions and named statements on one of two engines, SQLite or PostgreSQL.
 *
 * A statement and a transaction are the same for a caller with both engines. All SQL is in store/sql/<group>.sql, one
 * statement per name. `enum sql` (SQL_<NAME>), the arguments and the rows of each statement are generated from it by
 * scripts/sqlgen.awk (store/statement.h). The text is the same for both engines, unless a statement has the overrides
 * `-- name: x (sqlite)` and `-- name: x (postgresql)`.
 *
 * Writes are tasks. The body of a task runs on a store thread, in a transaction that commits before task->done is
 * called. With SQLite, a body has a savepoint in the transaction of its batch, on the only writer thread. With
 * PostgreSQL, it has a SERIALIZABLE transaction on the connection of a worker. A body may run more than once: after a
 * lost race, after a lost connection, and a read when it runs a second statement. It must change only the database, and
 * state that it resets when it begins. If it returns an error, its changes are rolled back. A body that must report an
 * error and keep its changes returns ERR_NONE and stores the error in its result. */
#pragma once
#include "base/arena.h"
#include "base/config.h"
#include "base/id.h"
#include "base/val.h"
#include "sql.h" /* generated: enum sql, struct args_… and struct row_… */

struct store; /* the process's store */
struct db;    /* one session: a connection on one thread, inside a transaction while a body runs */

enum store_schema {
    STORE_AS_IS = false,  /* an older schema is refused */
    STORE_MIGRATE = true, /* is brought up to date, unless a service is running whose program could not use it then */
    STORE_MIGRATE_ALONE,  /* the same, but unless a service with an earlier program is running at all */
    STORE_MIGRATE_KEPT    /* as STORE_MIGRATE, after a SQLite store was copied to portero.db.before-migration */
};

/* Opens the store and takes the lock of the data directory (SQLite), which must exist; fails with ERR_USAGE if another
 * process has it, or because of the schema. A newer schema is used as it is if it admits this program. Fails with
 * ERR_SERVICE_UNAVAILABLE if the database does not answer, is read-only or has no connection left: it may be there a
 * moment later. ret_why as in config_load. */
enum err store_open(const struct config *c, enum store_schema schema, struct store **ret, char **ret_why) CHECKED;
/* Opens the store for store_look_run alone, next to a running service or without one: takes no lock and changes
 * nothing. It must not be started. Fails as store_open does with STORE_AS_IS. */
enum err store_look(const struct config *c, struct store **ret, char **ret_why) CHECKED;
/* Fails as store_open would because of the schema or of the room to migrate it, next to a running service or without
 * one. */
enum err store_admits(const struct config *c, enum store_schema schema, char **ret_why) CHECKED;
/* Runs a body that reads, on the calling thread. */
enum err store_look_run(struct store *s, enum err (*run)(void *arg, struct db *db), void *arg) CHECKED;
/* Starts the store's threads. */
enum err store_start(struct store *s) CHECKED;
/* Announces that the process stops: tasks still run, but no longer wait for a server that does not answer. */
void store_wind_down(struct store *s);
/* Finishes all submitted tasks, copies the WAL into the database, and closes it. */
void store_close(struct store *s);

/* Changes that the listener is notified of. */
enum store_topic {
    TOPIC_JOBS = 1,       /* a row of table `job` is due */
    TOPIC_DELIVERIES = 2, /* a webhook delivery is due, or was canceled */
    TOPIC_KEYS = 4,       /* data that authentication reads: keys, accounts, buildings, subscriptions */
    TOPIC_NOTICES = 8,    /* a notice was recorded, or is to be pushed */
    TOPIC_FEED = 16,      /* the feeds of some buildings have grown */
    TOPIC_DOORS = 32      /* numbers of buildings, or the phones that they ring */
};

#define STORE_FED_MAX 64

/* The buildings whose feeds have grown, and the accounts whose doors have changed, some perhaps twice. */
struct store_fed {
    struct id buildings[STORE_FED_MAX], doors[STORE_FED_MAX];
    size_t count, door_count;
    bool more, all_doors; /* there was no room for all, or they are not known */
};

/* Must be called before store_start. The listener is called on a store thread after each commit with topics, before the
 * `done` of its tasks. It must not block. It may also be called for changes that were rolled back, and is not called
 * for changes by other processes. `fed` is empty without TOPIC_FEED and TOPIC_DOORS. */
void store_listen(struct store *s, void (*listener)(void *context, unsigned topics, const struct store_fed *fed),
                  void *context);

enum store_mode { STORE_READ, STORE_WRITE };

struct store_task {
    struct store_task *next; /* owned by the store, */
    int64_t submitted_us;    /* like these: monotonic, */
    int lane, losses;        /* where it waits, and its lost connections, */
    bool alone;              /* and whether it cannot travel with others */
    enum store_mode mode;
    bool urgent;  /* runs before all tasks that are not urgent: a caller is waiting at a door */
    bool lengthy; /* a read that may take long: runs on a thread for such reads, and delays only those */
    enum err (*run)(struct store_task *task, struct db *db);
    /* Called on a store thread, after the commit or the roll-back. Returns the task to its owner. */
    void (*done)(struct store_task *task, enum err result);
};

/* Any thread. The task must stay alive until `done`, which may be called before this returns. Its result is
 * ERR_SERVICE_UNAVAILABLE if the task cannot run in time, or if it is unknown whether its changes were committed. */
void store_submit(struct store *s, struct store_task *task);
/* When the oldest task that waits was submitted, monotonic; 0: none waits. With SQLite, of the running writes. */
int64_t store_oldest_us(struct store *s);
/* Why commits fail at the moment: a text that never changes, like "the disk is full". NULL: they succeed, as far as is
 * known. A failure counts until a commit has succeeded three seconds later. Any thread. */
const char *store_failing(struct store *s);
/* Logs the version of the library that is the engine, if one is. For a start that is not refused. */
void store_log_library(const struct store *s);
/* Something else about the store that the operator must know: a text that never changes; NULL: nothing. Any thread. */
const char *store_warning(struct store *s);
/* Runs a task and waits for it: for threads that may block. */
enum err store_run(struct store *s, enum store_mode mode, enum err (*run)(void *arg, struct db *db), void *arg) CHECKED;
/* The same for an urgent write. */
enum err store_run_urgent(struct store *s, enum err (*run)(void *arg, struct db *db), void *arg) CHECKED;

/* A read session for the calling thread alone, or NULL where reads must be submitted (PostgreSQL). Its snapshot stays
 * open across reads and is renewed after a commit, so that a read sees every write that was acknowledged before it
 * began. store_session_idle closes the snapshot and must be called before the thread sleeps. */
struct db *store_session_new(struct store *s);
void store_session_free(struct db *db);
/* Must be called before the first statement of each request on a read session. */
enum err store_session_begin(struct db *db) CHECKED;
void store_session_idle(struct db *db);

/* A connection for the calling thread alone, which waits for no task: for heartbeats, and notices of other nodes. NULL
 * where one process has the store. Nothing is connected until the first run. */
struct db *store_own_new(struct store *s);
void store_own_free(struct db *db);
/* Runs a body whose statements each commit by themselves (READ COMMITTED). Connects if necessary, and never tries
 * again: after a failure it is unknown whether the statement took effect. */
enum err store_own_run(struct db *db, enum err (*run)(void *arg, struct db *db), void *arg) CHECKED;
/* Waits for notices on the channel portero_feed by other processes, until there are some, wake_fd can be read or
 * wait_ms are over. *ret_anew: notices sent before now may not have been heard. Connects if necessary. Fails if
 * the server, asked again every 15 s, does not answer. */
enum err store_own_hear(struct db *db, int wake_fd, int wait_ms, void (*heard)(void *context, struct str text),
                        void *context, bool *ret_anew) CHECKED;
/* The reason why the last run failed, in the words of the server or the library: for the operator. */
const char *store_own_failure(const struct db *db);

/* ---- statements ---- */

/* The rows of a running statement. A session has at most one cursor per statement at a time. */
struct cursor {
    struct db *db;
    void *stmt; /* sqlite3_stmt or PGresult */
    int row;
    int statement; /* enum sql */
};
/* Ends itself. Declare it after every return that comes before its statement: the end of a cursor that no statement has
 * begun is undefined. */
#define CURSOR __attribute__((cleanup(db_end))) struct cursor

/* A statement whose answer is known already, unless something has changed. `holds` is called with its first row, or
 * NULL if it has none, and returns whether the answer is as expected. */
struct db_assumption {
    const struct db_call *call;
    bool (*holds)(void *context, const struct cursor *row);
    void *context;
};
/* Must be called before the first statement of a body, and only if the store is not exclusive (PostgreSQL). The
 * statement runs before the body's first one, in the same round trip, or after the body if that runs no statement. If
 * the assumption does not hold, nothing of this run counts, and the body runs again; `holds` must see to it that it
 * does not assume the same again. So a task whose result is returned has not relied on anything that was no longer true
 * when the task was submitted. *a must stay alive until the body ends. */
void db_assume(struct db *db, const struct db_assumption *a);

/* Runs a statement that returns no rows: db_exec(db, SQL(key_revoke, .account_id = …, …), NULL). ret_changed may be
 * NULL; then a failure may be reported by a later call, or by the result of the transaction. */
enum err db_exec(struct db *db, const struct db_call *call, int64_t *ret_changed) CHECKED;
/* Starts a statement that returns rows. The cursor must be ended with db_end (CURSOR does it). */
enum err db_query(struct db *db, const struct db_call *call, struct cursor *ret) CHECKED;
/* Moves to the next row; *ret_more is false after the last one. */
enum err db_next(struct cursor *c, bool *ret_more) CHECKED;
/* Starts a statement and moves to its first row. Fails with ERR_NOT_FOUND if it returns no row. */
enum err db_one(struct db *db, const struct db_call *call, struct cursor *ret) CHECKED;
void db_end(struct cursor *c);

/* Adds topics (bits of enum store_topic) to the topics that the listener is notified of after the commit. */
void db_notify(struct db *db, unsigned topics);
/* The same for TOPIC_FEED and a building. */
void db_fed(struct db *db, const struct id *building);
/* The same for TOPIC_DOORS and an account; NULL: any. */
void db_doors(struct db *db, const struct id *account);

/* ---- whole database ---- */

/* The reason why the store takes long to open, or NULL: for a start that must say what it waits for. Any thread. */
const char *store_waits_for(void);

/* The version of the schema, and the version that this program needs. */
enum err store_versions(struct store *s, int *ret_have, int *ret_want) CHECKED;
/* A body's part: whether the schema, version *ret_version, is one that this program may use (see store_open). */
enum err store_fits(struct db *db, int *ret_version, bool *ret_fits) CHECKED;
/* Whether this process alone uses the data (SQLite): caches of committed data can be exact then. */
bool store_exclusive(const struct store *s);
