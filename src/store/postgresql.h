/* The parts of the PostgreSQL engine, shared by its files.
 *
 * A pool of workers, each a thread with a connection, takes tasks of both modes from one queue (postgresql_queue.c). A
 * worker that has lost its connection puts its task back and takes no other until it is connected again. One worker
 * takes urgent tasks alone. Workers share only the queue and the lock for writes that keep losing races. */
#pragma once
#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>

#include "store/engine.h"

enum postgresql_control { PG_BEGIN_READ, PG_BEGIN_WRITE, PG_BEGIN_PLAIN, PG_COMMIT, PG_ROLLBACK, PG_CONTROL_COUNT };

/* A statement that a connection prepares at its first use. */
struct postgresql_statement {
    bool prepared;
    bool followed; /* others have followed it when it was the first of a read */
    Oid types[SQL_PARAMS_MAX];
};

struct postgresql_store;

#define POSTGRESQL_READ_ONLY     "the database server is read-only" /* a reason of store_failing() */
#define POSTGRESQL_SENT_MAX      64
#define POSTGRESQL_TOGETHER_MOST 8 /* reads in one round trip */

/* A connection. */
struct postgresql_db {
    struct db base;
    struct postgresql_store *store;
    PGconn *conn;
    enum store_mode mode; /* of the running transaction */
    bool migrates;        /* its transactions are READ COMMITTED */
    bool begun;           /* BEGIN was sent, together with the first statement */
    bool defers;          /* statements whose results are not needed may wait for the next one, or COMMIT */
    bool broken;          /* the connection must be replaced */
    bool late;            /* it is broken because the server did not answer until `until_us` */
    bool blocked;         /* the transaction met a lock that was not released in time */
    bool in_doubt;        /* the answer to its COMMIT was lost, or said that no standby has confirmed it */
    bool warned;          /* the server sent a warning */
    bool commits;         /* the answer may wait for a standby: its lateness does not mean that the server hangs */
    bool listens;         /* LISTEN was sent on this connection, */
    int64_t listened_us;  /* the last time then */
    bool patient;         /* waits for locks as long as `store.lock_timeout_s` says; others only for a moment */
    bool unlimited;       /* before the start: no limits for statements and locks */
    char state[6];        /* SQLSTATE of the last failure */
    char why[400];        /* its reason, or why the last attempt to connect failed */
    int64_t until_us;     /* monotonic: waits for the server end */
    int64_t answer_us;    /* the longest wait in one attempt */
    int64_t give_up_us;   /* monotonic: after this, no other attempt */
    /* The mark of the running transaction, see postgresql_transaction.c. */
    bool marks; /* write transactions leave a mark */
    int64_t worker, mark, marks_forgotten;
    /* Commands that were sent, and whose results were not collected yet. */
    int sent;
    const char *sent_names[POSTGRESQL_SENT_MAX];
    struct postgresql_statement *alone;     /* the only statement of a read without BEGIN, once it was sent */
    const struct db_assumption *assumption; /* not confirmed yet */
    int assumption_at;                      /* its place among the commands; -1: not sent yet */
    /* Of a running read that travels with others, else NULL: takes each statement (postgresql_together.c). *ret is the
     * result, for the caller to clear; ret is NULL if it is not a query. */
    enum err (*together)(struct postgresql_db *db, const struct db_call *call, PGresult **ret);
    struct postgresql_together *asked; /* the state of that read */
    struct postgresql_statement statements[SQL_COUNT];
};

/* Where tasks wait. */
enum postgresql_lane_name {
    LANE_URGENT,
    LANE_URGENT_BLOCKED, /* met a lock before */
    LANE_READS,
    LANE_WRITES,
    LANE_LENGTHY,
    LANE_BLOCKED,
    LANE_COUNT
};

struct postgresql_lane {
    struct store_task *oldest, *newest;
    size_t running; /* tasks that workers took from it */
};

struct postgresql_worker {
    pthread_t thread;
    bool running;
    bool reserved;  /* for urgent tasks */
    bool connected; /* counted in the store */
    bool yielded;   /* must give its connection away */
    int lane;       /* of its task; LANE_COUNT: none */
    struct postgresql_db db;
};

struct postgresql_store {
    struct store base;
    char *dsn;
    /* of the configuration */
    int64_t wait_us, answer_us;
    size_t waiting_most;
    char statement_timeout[24], lock_timeout[24], idle_timeout[24]; /* "10s" */

    pthread_mutex_t mutex; /* for all below, except atomics */
    pthread_cond_t wake, wake_reserved, wake_clerk, wake_stop;
    struct postgresql_lane lanes[LANE_COUNT];
    size_t waiting;                  /* tasks in all lanes */
    size_t held;                     /* workers that are not reserved, and have a task that may take long */
    unsigned overtaken;              /* urgent tasks since the last other task was taken */
    size_t connected;                /* workers */
    int64_t clerk_at_us;             /* when the clerk looks again */
    bool own_connecting;             /* a caller's own connection could not be made: it comes before the workers', */
    bool own_waiting;                /* and a worker must yield one */
    bool winding_down, stop, closed; /* closed: all workers have ended */
    _Atomic bool silent;             /* the server gave no answer to the last statement or attempt to connect */
    bool several;                    /* servers: another one may take over from one that gives no answer */
    _Atomic bool short_warned;
    _Atomic uint64_t served; /* tasks that ended */
    pthread_t clerk;
    bool clerk_running;

    pthread_rwlock_t writes; /* held by each write transaction: shared, or exclusively after lost races */
    size_t worker_count;
    struct postgresql_worker workers[];
};

/* ---- postgresql_queue.c ---- */
void postgresql_submit(struct store *base, struct store_task *task);
int64_t postgresql_oldest_us(struct store *base);
/* Waits for a task; returns NULL when the store closes and no task is left, or when the worker has to yield its
 * connection. Sets give_up_us. */
struct store_task *postgresql_take(struct postgresql_worker *w);
/* Takes more reads of the lane of the worker's task, if more are waiting than workers will soon take. */
size_t postgresql_take_reads(struct postgresql_worker *w, struct store_task **ret, size_t most) CHECKED;
/* Lets the worker's task wait again; `blocked`: because of a lock. */
void postgresql_put_back(struct postgresql_worker *w, struct store_task *task, bool blocked);
/* Whether the worker's task has met a lock before. */
bool postgresql_is_blocked(const struct postgresql_worker *w);
void postgresql_set_connected(struct postgresql_worker *w, bool connected);
void postgresql_set_silent(struct postgresql_store *s, bool silent);
/* Begins and ends the attempts to make a caller's own connection: a worker must yield its one. */
void postgresql_set_own_connecting(struct postgresql_store *s, bool connecting);
void postgresql_wind_down(struct store *base);
/* The thread that fails tasks that have waited too long, until the store at `arg` is closed and no task is left. */
void *postgresql_clerk(void *arg);

/* ---- postgresql_hosts.c ---- */
/* The parameters of libpq with the addresses of all names in `store.dsn`. NULL: as the string says. */
struct postgresql_servers {
    char *host, *address, *port;
};

/* Resolves the names until a monotonic time. Returns false, and the reason in db->why, if none has an address. *ret
 * must be freed in either case. */
bool postgresql_resolve(struct postgresql_db *db, int64_t until_us, struct postgresql_servers *ret) CHECKED;
void postgresql_servers_free(struct postgresql_servers *s);

/* ---- postgresql_connection.c ---- */
/* Connects once. On failure db->why is the reason. */
bool postgresql_connect(struct postgresql_db *db) CHECKED;
/* After a failure: whether the server has refused this role, password or database, for which waiting does not help.
 * Asks it once more, because libpq has the SQLSTATE only in its text, and there only if it was told before. */
bool postgresql_is_refused(struct postgresql_db *db) CHECKED;
void postgresql_disconnect(struct postgresql_db *db);
/* Makes sure that the connection of a worker works: tries until it does. Returns false when the store closes. */
bool postgresql_keep_connected(struct postgresql_worker *w) CHECKED;
/* The same for a connection of no worker, or with a task in hand: until db->give_up_us. */
bool postgresql_connected(struct postgresql_db *db) CHECKED;
/* The same for a caller's own connection: workers yield one if the server has no other. */
bool postgresql_connect_own(struct postgresql_db *db) CHECKED;
/* Whether the store is closing. */
bool postgresql_stopping(struct postgresql_store *s);

/* ---- postgresql_wait.c ---- */
/* The next result of what was sent (PQgetResult), for the caller to clear. Waits until db->until_us; when that time is
 * over, the connection is broken, and this and all later calls return NULL. */
PGresult *postgresql_result(struct postgresql_db *db) CHECKED;
/* The last result of a command outside of a pipeline. `sent` is what PQsend… returned. NULL if the server did not
 * answer in time, or the command could not be sent. */
PGresult *postgresql_only_result(struct postgresql_db *db, int sent) CHECKED;

/* ---- postgresql_control.c ---- */
/* Sends BEGIN, COMMIT and so on. */
bool postgresql_send_control(struct postgresql_db *db, enum postgresql_control control) CHECKED;
/* Sends the command that lets the transaction wait for locks as long as `store.lock_timeout_s` says. */
int postgresql_send_patience(struct postgresql_db *db) CHECKED;
/* Sets what the server should know about a new connection. */
bool postgresql_settings(struct postgresql_db *db) CHECKED;
/* Keeps a reason in db->why, as one line. */
void postgresql_note_reason(struct postgresql_db *db, const char *reason);
/* Records a failure, and logs it unless the transaction will run again. Returns the error of the transaction. */
enum err postgresql_failed(struct postgresql_db *db, const char *what, const PGresult *r) CHECKED;

/* ---- postgresql_statement.c ---- */
/* Sends a control, to be collected with what follows. `what` names it. */
enum err postgresql_send(struct postgresql_db *db, enum postgresql_control control, const char *what) CHECKED;
/* Collects the results of all that was sent, in one round trip. Fails with the first failure of the transaction.
 * *ret is the last result, for the caller to clear; ret may be NULL. */
enum err postgresql_collect(struct postgresql_db *db, PGresult **ret);
/* Runs BEGIN, COMMIT and so on. The caller clears the result. */
PGresult *postgresql_control(struct postgresql_db *db, enum postgresql_control control) CHECKED;
/* Sends a statement, prepared at need, to be collected with what follows. */
enum err postgresql_send_statement(struct postgresql_db *db, const struct db_call *call) CHECKED;
/* Whether the result is what was assumed, after which nothing is assumed any more. */
bool postgresql_assumption_holds(struct postgresql_db *db, PGresult *r) CHECKED;
void postgresql_assume(struct db *base, const struct db_assumption *a);
/* Asks whether the assumption holds, if it was not sent with a statement. */
enum err postgresql_check_assumption(struct postgresql_db *db) CHECKED;
enum err postgresql_exec(struct db *base, const struct db_call *call, int64_t *ret_changed) CHECKED;
enum err postgresql_query(struct db *base, const struct db_call *call, struct cursor *ret) CHECKED;
enum err postgresql_next(struct cursor *c, bool *ret_more) CHECKED;
void postgresql_end(struct cursor *c);
enum err postgresql_script(struct db *base, const char *sql) CHECKED;
bool postgresql_col_null(const struct cursor *c, int i);
int64_t postgresql_col_int(const struct cursor *c, int i);
struct str postgresql_col_bytes(const struct cursor *c, int i, bool blob);

/* ---- postgresql_together.c ---- */
/* Runs reads in one round trip. ret[i] is ERR_RETRY for a task that must run again, alone. */
void postgresql_run_together(struct postgresql_db *db, struct store_task *const *tasks, size_t count, enum err *ret);

/* ---- postgresql_transaction.c ---- */
/* Runs a body in a transaction, again after a lost race. Returns ERR_RETRY if it must wait before it runs again: the
 * connection was lost, or `blocked`. All other results are final. */
enum err postgresql_run(struct postgresql_db *db, enum store_mode mode, enum err (*run)(void *, struct db *),
                        void *arg) CHECKED;
/* Makes later write transactions leave a mark. */
void postgresql_marks_start(struct postgresql_db *db);
/* Delete marks that no worker will ask for: from time to time the connection's; the marks of processes that ended long
 * ago. */
void postgresql_marks_forget(struct postgresql_db *db);
void postgresql_marks_expire(struct postgresql_db *db);
/* A statement for the mark of the running transaction. */
#define POSTGRESQL_MARK(name, db) SQL(name, .worker = (db)->worker, .mark = (db)->mark, .created_at = clock_real_us())
