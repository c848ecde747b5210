/* The SQLite engine: one file in the data directory, one process at a time. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sqlite.h"

#define BUSY_MS 2000 /* an operator's sqlite3 shell may hold the write lock for a moment */

static const char connection_pragmas[] = "PRAGMA journal_mode=WAL;"
                                         "PRAGMA synchronous=FULL;"
                                         "PRAGMA wal_autocheckpoint=0;"
                                         "PRAGMA journal_size_limit=67108864;"
                                         "PRAGMA mmap_size=2147418112;"
                                         "PRAGMA cache_size=-65536;"
                                         "PRAGMA secure_delete=ON;"
                                         "PRAGMA foreign_keys=ON;";

static void configure_library(void)
{
    /* Both are refused once somebody else in the process has used SQLite: connections are opened NOMUTEX in any case,
     * and the statistics only cost time. */
    (void)sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    (void)sqlite3_initialize();
}

/* ---- connections ---- */

enum err sqlite_connect(struct sqlite_store *s, bool reads_only, struct sqlite_db **ret)
{
    struct sqlite_db *db = calloc(1, sizeof *db);
    if (!db)
        return ERR_IO;
    db->base.engine = &sqlite_engine;
    db->store = s;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(s->path, &db->handle, flags, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_busy_timeout(db->handle, BUSY_MS);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db->handle, connection_pragmas, NULL, NULL, NULL);
    if (rc == SQLITE_OK && reads_only)
        rc = sqlite3_exec(db->handle, "PRAGMA query_only=ON", NULL, NULL, NULL);
    if (rc != SQLITE_OK) {
        sqlite_complain(db, "open of the database");
        sqlite_disconnect(db);
        return ERR_IO;
    }
    *ret = db;
    return ERR_NONE;
}

void sqlite_disconnect(struct sqlite_db *db)
{
    sqlite_finalize_all(db);
    int rc = sqlite3_close(db->handle);
    assert(rc == SQLITE_OK && "a statement outlived its connection");
    (void)rc;
    free(db);
}

/* ---- the data directory ---- */

static enum err refuse_errno(char **ret_why, const char *path)
{
    return err_why(ret_why, ERR_USAGE, "%s: %s", path, strerrordesc_np(errno));
}

static enum err make_directory(const char *dir, char **ret_why)
{
    if (mkdir(dir, 0700) < 0 && errno != EEXIST)
        return refuse_errno(ret_why, dir);
    return ERR_NONE;
}

static enum err lock_directory(struct sqlite_store *s, const char *dir, char **ret_why)
{
    char *path;
    if (asprintf(&path, "%s/portero.lock", dir) < 0)
        return ERR_IO;
    enum err e = ERR_NONE;
    s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (s->lock_fd < 0)
        e = refuse_errno(ret_why, path);
    else if (flock(s->lock_fd, LOCK_EX | LOCK_NB) < 0)
        e = errno == EWOULDBLOCK
                ? err_why(ret_why, ERR_USAGE, "data directory %s is in use by another portero process", dir)
                : refuse_errno(ret_why, path);
    free(path);
    return e;
}

/* SQLite gives its other files the mode of the database file; so that one is made here. */
static enum err make_database(struct sqlite_store *s, const char *dir, char **ret_why)
{
    if (asprintf(&s->path, "%s/portero.db", dir) < 0) {
        s->path = NULL;
        return ERR_IO;
    }
    int fd = open(s->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return refuse_errno(ret_why, s->path);
    close(fd);
    int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0 || fsync(dir_fd) < 0) {
        enum err e = refuse_errno(ret_why, dir);
        if (dir_fd >= 0)
            close(dir_fd);
        return e;
    }
    close(dir_fd);
    return ERR_NONE;
}

/* ---- the engine ---- */

static void close_store(struct store *base)
{
    struct sqlite_store *s = (struct sqlite_store *)base;
    sqlite_readers_stop(s);
    sqlite_writer_stop(s);
    sqlite_checkpointer_stop(s);
    sqlite_spare_sessions_free(s);
    if (s->writer.db) {
        sqlite_checkpoint_final(s);
        sqlite_disconnect(s->writer.db);
    }
    pthread_mutex_destroy(&s->sessions_mutex);
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    free(s->path);
    free(s);
}

static enum err open_store(const struct config *c, struct store **ret, char **ret_why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, configure_library);
    struct sqlite_store *s = calloc(1, sizeof *s);
    if (!s)
        return err_why(ret_why, ERR_USAGE, "out of memory");
    s->base.engine = &sqlite_engine;
    s->lock_fd = -1;
    atomic_init(&s->commits, 1);
    pthread_mutex_init(&s->sessions_mutex, NULL);
    enum err e = make_directory(c->top_data_dir, ret_why);
    if (!e)
        e = lock_directory(s, c->top_data_dir, ret_why);
    if (!e)
        e = make_database(s, c->top_data_dir, ret_why);
    if (!e && sqlite_connect(s, false, &s->writer.db))
        e = err_why(ret_why, ERR_USAGE, "%s cannot be opened as a database (the log says why)", s->path);
    if (e) {
        close_store(&s->base);
        return e;
    }
    *ret = &s->base;
    return ERR_NONE;
}

static enum err start(struct store *base)
{
    struct sqlite_store *s = (struct sqlite_store *)base;
    enum err e = sqlite_checkpointer_start(s);
    if (!e)
        e = sqlite_writer_start(s);
    return e ? e : sqlite_readers_start(s);
}

static void submit(struct store *base, struct store_task *job)
{
    struct sqlite_store *s = (struct sqlite_store *)base;
    struct sqlite_reader *reader = job->lengthy ? &s->lengthy_reader : &s->reader;
    task_queue_push(job->mode == STORE_WRITE ? &s->writer.queue : &reader->queue, job);
}

/* One row "ok", or what is wrong. */
static int check_row(void *arg, int n, char **values, char **names)
{
    (void)names;
    bool *good = arg;
    *good = n == 1 && values[0] && strcmp(values[0], "ok") == 0;
    if (!*good)
        store_complain("integrity check", SQLITE_CORRUPT, n == 1 && values[0] ? values[0] : "no answer");
    return *good ? 0 : 1;
}

static enum err check(struct store *base)
{
    struct sqlite_db *db;
    bool good = false;
    if (sqlite_connect((struct sqlite_store *)base, true, &db))
        return ERR_INTERNAL_ERROR;
    int rc = sqlite3_exec(db->handle, "PRAGMA integrity_check(1)", check_row, &good, NULL);
    sqlite_disconnect(db);
    return rc == SQLITE_OK && good ? ERR_NONE : ERR_INTERNAL_ERROR;
}

const struct engine sqlite_engine = {
    .open = open_store,
    .start = start,
    .close = close_store,
    .submit = submit,
    .transact = sqlite_transact,
    .read = sqlite_read,
    .check = check,
    .compact = sqlite_compact,
    .session_new = sqlite_session_new,
    .session_free = sqlite_session_free,
    .session_begin = sqlite_session_begin,
    .session_idle = sqlite_session_idle,
    .exec = sqlite_exec,
    .query = sqlite_query,
    .next = sqlite_next,
    .end = sqlite_end,
    .script = sqlite_script,
    .col_null = sqlite_col_null,
    .col_int = sqlite_col_int,
    .col_bytes = sqlite_col_bytes,
    .exclusive = true,
    .word_int = "INTEGER",
    .word_blob = "BLOB",
    .word_clustered = "STRICT, WITHOUT ROWID",
    .word_desc = "DESC",
    .word_bytes = {"portero_bytes(", ")"},
    .word_hash = {"portero_hash(", ")"},
};
