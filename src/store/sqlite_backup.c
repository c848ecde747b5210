/* Copies of the database while another process writes to it.
 *
 * SQLite's backup begins again whenever another process has committed between two of its steps, so on a busy store it
 * never ends. Here one read transaction stays open around all steps: the copy is the database as it was at the first
 * one. The running service cannot start its WAL over meanwhile, so the WAL grows by what is written during the copy.
 *
 * The copy goes to the disk in small portions, each followed by a pause of at most its own length, so that the
 * commits of the service do not wait behind hundreds of megabytes. */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/wait.h"
#include "store/backup.h"
#include "store/page_log.h"
#include "store/seal.h"
#include "store/sql_table.h"

#define STEP_PAGES  256           /* 1 MiB */
#define PAUSE_MOST  (10 * 1000)   /* us */
#define WAL_MOST    (256LL << 20) /* a longer one: no more pauses */
#define CHECK_STEPS 100000        /* steps of SQLite's machine between pauses of the check: about a millisecond */
#define BUSY_MS     10000
#define NICE        5 /* where processors are short, the service comes first */

struct copy {
    const char *from_path, *path; /* of the copy, before it gets its name */
    char *wal_path;
    sqlite3 *from, *to;
    int fd; /* of the copy */
    char **ret_why;
};

/* The process ends. */
static atomic_bool interrupted;

void backup_interrupt(void)
{
    atomic_store_explicit(&interrupted, true, memory_order_relaxed);
}

static bool is_interrupted(void)
{
    return atomic_load_explicit(&interrupted, memory_order_relaxed);
}

static enum err fail_errno(const struct copy *c, const char *path)
{
    return err_why(c->ret_why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
}

static enum err fail_sqlite(const struct copy *c, const char *path, sqlite3 *db, int rc)
{
    const char *reason = db && sqlite3_errcode(db) != SQLITE_OK ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
    return err_why(c->ret_why, ERR_IO, "%s: %s", path, reason);
}

/* ---- pace ---- */

static void pause_after(const struct copy *c, int64_t began_us)
{
    struct stat wal;
    const int64_t took_us = clock_monotonic_us() - began_us;
    if (stat(c->wal_path, &wal) < 0 || wal.st_size < WAL_MOST)
        sleep_for_us(took_us < PAUSE_MOST ? took_us : PAUSE_MOST);
}

/* Sends what was written to the disk, without waiting for a commit of the file system's journal. */
static bool write_back(const struct copy *c)
{
    const unsigned how = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    return sync_file_range(c->fd, 0, 0, how) == 0 || errno == ESPIPE || errno == ENOSYS || errno == EINVAL;
}

/* ---- the copy ---- */

static enum err copy_pages(struct copy *c)
{
    sqlite3_backup *backup = sqlite3_backup_init(c->to, "main", c->from, "main");
    if (!backup)
        return fail_sqlite(c, c->path, c->to, sqlite3_errcode(c->to));
    int rc = SQLITE_OK;
    bool written = true;
    while (rc == SQLITE_OK && written && !is_interrupted()) {
        const int64_t began_us = clock_monotonic_us();
        rc = sqlite3_backup_step(backup, STEP_PAGES);
        written = write_back(c);
        pause_after(c, began_us);
    }
    const enum err e = written ? ERR_NONE : fail_errno(c, c->path);
    const int ended = sqlite3_backup_finish(backup);
    if (e || rc == SQLITE_DONE)
        return e;
    return is_interrupted() ? err_why(c->ret_why, ERR_IO, "%s: the process ends", c->path)
                            : fail_sqlite(c, c->path, c->to, ended ? ended : rc);
}

/* Without its own journal: an interrupted copy is discarded. A small cache, so that the pages go to the file at once.
 */
static const char to_pragmas[] = "PRAGMA journal_mode=OFF;"
                                 "PRAGMA synchronous=OFF;"
                                 "PRAGMA cache_size=64;"
                                 "PRAGMA locking_mode=EXCLUSIVE;";

/* Opening the store must not end its WAL. Reading the schema begins the snapshot. */
static enum err open_from(struct copy *c)
{
    int rc = sqlite3_open_v2(c->from_path, &c->from, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(c->from, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_busy_timeout(c->from, BUSY_MS);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(c->from, "PRAGMA query_only=ON; PRAGMA cache_size=64; BEGIN; SELECT * FROM sqlite_schema",
                          NULL, NULL, NULL);
    return rc == SQLITE_OK ? ERR_NONE : fail_sqlite(c, c->from_path, c->from, rc);
}

static enum err open_to(struct copy *c)
{
    int rc = sqlite3_open_v2(c->path, &c->to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(c->to, to_pragmas, NULL, NULL, NULL);
    return rc == SQLITE_OK ? ERR_NONE : fail_sqlite(c, c->path, c->to, rc);
}

/* ---- the check of the copy ---- */

static int pause_check(void *began)
{
    int64_t *began_us = began;
    const int64_t took_us = clock_monotonic_us() - *began_us;
    sleep_for_us(took_us < PAUSE_MOST ? took_us : PAUSE_MOST);
    *began_us = clock_monotonic_us();
    return is_interrupted();
}

/* Reads the first column of the first row into `ret`; "" if there is no row. */
static enum err read_first(const struct copy *c, const char *sql, const char *parameter, char *ret, size_t size)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(c->to, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK && parameter)
        rc = sqlite3_bind_text(stmt, 1, parameter, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    const char *text = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    snprintf(ret, size, "%s", text ? text : "");
    const enum err e = rc == SQLITE_ROW || rc == SQLITE_DONE ? ERR_NONE : fail_sqlite(c, c->path, c->to, rc);
    sqlite3_finalize(stmt);
    return e;
}

/* Makes the copy one file, without a WAL, and reads all of it. */
static enum err check_copy(struct copy *c, struct backup *ret)
{
    char mode[16], found[256], schema[16];
    int64_t began_us = clock_monotonic_us();
    sqlite3_progress_handler(c->to, CHECK_STEPS, pause_check, &began_us);
    enum err e = read_first(c, "PRAGMA journal_mode=DELETE", NULL, mode, sizeof mode);
    if (!e)
        e = read_first(c, "PRAGMA quick_check(1)", NULL, found, sizeof found);
    if (!e && strcmp(found, "ok") != 0)
        e = err_why(c->ret_why, ERR_IO, "%s: the copy is damaged, as is perhaps the store: %s", c->path, found);
    if (!e)
        e = read_first(c, sql_table[SQL_SCHEMA_VERSION].sqlite, NULL, schema, sizeof schema);
    if (!e)
        e = read_first(c, sql_table[SQL_SETTING_GET].sqlite, "master_key", ret->check, sizeof ret->check);
    if (!e)
        ret->schema = (int)strtol(schema, NULL, 10);
    return e;
}

/* ---- the file ---- */

/* A second copy to the same name waits for nothing: it is refused. */
static enum err create_partial(struct copy *c)
{
    c->fd = open(c->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (c->fd < 0)
        return fail_errno(c, c->path);
    if (flock(c->fd, LOCK_EX | LOCK_NB) < 0)
        return errno == EWOULDBLOCK ? err_why(c->ret_why, ERR_IO, "%s: another backup is writing this file", c->path)
                                    : fail_errno(c, c->path);
    return ftruncate(c->fd, 0) < 0 || fchmod(c->fd, 0600) < 0 ? fail_errno(c, c->path) : ERR_NONE;
}

static enum err name_copy(const struct copy *c, const char *path, struct backup *ret)
{
    struct stat made;
    if (!file_give_away(c->fd, path) || fsync(c->fd) < 0 || fstat(c->fd, &made) < 0)
        return fail_errno(c, c->path);
    ret->bytes = made.st_size;
    return rename(c->path, path) < 0 || !file_sync_directory_of(path) ? fail_errno(c, path) : ERR_NONE;
}

static enum err seal_copy(const struct copy *c)
{
    int64_t began_us = clock_monotonic_us();
    return seal_write(c->fd, pause_check, &began_us) ? fail_errno(c, c->path) : ERR_NONE;
}

/* Closing our descriptor would release SQLite's locks on the copy, so SQLite is closed first. */
static enum err copy_to(struct copy *c, const char *path, struct backup *ret)
{
    enum err e = open_from(c);
    if (!e)
        e = open_to(c);
    if (!e)
        e = copy_pages(c);
    sqlite3_close(c->from);
    if (!e)
        e = check_copy(c, ret);
    sqlite3_close(c->to);
    if (!e)
        e = seal_copy(c);
    return e ? e : name_copy(c, path, ret);
}

enum err backup_write(const char *from, const char *path, struct backup *ret, char **ret_why)
{
    char *partial = mem_printf("%s" BACKUP_PARTIAL, path);
    struct copy c = {
        .from_path = from, .path = partial, .wal_path = mem_printf("%s-wal", from), .fd = -1, .ret_why = ret_why};
    enum err e = create_partial(&c);
    if (!e) {
        e = copy_to(&c, path, ret);
        if (e)
            (void)unlink(partial);
    }
    if (c.fd >= 0)
        close(c.fd);
    free(c.wal_path);
    free(partial);
    return e;
}

enum err backup_make(const struct config *c, const char *path, struct backup *ret, char **ret_why)
{
    struct stat found;
    char *from = mem_printf("%s/portero.db", c->top_data_dir);
    enum err e = ERR_NONE;
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    if (stat(from, &found) < 0)
        e = err_why(ret_why, ERR_IO, "%s: %s", from, strerrordesc_np(errno));
    else if (lstat(path, &found) == 0)
        e = err_why(ret_why, ERR_IO, "%s: already exists", path);
    else
        e = backup_write(from, path, ret, ret_why);
    free(from);
    return e;
}

/* ---- the pages that changed ---- */

static enum err write_changed_pages(struct copy *c, struct page_sums *sums, const struct seal_sum *after,
                                    uint32_t *ret_changed)
{
    struct page_log log;
    enum err e = open_from(c);
    if (e)
        return e;
    int rc = page_log_open(&log, c->fd, sums, &c->to);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(c->to, to_pragmas, NULL, NULL, NULL);
    e = rc == SQLITE_OK ? copy_pages(c) : fail_sqlite(c, c->path, c->to, rc);
    sqlite3_close(c->to);
    sqlite3_close(c->from);
    if (!e && page_log_finish(&log, after))
        e = fail_errno(c, c->path);
    page_log_close(&log);
    *ret_changed = log.changed;
    return e;
}

enum err backup_changes(const char *from, const char *path, struct page_sums *sums, const struct seal_sum *after,
                        struct seal_sum *ret_sum, bool *ret_changed, char **ret_why)
{
    char *partial = mem_printf("%s" BACKUP_PARTIAL, path);
    struct copy c = {
        .from_path = from, .path = partial, .wal_path = mem_printf("%s-wal", from), .fd = -1, .ret_why = ret_why};
    struct backup made;
    uint32_t changed = 0;
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    enum err e = create_partial(&c);
    if (!e)
        e = write_changed_pages(&c, sums, after, &changed);
    *ret_changed = changed > 0;
    if (!e && changed) {
        e = seal_copy(&c);
        if (!e && !seal_read(c.fd, ret_sum))
            e = fail_errno(&c, c.path);
        if (!e)
            e = name_copy(&c, path, &made);
    }
    if (c.fd >= 0) {
        if (e || !changed)
            (void)unlink(partial);
        close(c.fd);
    }
    free(c.wal_path);
    free(partial);
    return e;
}

/* ---- the last one ---- */

static char *last_path(const struct config *c)
{
    return mem_printf("%s/last_backup", c->top_data_dir);
}

enum err backup_note_last(const struct config *c, const char *path, int64_t at_us, char **ret_why)
{
    char at[TIME_TEXT_MAX];
    char *last = last_path(c);
    time_format(at_us, at);
    char *line = mem_printf("%s %s\n", at, path);
    enum err e = ERR_NONE;
    const int fd = file_replace(last, line, strlen(line)) ? open(last, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (fd < 0 || !file_give_away(fd, last))
        e = err_why(ret_why, ERR_IO, "%s: %s", last, strerrordesc_np(errno));
    if (fd >= 0)
        close(fd);
    free(line);
    free(last);
    return e;
}

bool backup_read_last(const struct config *c, int64_t *ret_at_us)
{
    char line[TIME_TEXT_MAX];
    char *last = last_path(c);
    FILE *file = fopen(last, "re");
    free(last);
    if (!file)
        return false;
    const size_t n = fread(line, 1, TIME_TEXT_MAX - 1, file);
    fclose(file);
    return time_parse((struct str){line, n}, ret_at_us);
}

/* ---- a directory of copies ---- */

char *backup_path(const char *directory, const char *prefix, int64_t at_us, const char *end)
{
    char text[32];
    struct tm at;
    const time_t at_s = (time_t)(at_us / US_PER_S);
    gmtime_r(&at_s, &at);
    strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &at);
    return mem_printf("%s/%s-%s%s", directory, prefix, text, end);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

GPtrArray *backup_list(const char *directory, const char *pattern)
{
    GPtrArray *found = g_ptr_array_new_with_free_func(g_free);
    GDir *d = g_dir_open(directory, 0, NULL);
    const char *name;
    while (d && (name = g_dir_read_name(d)))
        if (g_pattern_match_simple(pattern, name))
            g_ptr_array_add(found, g_build_filename(directory, name, NULL));
    if (d)
        g_dir_close(d);
    g_ptr_array_sort(found, by_name);
    return found;
}

static void discard_partial(const char *partial)
{
    const int fd = open(partial, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        (void)unlink(partial);
    close(fd);
}

void backup_discard_partials(const char *directory, const char *pattern)
{
    GPtrArray *found = backup_list(directory, pattern);
    for (guint i = 0; i < found->len; i++)
        discard_partial(found->pdata[i]);
    g_ptr_array_free(found, TRUE);
}
