#include "store/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/wait.h"
#include "store/backup.h"
#include "store/page_log.h"

#define STAMP_FORM    "%Y%m%dT%H%M%SZ"
#define COPY_PATTERN  "follow-" BACKUP_TIME ".db"
#define PAGES_PATTERN "follow-" BACKUP_TIME ".pages"
#define ANY_PATTERN   "follow-" BACKUP_TIME ".*"
#define AHEAD         ".ahead" /* behind the name of a file that is dated by a clock that was wrong */
#define COPY_EVERY_US (24 * 3600 * US_PER_S)
#define HOUR_US       (3600 * US_PER_S)
#define PORTION       (1 << 20)

struct follower {
    const struct config *config;
    char *from; /* the store's file */
    struct page_sums sums;
    bool follows; /* the sums and the rest describe the last file */
    struct seal_sum last;
    int64_t last_us, copy_us; /* of the last file, and of the last whole copy */
};

/* ---- names ---- */

static int64_t time_of(const char *path)
{
    struct tm at = {0};
    const char *name = strrchr(path, '/');
    strptime((name ? name + 1 : path) + strlen("follow-"), STAMP_FORM, &at);
    return (int64_t)timegm(&at) * US_PER_S;
}

/* ---- reading a chain: a copy and the files behind it ---- */

struct reader {
    enum err (*page)(void *arg, uint32_t number, const void *page, uint32_t size, char **ret_why);
    void *arg;
    struct seal_sum last;
    int64_t copy_us, last_us, bytes; /* bytes of the database at the end */
};

static enum err fail_errno(const char *path, char **ret_why)
{
    return err_why(ret_why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
}

static uint32_t page_size_of(int fd)
{
    unsigned char told[2];
    if (pread(fd, told, sizeof told, 16) != sizeof told)
        return 0;
    const uint32_t size = (uint32_t)told[0] << 8 | told[1];
    return size == 1 ? 65536 : size;
}

static enum err read_copy_pages(struct reader *r, int fd, const char *path, int64_t bytes, char **ret_why)
{
    const uint32_t size =
        page_size_of(fd); /* a power of two: the seal was compared, and says how long the database is */
    if (!size)
        return fail_errno(path, ret_why);
    char *page = mem_bytes(size);
    enum err e = ERR_NONE;
    for (int64_t at = 0; !e && at < bytes; at += size)
        e = pread(fd, page, size, at) == (ssize_t)size ? r->page(r->arg, (uint32_t)(at / size) + 1, page, size, ret_why)
                                                       : fail_errno(path, ret_why);
    free(page);
    return e;
}

static enum err read_copy(struct reader *r, const char *path, char **ret_why)
{
    struct seal seal = {0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(path, ret_why);
    enum err e = seal_check(fd, path, &seal, ret_why);
    if (!e && (!seal.sealed || !seal_read(fd, &r->last)))
        e = err_why(ret_why, ERR_IO, "%s: it has no checksum", path);
    if (!e)
        e = read_copy_pages(r, fd, path, seal.bytes, ret_why);
    close(fd);
    r->copy_us = r->last_us = time_of(path);
    r->bytes = seal.bytes;
    return e;
}

static enum err read_changes(struct reader *r, const char *path, char **ret_why)
{
    struct page_log_head head = {0};
    struct seal_sum sum;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(path, ret_why);
    enum err e = page_log_read_head(fd, path, &head, ret_why);
    if (!e && strcmp(head.after.hex, r->last.hex) != 0)
        e = err_why(ret_why, ERR_IO, "%s: the file before it is missing", path);
    if (!e)
        e = page_log_read(fd, path, &head, r->page, r->arg, ret_why);
    if (!e && !seal_read(fd, &sum))
        e = fail_errno(path, ret_why);
    close(fd);
    if (e)
        return e;
    r->last = sum;
    r->last_us = time_of(path);
    r->bytes = (int64_t)head.pages * head.size;
    return ERR_NONE;
}

/* Reads the newest copy until until_us, and the files behind it. */
static enum err read_chain(struct reader *r, const char *directory, int64_t until_us, char **ret_why)
{
    GPtrArray *copies = backup_list(directory, COPY_PATTERN), *changes = backup_list(directory, PAGES_PATTERN);
    guint n = copies->len;
    while (n > 0 && time_of(copies->pdata[n - 1]) > until_us)
        n--;
    enum err e = n ? read_copy(r, copies->pdata[n - 1], ret_why)
                   : err_why(ret_why, ERR_NOT_FOUND, "%s: no copy from before that time", directory);
    for (guint i = 0; !e && i < changes->len; i++) {
        const int64_t at_us = time_of(changes->pdata[i]);
        if (at_us > r->copy_us && at_us <= until_us)
            e = read_changes(r, changes->pdata[i], ret_why);
    }
    g_ptr_array_free(copies, TRUE);
    g_ptr_array_free(changes, TRUE);
    return e;
}

/* ---- rebuilding ---- */

static enum err rebuild_page(void *arg, uint32_t number, const void *page, uint32_t size, char **ret_why)
{
    const int fd = *(const int *)arg;
    const ssize_t put = pwrite(fd, page, size, (int64_t)(number - 1) * size);
    if (put >= 0 && put < (ssize_t)size)
        errno = ENOSPC;
    return put == (ssize_t)size ? ERR_NONE : fail_errno("the store", ret_why);
}

enum err follow_rebuild(const char *directory, int64_t until_us, int fd, int64_t *ret_at_us, char **ret_why)
{
    static const char plain[] = {1, 1}; /* the header's word that there is no write-ahead log */
    struct reader r = {.page = rebuild_page, .arg = &fd};
    enum err e = read_chain(&r, directory, until_us, ret_why);
    if (!e && (ftruncate(fd, r.bytes) < 0 || pwrite(fd, plain, sizeof plain, 18) != sizeof plain || fsync(fd) < 0))
        e = fail_errno("the store", ret_why);
    *ret_at_us = r.last_us;
    return e;
}

/* ---- following ---- */

struct follower *follower_new(const struct config *config)
{
    struct follower *f = mem_new(struct follower);
    f->config = config;
    f->from = mem_printf("%s/portero.db", config->top_data_dir);
    return f;
}

void follower_free(struct follower *f)
{
    if (!f)
        return;
    page_sums_done(&f->sums);
    free(f->from);
    free(f);
}

static enum err note_page(void *arg, uint32_t number, const void *page, uint32_t size, char **ret_why)
{
    (void)ret_why;
    (void)page_sums_note(arg, number, page, size);
    return ERR_NONE;
}

static void adopt(struct follower *f, const struct reader *r)
{
    f->follows = true;
    f->last = r->last;
    f->last_us = r->last_us;
    f->copy_us = r->copy_us;
}

/* Reads what a run before this one has left. A directory without a copy, or with a damaged one, gets a new one. */
static void resume(struct follower *f)
{
    struct reader r = {.page = note_page, .arg = &f->sums};
    char *why = NULL;
    page_sums_done(&f->sums);
    const enum err e = read_chain(&r, f->config->backup_directory, INT64_MAX, &why);
    if (!e)
        adopt(f, &r);
    else if (e != ERR_NOT_FOUND)
        log_warn("copies not continued next=\"a whole copy\" reason=\"%s\"", why);
    free(why);
}

static enum err copy_whole(struct follower *f, int64_t now_us, char **ret_why)
{
    struct reader r = {.page = note_page, .arg = &f->sums};
    struct backup made;
    char *path = backup_path(f->config->backup_directory, "follow", now_us, ".db");
    page_sums_done(&f->sums);
    enum err e = backup_make(f->config, path, &made, ret_why);
    if (!e)
        e = read_copy(&r, path, ret_why);
    if (!e)
        adopt(f, &r);
    free(path);
    return e;
}

static enum err copy_changes(struct follower *f, int64_t now_us, char **ret_why)
{
    char *path = backup_path(f->config->backup_directory, "follow", now_us, ".pages");
    struct seal_sum sum;
    bool changed;
    f->follows = false;
    enum err e = backup_changes(f->from, path, &f->sums, &f->last, &sum, &changed, ret_why);
    if (!e && changed) {
        f->last = sum;
        f->last_us = now_us;
    }
    f->follows = !e;
    free(path);
    return e;
}

/* Files from later than now were dated by a clock that was ahead. They are no part of what follows, and kept for a
 * person. */
static void set_aside(struct follower *f, int64_t now_us)
{
    GPtrArray *found = backup_list(f->config->backup_directory, ANY_PATTERN);
    for (guint i = 0; i < found->len; i++) {
        const char *path = found->pdata[i];
        if (time_of(path) <= now_us || g_str_has_suffix(path, AHEAD))
            continue;
        char *name = mem_printf("%s" AHEAD, path);
        log_warn("copy set aside file=\"%s\" reason=\"its time has not come: the clock was ahead\"", name);
        (void)rename(path, name);
        free(name);
        f->follows = false;
    }
    g_ptr_array_free(found, TRUE);
}

/* A copy goes, with the files behind it, when the next copy is old enough; a file that was set aside, when its own time
 * is. */
static void delete_chains(const struct follower *f, int64_t now_us)
{
    const int64_t before_us = now_us - f->config->backup_keep_h * HOUR_US;
    GPtrArray *copies = backup_list(f->config->backup_directory, COPY_PATTERN),
              *all = backup_list(f->config->backup_directory, ANY_PATTERN);
    int64_t from_us = INT64_MIN;
    for (guint i = 0; i < copies->len; i++)
        if (time_of(copies->pdata[i]) <= before_us)
            from_us = time_of(copies->pdata[i]);
    for (guint i = 0; i < all->len; i++)
        if (time_of(all->pdata[i]) < from_us)
            (void)unlink(all->pdata[i]);
    g_ptr_array_free(copies, TRUE);
    g_ptr_array_free(all, TRUE);
}

/* The time for the next name. Names have seconds, so two files are at least one second apart. */
static int64_t next_second(const struct follower *f)
{
    int64_t now_us = clock_real_us() / US_PER_S * US_PER_S;
    if (now_us == f->last_us) {
        sleep_for_us(now_us + US_PER_S - clock_real_us());
        now_us += US_PER_S;
    }
    return now_us;
}

enum err follower_copy(struct follower *f, char **ret_why)
{
    backup_discard_partials(f->config->backup_directory, ANY_PATTERN BACKUP_PARTIAL);
    set_aside(f, clock_real_us());
    if (!f->follows)
        resume(f);
    const int64_t now_us = next_second(f);
    enum err e = f->follows && now_us - f->copy_us < COPY_EVERY_US ? copy_changes(f, now_us, ret_why)
                                                                   : copy_whole(f, now_us, ret_why);
    if (e)
        return e;
    delete_chains(f, now_us);
    return backup_note_last(f->config, f->config->backup_directory, now_us, ret_why);
}
