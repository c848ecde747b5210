/* The SQLite engine: one file in the data directory, one process at a time. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/sqlite.h"

static void configure_library(void)
{
    /* Both fail after another part of the process has used SQLite. Connections are opened NOMUTEX in any case, and the
     * statistics only cost time. */
    (void)sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    (void)sqlite3_initialize();
}

/* ---- the data directory ---- */

static enum err refuse_errno(char **ret_why, const char *path)
{
    return err_why(ret_why, ERR_USAGE, "%s: %s", path, strerrordesc_np(errno));
}

static enum err lock_directory(struct sqlite_store *s, const char *dir, char **ret_why)
{
    char *path = mem_printf("%s/portero.lock", dir);
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

/* SQLite gives its other files the mode of the database file, so this file is created here. */
static enum err make_database(struct sqlite_store *s, const char *dir, char **ret_why)
{
    s->path = mem_printf("%s/portero.db", dir);
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

static void sqlite_close(struct store *base)
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

static enum err sqlite_open(const struct config *c, struct store **ret, char **ret_why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, configure_library);
    struct sqlite_store *s = mem_new(struct sqlite_store);
    s->base.engine = &sqlite_engine;
    s->lock_fd = -1;
    atomic_init(&s->commits, 1);
    pthread_mutex_init(&s->sessions_mutex, NULL);
    enum err e = lock_directory(s, c->top_data_dir, ret_why);
    if (!e)
        e = make_database(s, c->top_data_dir, ret_why);
    if (!e && sqlite_connect(s, false, &s->writer.db))
        e = err_why(ret_why, ERR_USAGE, "%s cannot be opened as a database (see the log)", s->path);
    if (e) {
        sqlite_close(&s->base);
        return e;
    }
    *ret = &s->base;
    return ERR_NONE;
}

static enum err sqlite_start(struct store *base)
{
    struct sqlite_store *s = (struct sqlite_store *)base;
    enum err e = sqlite_checkpointer_start(s);
    if (!e)
        e = sqlite_writer_start(s);
    return e ? e : sqlite_readers_start(s);
}

static void sqlite_submit(struct store *base, struct store_task *task)
{
    struct sqlite_store *s = (struct sqlite_store *)base;
    struct sqlite_reader *reader = task->lengthy ? &s->lengthy_reader : &s->reader;
    task_queue_push(task->mode == STORE_WRITE ? &s->writer.queue : &reader->queue, task);
}

const struct engine sqlite_engine = {
    .open = sqlite_open,
    .start = sqlite_start,
    .close = sqlite_close,
    .submit = sqlite_submit,
    .transact = sqlite_transact,
    .read = sqlite_read,
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
