/* The PostgreSQL engine's insides, shared by its files.
 *
 * A pool of workers, each a thread with a connection of its own, takes jobs of either mode from one queue, urgent ones
 * first; one worker takes nothing else. Nothing is shared between workers but that queue and the turn of writes that
 * keep losing races. */
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

/* A statement as one connection has prepared it, at its first use. */
struct postgresql_statement {
    bool prepared;
    unsigned char args;
    Oid types[SQL_PARAMS_MAX];
};

struct postgresql_store;

/* A connection, which is made again when it is lost. */
struct postgresql_db {
    struct db base;
    struct postgresql_store *store;
    PGconn *conn;
    enum store_mode mode; /* of the running transaction */
    bool begun;           /* BEGIN was sent: it goes with the first statement */
    bool broken;          /* the connection must be made anew */
    char state[6];        /* SQLSTATE of the last failure */
    /* The running transaction's mark, see postgresql_transaction.c. */
    bool marks; /* write transactions leave one */
    int64_t worker, mark, marks_forgotten;
    /* Since when there is no connection (0: there is one), and when to try next. */
    int64_t down_since_us, retry_at_us;
    struct postgresql_statement statements[SQL_COUNT];
};

struct postgresql_worker {
    pthread_t thread;
    bool running;
    bool reserved; /* for urgent jobs */
    struct postgresql_db db;
};

struct postgresql_tasks {
    struct store_task *oldest, **newest;
};

struct postgresql_store {
    struct store base;
    char *dsn;
    pthread_mutex_t mutex; /* of the queue and `stop` */
    pthread_cond_t wake, wake_reserved;
    struct postgresql_tasks urgent, others;
    unsigned overtaken; /* urgent jobs since one of the others was taken */
    bool stop;
    pthread_rwlock_t writes; /* held by each write transaction: shared, or alone after lost races */
    size_t worker_count;
    struct postgresql_worker workers[];
};

/* ---- postgresql_connection.c ---- */
/* One attempt. On failure the connection has the reason. */
bool postgresql_connect(struct postgresql_db *db) CHECKED;
void postgresql_disconnect(struct postgresql_db *db);
/* A connection that works, waiting for one if it was lost a short while ago; false: there is none. */
bool postgresql_connected(struct postgresql_db *db) CHECKED;
/* Whether the store is closing. */
bool postgresql_stopping(struct postgresql_store *s);

/* ---- postgresql_control.c ---- */
/* Runs BEGIN, COMMIT and the like. The caller clears the result. */
PGresult *postgresql_control(struct postgresql_db *db, enum postgresql_control control) CHECKED;
/* The same as the next command of a pipeline. */
bool postgresql_send_control(struct postgresql_db *db, enum postgresql_control control) CHECKED;
/* Takes note of a failure: complains unless it is to be tried again, and returns what the transaction's error is. */
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
/* Runs a body in a transaction, again if it lost a race or the connection; the result is final. */
enum err postgresql_run(struct postgresql_db *db, enum store_mode mode, enum err (*run)(void *, struct db *),
                        void *arg) CHECKED;
/* From now on write transactions leave a mark. */
void postgresql_marks_start(struct postgresql_db *db);
/* Deletes marks that nobody will ask for: the connection's own from time to time; those of processes long gone. */
void postgresql_marks_forget(struct postgresql_db *db);
void postgresql_marks_expire(struct postgresql_db *db);
/* The arguments of the running transaction's mark. */
#define POSTGRESQL_MARK_ARGS(db) DB_ARGS(v_int((db)->worker), v_int((db)->mark), v_time(clock_real_us()))
