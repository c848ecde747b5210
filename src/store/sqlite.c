/* The SQLite engine: one file in the data directory, one process at a time. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/backup.h"
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

enum err sqlite_lock_directory(const char *dir, int *ret_fd, char **ret_why)
{
    char *path = mem_printf("%s/portero.lock", dir);
    enum err e = ERR_NONE;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        e = refuse_errno(ret_why, path);
    } else if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        e = errno == EWOULDBLOCK
                ? err_why(ret_why, ERR_USAGE, "data directory %s is in use by another portero process", dir)
                : refuse_errno(ret_why, path);
        close(fd);
        fd = -1;
    }
    free(path);
    *ret_fd = fd;
    return e;
}

/* The lock file has a line in it once the data directory has a database. */
static bool is_marked(const struct sqlite_store *s)
{
    struct stat found;
    return fstat(s->lock_fd, &found) == 0 && found.st_size > 0;
}

static void mark(const struct sqlite_store *s)
{
    static const char line[] = "portero.db\n";
    if (!is_marked(s) && write(s->lock_fd, line, sizeof line - 1) < 0)
        store_log_error("mark in portero.lock", errno, strerrordesc_np(errno));
}

static off_t size_in(const char *dir, const char *name)
{
    struct stat found;
    char *path = mem_printf("%s/%s", dir, name);
    const off_t size = stat(path, &found) == 0 ? found.st_size : 0;
    free(path);
    return size;
}

/* Whether the data directory had a database before. Stores of earlier versions have no mark, but in the sandbox they
 * have the key that the service made. */
static bool had_database(const struct sqlite_store *s, const struct config *c)
{
    const bool own_key = !c->secrets_master_key || !*c->secrets_master_key;
    return is_marked(s) || (own_key && size_in(c->top_data_dir, "master.key") > 0);
}

static enum err refuse_lost(const struct sqlite_store *s, char **ret_why)
{
    return err_why(ret_why, ERR_USAGE,
                   "%s is missing or empty, but this data directory had a database: restore it, with its -wal file if "
                   "there is one; to begin with an empty store, remove master.key and all portero.* from the data "
                   "directory",
                   s->path);
}

/* SQLite deletes a WAL without a database, so that must not get as far as SQLite. A new database is never empty while
 * it has a WAL. */
static enum err check_found(struct sqlite_store *s, const struct config *c, char **ret_why)
{
    const char *dir = c->top_data_dir;
    if (size_in(dir, "portero.db") > 0 || (size_in(dir, "portero.db-wal") == 0 && !had_database(s, c)))
        return ERR_NONE;
    return refuse_lost(s, ret_why);
}

/* SQLite gives its other files the mode of the database file, so this file is created here. */
static enum err make_database(struct sqlite_store *s, const char *dir, char **ret_why)
{
    if (size_in(dir, "portero.db") > 0)
        return ERR_NONE;
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

/* ---- a full disk ---- */

/* Without a service, the database has neither WAL nor index of it. To read it takes some room, for which this file is
 * given up. Nothing but its size matters. */
#define RESERVE_BYTES (1 << 20)

static char *reserve_path(const struct sqlite_store *s)
{
    return mem_printf("%.*s.reserve", (int)(strlen(s->path) - strlen(".db")), s->path);
}

static void keep_reserve(const struct sqlite_store *s)
{
    char *path = reserve_path(s);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && posix_fallocate(fd, 0, RESERVE_BYTES))
        (void)unlink(path);
    if (fd >= 0)
        close(fd);
    free(path);
}

static bool give_reserve(const struct sqlite_store *s)
{
    char *path = reserve_path(s);
    const bool given = unlink(path) == 0;
    free(path);
    return given;
}

static bool disk_is_full(const char *dir)
{
    struct statvfs found;
    return statvfs(dir, &found) == 0 && found.f_bavail * found.f_frsize < RESERVE_BYTES;
}

/* Fails with ERR_SERVICE_UNAVAILABLE on a full disk: there may be room a moment later. SQLite, which logs each failure,
 * is not asked again before. */
static enum err connect_writer(struct sqlite_store *s, const char *dir, char **ret_why)
{
    static const char full_disk[] = "the disk is full";
    const bool waits = store_waits_for() == full_disk && disk_is_full(dir);
    bool connected = !waits && !sqlite_connect(s, false, &s->writer.db);
    const bool full = !connected && disk_is_full(dir);
    if (full && !waits && give_reserve(s))
        connected = !sqlite_connect(s, false, &s->writer.db);
    store_note_wait(full && !connected ? full_disk : NULL);
    if (connected)
        return ERR_NONE;
    return full ? err_why(ret_why, ERR_SERVICE_UNAVAILABLE, "%s cannot be opened: %s", s->path, full_disk)
                : err_why(ret_why, ERR_USAGE, "%s cannot be opened as a database (see the log)", s->path);
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
    free(s->wal_path);
    free(s);
}

static struct sqlite_store *store_new(char *path)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, configure_library);
    struct sqlite_store *s = mem_new(struct sqlite_store);
    s->base.engine = &sqlite_engine;
    s->lock_fd = -1;
    s->path = path;
    s->wal_path = mem_printf("%s-wal", path);
    atomic_init(&s->commits, 1);
    pthread_mutex_init(&s->sessions_mutex, NULL);
    return s;
}

static enum err sqlite_look(const struct config *c, struct store **ret, char **ret_why)
{
    if (size_in(c->top_data_dir, "portero.db") == 0)
        return err_why(ret_why, ERR_USAGE, "%s/portero.db: not found, or empty", c->top_data_dir);
    struct sqlite_store *s = store_new(mem_printf("%s/portero.db", c->top_data_dir));
    s->looks = true;
    *ret = &s->base;
    return ERR_NONE;
}

static enum err sqlite_open(const struct config *c, struct store **ret, char **ret_why)
{
    struct sqlite_store *s = store_new(mem_printf("%s/portero.db", c->top_data_dir));
    enum err e = sqlite_lock_directory(c->top_data_dir, &s->lock_fd, ret_why);
    if (!e)
        e = check_found(s, c, ret_why);
    if (!e)
        e = make_database(s, c->top_data_dir, ret_why);
    if (!e)
        e = connect_writer(s, c->top_data_dir, ret_why);
    if (!e && had_database(s, c) && sqlite_has_no_table(s->writer.db)) /* a copy without its WAL */
        e = refuse_lost(s, ret_why);
    if (e) {
        sqlite_close(&s->base);
        return e;
    }
    *ret = &s->base;
    return ERR_NONE;
}

enum err sqlite_memory(struct store **ret)
{
    struct sqlite_store *s = store_new(mem_strdup(":memory:"));
    s->looks = true; /* of a file that is attached */
    enum err e = sqlite_connect(s, false, &s->writer.db);
    if (e)
        sqlite_close(&s->base);
    else
        *ret = &s->base;
    return e;
}

/* The WAL-reset bug (sqlite_checkpoint.c). */
static bool has_reset_bug(int version)
{
    return version < 3051003 && !(version >= 3050007 && version < 3051000) &&
           !(version >= 3044006 && version < 3045000);
}

static void sqlite_log_library(void)
{
    if (has_reset_bug(sqlite3_libversion_number()))
        log_warn(
            "sqlite version=%s advice=\"let no other program write or checkpoint the database while the service runs\"",
            sqlite3_libversion());
    else
        log_info("sqlite version=%s", sqlite3_libversion());
}

static enum err sqlite_start(struct store *base)
{
    struct sqlite_store *s = (struct sqlite_store *)base;
    mark(s);
    keep_reserve(s);
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

static int64_t sqlite_oldest_us(struct store *base)
{
    return atomic_load_explicit(&((struct sqlite_store *)base)->writer.oldest_us, memory_order_relaxed);
}

static enum err sqlite_migrate(struct store *base, enum err (*run)(void *, struct db *), void *arg)
{
    return sqlite_transact(base, STORE_WRITE, run, arg);
}

static char *kept_path(const struct sqlite_store *s)
{
    return mem_printf("%s.before-migration", s->path);
}

/* For the copy, which replaces an earlier one, and again for what the migrations write. */
static enum err sqlite_room(struct store *base, char **ret_why)
{
    const struct sqlite_store *s = (const struct sqlite_store *)base;
    struct stat database, wal, kept;
    struct statvfs disk;
    if (stat(s->path, &database) < 0 || statvfs(s->path, &disk) < 0)
        return refuse_errno(ret_why, s->path);
    char *path = kept_path(s);
    const int64_t kept_bytes = stat(path, &kept) == 0 ? kept.st_size : 0;
    const int64_t wal_bytes = stat(s->wal_path, &wal) == 0 ? wal.st_size : 0;
    const int64_t needed = 2 * (database.st_size + wal_bytes);
    const int64_t room = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize + kept_bytes;
    free(path);
    if (room >= needed)
        return ERR_NONE;
    return err_why(ret_why, ERR_IO, "a copy and the migration of %s need %lld KiB, and the disk has %lld: free some",
                   s->path, (long long)(needed / 1024), (long long)(room / 1024));
}

static enum err sqlite_keep(struct store *base, char **ret_why)
{
    const struct sqlite_store *s = (const struct sqlite_store *)base;
    struct backup copy;
    char *path = kept_path(s);
    store_note_wait("the database is being copied");
    enum err e = sqlite_room(base, ret_why);
    if (!e && unlink(path) < 0 && errno != ENOENT)
        e = refuse_errno(ret_why, path);
    if (!e)
        e = backup_write(s->path, path, &copy, ret_why);
    store_note_wait(NULL);
    if (!e)
        log_info("store copied to=%s schema=%d bytes=%lld", path, copy.schema, (long long)copy.bytes);
    free(path);
    return e;
}

const struct engine sqlite_engine = {
    .open = sqlite_open,
    .look = sqlite_look,
    .start = sqlite_start,
    .close = sqlite_close,
    .submit = sqlite_submit,
    .oldest_us = sqlite_oldest_us,
    .transact = sqlite_transact,
    .migrate = sqlite_migrate,
    .room = sqlite_room,
    .keep = sqlite_keep,
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
    .log_library = sqlite_log_library,
    .exclusive = true,
    .word_int = "INTEGER",
    .word_blob = "BLOB",
    .word_clustered = "STRICT, WITHOUT ROWID",
    .word_desc = "DESC",
    .word_bytes = {"portero_bytes(", ")"},
    .word_hash = {"portero_hash(", ")"},
    .word_sqlite = {"", ""},
    .word_postgresql = {"/*", "*/"},
};
