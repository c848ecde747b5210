/* The parts of the SQLite engine, shared by its files.
 *
 * Threads: the writer, which makes all changes; the checkpointer, which copies the WAL into the database while the
 * writer continues; two readers, which run submitted reads, one of them lengthy reads alone; and the threads that own a
 * read session. Each thread has its own connection; they share struct sqlite_store. */
#pragma once
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>

#include "store/engine.h"
#include "store/task_queue.h"

enum sqlite_control {
    CONTROL_BEGIN,
    CONTROL_BEGIN_WRITE,
    CONTROL_COMMIT,
    CONTROL_ROLLBACK,
    CONTROL_SAVEPOINT,
    CONTROL_SAVEPOINT_RELEASE,
    CONTROL_SAVEPOINT_ROLLBACK,
    CONTROL_DATA_VERSION,
    CONTROL_COUNT
};

/* A statement that a connection prepares at its first use. */
struct sqlite_statement {
    sqlite3_stmt *handle;
    bool open; /* has a cursor */
    unsigned char slots;
    int columns;
    unsigned char arg_of[SQL_PARAMS_MAX]; /* SQLite numbers $N by first appearance: slot i takes argument arg_of[i] */
};

struct sqlite_store;

#define SQLITE_BUSY_MS 2000 /* an operator's sqlite3 shell may hold the write lock for a moment */

/* A connection. */
struct sqlite_db {
    struct db base;
    struct sqlite_store *store;
    sqlite3 *handle;
    sqlite3_stmt *control[CONTROL_COUNT];
    struct sqlite_statement statements[SQL_COUNT];
    enum err failure; /* of the last call that failed */
    /* Used by sessions: */
    struct sqlite_db *next;       /* in the store's list of all sessions */
    struct sqlite_db *next_spare; /* in its list of unused sessions */
    _Atomic uint64_t snapshot;    /* the commit counter when its transaction began; 0: no transaction */
};

/* The thread whose turn it is in a checkpoint. Only the owner of a state may leave it. */
enum checkpoint_turn {
    CHECKPOINT_QUIET,      /* the writer: starts a round when the WAL has grown */
    CHECKPOINT_BACKGROUND, /* the checkpointer: copies as much as it can */
    CHECKPOINT_FINISH      /* the writer: copies the rest, so that the WAL starts over */
};

struct sqlite_checkpointer {
    pthread_t thread;
    bool running;
    struct sqlite_db *db;
    struct parker parker;
    _Atomic bool stop;
    _Atomic int turn;       /* enum checkpoint_turn */
    _Atomic int wal_frames; /* at the last commit; set by the writer */
    _Atomic int copied;     /* frames of the WAL that are in the database, as the last copy found */
    _Atomic bool offered;   /* a lengthy read waits for an attempt to finish */
    _Atomic bool unsynced;  /* a sync of the database failed: no more checkpoints */
    /* Used by the writer: */
    int round_at;        /* the length of the WAL that starts a round */
    int tries;           /* attempts to finish this round */
    int64_t again_us;    /* the earliest time of the next attempt or round */
    bool behind;         /* there was a commit since the WAL was truncated */
    int64_t truncate_us; /* a round that truncates it starts so long after the first of them, */
    int64_t truncate_at; /* which is then */
};

struct sqlite_writer {
    _Atomic int64_t oldest_us; /* when the first task of the running batch was submitted; 0: none runs */
    pthread_t thread;
    bool running;
    struct sqlite_db *db;
    struct task_queue queue;
    _Atomic bool stop;
    bool committed;  /* the running transaction has reached the WAL */
    bool failing;    /* the last batch failed to commit */
    bool lost;       /* the files were removed or replaced: no more commits */
    int64_t version; /* sqlite_data_version() of the last transaction; 0: none yet */
};

struct sqlite_reader {
    pthread_t thread;
    bool running, lengthy;
    struct sqlite_store *store;
    struct task_queue queue;
    _Atomic bool stop;
};

struct sqlite_store {
    struct store base;
    int lock_fd;
    bool looks; /* next to a running service: closing must not end the WAL */
    char *path, *wal_path;
    _Atomic uint64_t commits; /* counts commits, from 1; incremented after each, before its tasks are done */
    struct sqlite_writer writer;
    struct sqlite_checkpointer checkpointer;
    struct sqlite_reader reader, lengthy_reader;
    pthread_mutex_t sessions_mutex;
    struct sqlite_db *sessions, *spare;
};

/* ---- sqlite.c ---- */
/* Takes the lock of the data directory until *ret_fd is closed; -1 on failure. ret_why as in store_open. */
enum err sqlite_lock_directory(const char *dir, int *ret_fd, char **ret_why) CHECKED;

/* Opens an empty store in memory, not started; the caller closes it. */
enum err sqlite_memory(struct store **ret) CHECKED;

/* ---- sqlite_connection.c ---- */
/* Prepares a connection for a file that others may have written: no function with an effect outside of the file runs
 * for its schema, none of its views is read, and no statement can write its schema or pages past SQLite. Returns the
 * result code of SQLite. */
int sqlite_distrust(sqlite3 *handle);
enum err sqlite_connect(struct sqlite_store *s, bool reads_only, struct sqlite_db **ret) CHECKED;
void sqlite_disconnect(struct sqlite_db *db);

/* ---- sqlite_statement.c ---- */
/* Runs BEGIN, COMMIT and so on; returns the result code of SQLite. */
int sqlite_control(struct sqlite_db *db, enum sqlite_control control);
/* In a transaction: a number that changes with each commit of another connection; 0 on failure. */
int64_t sqlite_data_version(struct sqlite_db *db);
/* Logs the last error of the connection. */
void sqlite_log_error(const struct sqlite_db *db, const char *what);
/* The same for a call whose task fails by it, with the returned error: ERR_SERVICE_UNAVAILABLE for troubles of the disk
 * or with other programs, which may pass. */
enum err sqlite_failed(struct sqlite_db *db, const char *what);
void sqlite_finalize_all(struct sqlite_db *db);
enum err sqlite_exec(struct db *base, const struct db_call *call, int64_t *ret_changed) CHECKED;
enum err sqlite_query(struct db *base, const struct db_call *call, struct cursor *ret) CHECKED;
enum err sqlite_next(struct cursor *c, bool *ret_more) CHECKED;
void sqlite_end(struct cursor *c);
bool sqlite_col_null(const struct cursor *c, int i);
int64_t sqlite_col_int(const struct cursor *c, int i);
struct str sqlite_col_bytes(const struct cursor *c, int i, bool blob);

/* ---- sqlite_script.c ---- */
enum err sqlite_script(struct db *base, const char *sql) CHECKED;
/* Whether the database is empty; false if it cannot be read. */
bool sqlite_has_no_table(struct sqlite_db *db);
/* Rewrites the file, each table in one piece, if more than a quarter of it is free. If that fails (the disk is full),
 * the file stays unchanged and usable. */
void sqlite_compact(struct store *base);

/* ---- sqlite_writer.c ---- */
enum err sqlite_writer_start(struct sqlite_store *s) CHECKED;
/* Finishes all submitted tasks first. */
void sqlite_writer_stop(struct sqlite_store *s);
/* Runs a body in its own transaction on the writer's connection. Must not be called while the writer runs. */
enum err sqlite_transact(struct store *base, enum store_mode mode, enum err (*run)(void *, struct db *),
                         void *arg) CHECKED;

/* ---- sqlite_checkpoint.c ---- */
enum err sqlite_checkpointer_start(struct sqlite_store *s) CHECKED;
void sqlite_checkpointer_stop(struct sqlite_store *s);
/* The part of the writer, between transactions. */
void sqlite_checkpoint_step(struct sqlite_store *s);
/* The time after which the writer must take its next step even if no task comes; negative: none. */
int64_t sqlite_checkpoint_wait_us(struct sqlite_store *s);
/* Notes a commit of the writer. */
void sqlite_checkpoint_note(struct sqlite_store *s, int wal_frames);
/* Called by the thread of lengthy reads before each: lets the writer finish a checkpoint that readers delay. */
void sqlite_checkpoint_offer(struct sqlite_store *s);
/* Copies the whole WAL and truncates it. */
void sqlite_checkpoint_final(struct sqlite_store *s);

/* ---- sqlite_session.c ---- */
struct db *sqlite_session_new(struct store *base);
void sqlite_session_free(struct db *db);
enum err sqlite_session_begin(struct db *base) CHECKED;
void sqlite_session_idle(struct db *base);
/* Runs a read on the calling thread, in an unused session. */
enum err sqlite_read(struct store *base, enum err (*run)(void *, struct db *), void *arg) CHECKED;
void sqlite_spare_sessions_free(struct sqlite_store *s);
/* Whether every open snapshot is at least as new as this count of commits. */
bool sqlite_sessions_reached(struct sqlite_store *s, uint64_t commits);
/* Makes every read on an older snapshot fail. */
void sqlite_sessions_interrupt(struct sqlite_store *s, uint64_t commits);

/* ---- sqlite_reader.c ---- */
enum err sqlite_readers_start(struct sqlite_store *s) CHECKED;
void sqlite_readers_stop(struct sqlite_store *s);
