/* The parts of the PostgreSQL engine, shared by its files.
 *
 * A pool of workers, each a thread with a connection, takes tasks of both modes from one queue, urgent tasks first. One
 * worker takes urgent tasks alone. Workers share only that queue and the lock for writes that keep losing races. */
#pragma once
#include <libpq-fe.h>
#include <pthread.h>

#include "store/engine.h"

enum postgresql_control {
    PG_BEGIN_READ,
    PG_BEGIN_WRITE,
    PG_BEGIN_PLAIN,
    PG_COMMIT,
    PG_ROLLBACK,
    PG_LOCK_TIMEOUT,
    PG_DURABLE,
    PG_CONTROL_COUNT
};

/* A statement that a connection prepares at its first use. */
struct postgresql_statement {
    bool prepared;
    unsigned char args;
    Oid types[SQL_PARAMS_MAX];
};

struct postgresql_store;

/* A connection, with its reconnection after a loss. */
struct postgresql_db {
    struct db base;
    struct postgresql_store *store;
    PGconn *conn;
    enum store_mode mode; /* of the running transaction */
    bool migrates;        /* its transactions are READ COMMITTED */
    bool begun;           /* BEGIN was sent, together with the first statement */
    bool broken;          /* the connection must be replaced */
    bool late;            /* it is broken because the server did not answer until `until_us` */
    int64_t until_us;     /* monotonic: waits for the server end */
    int64_t answer_us;    /* the longest wait in one attempt */
    char state[6];        /* SQLSTATE of the last failure */
    /* The mark of the running transaction, see postgresql_transaction.c. */
    bool marks; /* write transactions leave a mark */
    int64_t worker, mark, marks_forgotten;
    /* The start of the outage (0: connected), and the time of the next attempt to connect. */
    int64_t down_since_us, retry_at_us;
    struct postgresql_statement statements[SQL_COUNT];
};

struct postgresql_worker {
    pthread_t thread;
    bool running;
    bool reserved; /* for urgent tasks */
    struct postgresql_db db;
};

struct postgresql_tasks {
    struct store_task *oldest, **newest;
};

struct postgresql_store {
    struct store base;
    char *dsn;
    pthread_mutex_t mutex; /* for the queue and `stop` */
    pthread_cond_t wake, wake_reserved;
    struct postgresql_tasks urgent, others;
    unsigned overtaken; /* urgent tasks since the last other task was taken */
    bool stop;
    pthread_rwlock_t writes; /* held by each write transaction: shared, or exclusively after lost races */
    size_t worker_count;
    struct postgresql_worker workers[];
};

/* ---- postgresql_connection.c ---- */
/* Connects once. On failure the connection has the reason. */
bool postgresql_connect(struct postgresql_db *db) CHECKED;
void postgresql_disconnect(struct postgresql_db *db);
/* Makes sure that the connection works; waits during a short outage. Returns false if there is no connection. */
bool postgresql_connected(struct postgresql_db *db) CHECKED;
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
/* Runs BEGIN, COMMIT and so on. The caller clears the result. */
PGresult *postgresql_control(struct postgresql_db *db, enum postgresql_control control) CHECKED;
/* The same, as the next command of a pipeline. */
bool postgresql_send_control(struct postgresql_db *db, enum postgresql_control control) CHECKED;
/* Records a failure, and logs it unless the transaction will run again. Returns the error of the transaction. */
enum err postgresql_failed(struct postgresql_db *db, const char *what, const PGresult *r) CHECKED;

/* ---- postgresql_statement.c ---- */
enum err postgresql_exec(struct db *base, enum sql id, struct db_args args, int64_t *ret_changed) CHECKED;
enum err postgresql_query(struct db *base, enum sql id, struct db_args args, struct cursor *ret) CHECKED;
enum err postgresql_next(struct cursor *c, bool *ret_more) CHECKED;
void postgresql_end(struct cursor *c);
enum err postgresql_script(struct db *base, const char *sql) CHECKED;
bool postgresql_col_null(const struct cursor *c, int i);
int64_t postgresql_col_int(const struct cursor *c, int i);
struct str postgresql_col_bytes(const struct cursor *c, int i, bool blob);

/* ---- postgresql_transaction.c ---- */
/* Runs a body in a transaction, again after a lost race or a lost connection. The result is final. */
enum err postgresql_run(struct postgresql_db *db, enum store_mode mode, enum err (*run)(void *, struct db *),
                        void *arg) CHECKED;
/* Makes later write transactions leave a mark. */
void postgresql_marks_start(struct postgresql_db *db);
/* Delete marks that no worker will ask for: from time to time those of the connection; those of processes that ended
 * long ago. */
void postgresql_marks_forget(struct postgresql_db *db);
void postgresql_marks_expire(struct postgresql_db *db);
/* The arguments for the mark of the running transaction. */
#define POSTGRESQL_MARK_ARGS(db) DB_ARGS(v_int((db)->worker), v_int((db)->mark), v_time(clock_real_us()))
