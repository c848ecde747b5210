#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "store/follow.h"
#include "store/restore.h"
#include "store/schema_check.h"
#include "store/seal.h"
#include "store/sqlite.h"

#define PORTION (1 << 20)

struct restore {
    char *database, *wal, *shm; /* of the data directory */
    char *staging, *staged;     /* a directory, and the database in it */
    int lock_fd;
    bool sealed;
    int64_t until_us, at_us; /* of a directory: asked, and found; 0: the copy is a file */
};

static enum err fail_errno(char **ret_why, const char *path)
{
    return err_why(ret_why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
}

static bool has_content(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && found.st_size > 0;
}

/* ---- staging ---- */

/* Removes the files of a store, and nothing else. */
static void remove_staged(const struct restore *r)
{
    static const char *const names[] = {"portero.db",         "portero.db-wal", "portero.db-shm",
                                        "portero.db-journal", "portero.lock",   "portero.reserve"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = mem_printf("%s/%s", r->staging, names[i]);
        (void)unlink(path);
        free(path);
    }
    (void)rmdir(r->staging);
}

static enum err write_all(int fd, const char *p, size_t n, const char *path, char **ret_why)
{
    while (n > 0) {
        const ssize_t put = write(fd, p, n);
        if (put < 0)
            return fail_errno(ret_why, path);
        p += put;
        n -= (size_t)put;
    }
    return ERR_NONE;
}

static enum err copy_descriptor(int from, int to, const char *file, const struct restore *r, char **ret_why)
{
    char *portion = mem_bytes(PORTION);
    enum err e = ERR_NONE;
    ssize_t n;
    while (!e && (n = read(from, portion, PORTION)) != 0)
        e = n < 0 ? fail_errno(ret_why, file) : write_all(to, portion, (size_t)n, r->staged, ret_why);
    free(portion);
    return !e && fsync(to) < 0 ? fail_errno(ret_why, r->staged) : e;
}

/* Makes the file of the staged store, which `write` fills. */
static enum err fill_staged(enum err (*write)(int to, const char *file, struct restore *r, char **ret_why),
                            const char *file, struct restore *r, char **ret_why)
{
    const int to = open(r->staged, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    const bool ours = to >= 0 && file_give_away(to, r->database);
    const enum err e = ours ? write(to, file, r, ret_why) : fail_errno(ret_why, r->staged);
    if (to >= 0)
        close(to);
    return e;
}

static enum err copy_file(int to, const char *file, struct restore *r, char **ret_why)
{
    const int from = open(file, O_RDONLY | O_CLOEXEC);
    if (from < 0)
        return fail_errno(ret_why, file);
    const enum err e = copy_descriptor(from, to, file, r, ret_why);
    close(from);
    return e;
}

static enum err rebuild(int to, const char *directory, struct restore *r, char **ret_why)
{
    return follow_rebuild(directory, r->until_us, to, &r->at_us, ret_why);
}

/* Runs SQL that returns one text, in `ret`. Returns the result code of SQLite. */
static int read_text(sqlite3 *db, const char *sql, char *ret, size_t size)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    const char *text = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    snprintf(ret, size, "%s", text ? text : "");
    sqlite3_finalize(stmt);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* ---- the check of a copy, which is at `path` and has the name `file` for a person ---- */

static enum err check_integrity(const char *path, const char *file, char **ret_why)
{
    sqlite3 *db = NULL;
    char found[256] = "";
    int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite_distrust(db);
    if (rc == SQLITE_OK)
        rc = read_text(db, "PRAGMA integrity_check(1)", found, sizeof found);
    enum err e = ERR_NONE;
    if (rc != SQLITE_OK)
        e = err_why(ret_why, ERR_IO, "%s: not a copy of a store: %s", file, sqlite3_errmsg(db));
    else if (strcmp(found, "ok") != 0)
        e = err_why(ret_why, ERR_IO, "%s: damaged: %s", file, found);
    sqlite3_close(db);
    return e;
}

static enum err check_schema(const char *path, const char *file, char **ret_why)
{
    char *why = NULL;
    enum err e = schema_check(path, &why);
    if (e)
        e = err_why(ret_why, e, "%s: %s%s", file, e == ERR_USAGE ? "" : "not a copy of a store: ", why);
    free(why);
    return e;
}

static enum err check_copy(const char *path, const char *file, struct seal *ret, char **ret_why)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(ret_why, file);
    enum err e = seal_check(fd, file, ret, ret_why);
    close(fd);
    if (!e)
        e = check_schema(path, file, ret_why);
    return e ? e : check_integrity(path, file, ret_why);
}

enum err restore_check(const char *file, bool *ret_sealed, char **ret_why)
{
    struct seal seal = {0};
    const enum err e = check_copy(file, file, &seal, ret_why);
    *ret_sealed = seal.sealed;
    return e;
}

static enum err stage(struct restore *r, const char *file, char **ret_why)
{
    struct seal seal = {0};
    struct stat found;
    remove_staged(r); /* of an interrupted one */
    if (mkdir(r->staging, 0700) < 0)
        return fail_errno(ret_why, r->staging);
    const bool directory = stat(file, &found) == 0 && S_ISDIR(found.st_mode);
    enum err e = fill_staged(directory ? rebuild : copy_file, file, r, ret_why);
    if (!e)
        e = check_copy(r->staged, file, &seal, ret_why);
    r->sealed = seal.sealed || directory;
    return !e && truncate(r->staged, seal.bytes) < 0 ? fail_errno(ret_why, r->staged) : e;
}

static enum err refuse(const struct restore *r, const char *file, bool force, char **ret_why)
{
    char *wal = mem_printf("%s-wal", file);
    const bool live = has_content(wal);
    free(wal);
    if (live)
        return err_why(ret_why, ERR_USAGE,
                       "%s has a write-ahead log next to it, so it is not a copy made by porterod backup: start the "
                       "service on these two files, and make one",
                       file);
    if (!force && (has_content(r->database) || has_content(r->wal)))
        return err_why(ret_why, ERR_USAGE, "%s: already exists; with --force it is kept under another name",
                       r->database);
    return ERR_NONE;
}

enum err restore_begin(const struct config *c, const char *file, int64_t until_us, bool force, struct restore **ret,
                       char **ret_why)
{
    struct restore *r = mem_new(struct restore);
    const char *dir = c->top_data_dir;
    r->until_us = until_us;
    r->database = mem_printf("%s/portero.db", dir);
    r->wal = mem_printf("%s/portero.db-wal", dir);
    r->shm = mem_printf("%s/portero.db-shm", dir);
    r->staging = mem_printf("%s/restoring", dir);
    r->staged = mem_printf("%s/portero.db", r->staging);
    enum err e = sqlite_lock_directory(dir, &r->lock_fd, ret_why);
    if (!e && !file_give_away(r->lock_fd, r->database))
        e = fail_errno(ret_why, r->database);
    if (!e)
        e = refuse(r, file, force, ret_why);
    if (!e)
        e = stage(r, file, ret_why);
    if (e) {
        restore_free(r);
        return e;
    }
    *ret = r;
    return ERR_NONE;
}

const char *restore_staged(const struct restore *r)
{
    return r->staging;
}

bool restore_is_sealed(const struct restore *r)
{
    return r->sealed;
}

bool restore_moment(const struct restore *r, int64_t *ret_at_us)
{
    *ret_at_us = r->at_us;
    return r->at_us != 0;
}

void restore_free(struct restore *r)
{
    if (!r)
        return;
    if (r->lock_fd >= 0) {
        remove_staged(r);
        close(r->lock_fd);
    }
    free(r->database);
    free(r->wal);
    free(r->shm);
    free(r->staging);
    free(r->staged);
    free(r);
}

/* ---- in place of the store ---- */

/* Copies the WAL into the database that is there, so that it is one file. A damaged one keeps its WAL. */
static void settle(const struct restore *r)
{
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(r->database, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
    sqlite3_close(db); /* removes the WAL */
    (void)rc;
}

/* A name that no file has. */
static char *aside_name(const struct restore *r)
{
    char text[32];
    struct tm at;
    struct stat found;
    const time_t at_s = (time_t)(clock_real_us() / US_PER_S);
    gmtime_r(&at_s, &at);
    strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &at);
    char *name = mem_printf("%s.before-%s", r->database, text);
    for (int n = 2; lstat(name, &found) == 0; n++) {
        free(name);
        name = mem_printf("%s.before-%s-%d", r->database, text, n);
    }
    return name;
}

/* A database with a WAL that could not be copied into it is of no use to the service as it is, and the new one must not
 * meet that WAL. Until the new one is in place, the service refuses to start. */
static enum err move_with_wal(const struct restore *r, const char *aside, char **ret_why)
{
    char *aside_wal = mem_printf("%s-wal", aside);
    enum err e = ERR_NONE;
    if ((has_content(r->database) && rename(r->database, aside) < 0) || rename(r->wal, aside_wal) < 0)
        e = fail_errno(ret_why, aside);
    free(aside_wal);
    return e;
}

/* Gives the store that is there a second name, so that the next rename replaces it whole. */
static enum err keep_aside(const struct restore *r, const char *aside, char **ret_why)
{
    if (has_content(r->wal))
        return move_with_wal(r, aside, ret_why);
    if (link(r->database, aside) < 0 && rename(r->database, aside) < 0)
        return fail_errno(ret_why, aside);
    return ERR_NONE;
}

enum err restore_commit(struct restore *r, char **ret_aside, char **ret_why)
{
    char *aside = NULL;
    enum err e = ERR_NONE;
    if (has_content(r->database))
        settle(r);
    if (has_content(r->database) || has_content(r->wal)) {
        aside = aside_name(r);
        e = keep_aside(r, aside, ret_why);
    }
    if (!e && !file_sync_directory_of(r->database))
        e = fail_errno(ret_why, r->database);
    if (!e) {
        (void)unlink(r->wal); /* empty */
        (void)unlink(r->shm);
        if (rename(r->staged, r->database) < 0 || !file_sync_directory_of(r->database))
            e = fail_errno(ret_why, r->database);
    }
    if (e)
        free(aside);
    else
        *ret_aside = aside;
    return e;
}
