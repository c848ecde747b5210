#include "store/page_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/container_of.h"
#include "base/crypto.h"
#include "base/mem.h"

#define VFS_NAME   "portero-page-log"
#define NUMBER_LEN 4
#define PAGE_MOST  65536
#define HEAD_FORM  "portero pages after %64s size %5u pages %10u changed %10u\n"

/* ---- hashes ---- */

struct page_sum {
    bool known;
    unsigned char hash[15]; /* the first bytes of the SHA-256 */
};

bool page_sums_note(struct page_sums *s, uint32_t number, const void *page, uint32_t size)
{
    unsigned char hash[SHA256_LEN];
    struct page_sum sum = {.known = true};
    if (number > s->room) {
        const uint32_t room = number + number / 4 + 1000;
        s->list = mem_resized(s->list, room, sizeof *s->list);
        memset(s->list + s->room, 0, (room - s->room) * sizeof *s->list);
        s->room = room;
    }
    if (number > s->count)
        s->count = number;
    crypto_sha256((struct str){page, size}, hash);
    memcpy(sum.hash, hash, sizeof sum.hash);
    const bool same = memcmp(&s->list[number - 1], &sum, sizeof sum) == 0;
    s->list[number - 1] = sum;
    return !same;
}

/* Forgets the pages behind the end of a database that became shorter. */
static void cut_sums(struct page_sums *s, uint32_t count)
{
    if (count < s->count)
        memset(s->list + count, 0, (s->count - count) * sizeof *s->list);
    s->count = count;
}

void page_sums_done(struct page_sums *s)
{
    free(s->list);
    *s = (struct page_sums){0};
}

/* ---- the file as SQLite's database ---- */

struct log_file {
    sqlite3_file base; /* first: for SQLite */
    struct page_log *log;
};

static struct page_log *log_of(sqlite3_file *f)
{
    return ((struct log_file *)f)->log;
}

static int write_at(struct page_log *log, const void *p, size_t n)
{
    const ssize_t put = pwrite(log->fd, p, n, log->at);
    if (put == (ssize_t)n) {
        log->at += put;
        return SQLITE_OK;
    }
    log->error = put < 0 ? errno : ENOSPC;
    return log->error == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

static int log_page(struct page_log *log, uint32_t number, const void *page)
{
    const unsigned char head[NUMBER_LEN] = {(unsigned char)(number >> 24), (unsigned char)(number >> 16),
                                            (unsigned char)(number >> 8), (unsigned char)number};
    const int rc = write_at(log, head, sizeof head);
    log->changed++;
    return rc ? rc : write_at(log, page, log->size);
}

/* Whole pages: SQLite writes nothing else to a database. */
static int file_write(sqlite3_file *f, const void *page, int n, sqlite3_int64 at)
{
    struct page_log *log = log_of(f);
    if (!log->size)
        log->size = (uint32_t)n;
    if ((uint32_t)n != log->size || at % n)
        return SQLITE_IOERR_WRITE;
    const uint32_t number = (uint32_t)(at / n) + 1;
    if (number > log->pages)
        log->pages = number;
    if (number == 1) { /* it may come again, so it waits for the end */
        if (!log->first)
            log->first = mem_bytes((size_t)n);
        memcpy(log->first, page, (size_t)n);
        return SQLITE_OK;
    }
    return page_sums_note(log->sums, number, page, log->size) ? log_page(log, number, page) : SQLITE_OK;
}

/* SQLite reads the first page alone: it keeps the others until they are written, and then needs them no more. */
static int file_read(sqlite3_file *f, void *to, int n, sqlite3_int64 at)
{
    const struct page_log *log = log_of(f);
    if (log->first && at + n <= log->size) {
        memcpy(to, (const char *)log->first + at, (size_t)n);
        return SQLITE_OK;
    }
    memset(to, 0, (size_t)n);
    return log->pages ? SQLITE_IOERR_READ : SQLITE_IOERR_SHORT_READ;
}

static int file_size(sqlite3_file *f, sqlite3_int64 *ret)
{
    *ret = (sqlite3_int64)log_of(f)->pages * log_of(f)->size;
    return SQLITE_OK;
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
    struct page_log *log = log_of(f);
    log->pages = log->size ? (uint32_t)(size / log->size) : 0;
    return SQLITE_OK;
}

static int file_close(sqlite3_file *f)
{
    (void)f;
    return SQLITE_OK;
}

static int file_sync(sqlite3_file *f, int flags)
{
    (void)f;
    (void)flags;
    return SQLITE_OK;
}

static int file_lock(sqlite3_file *f, int level)
{
    (void)f;
    (void)level;
    return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *f, int *ret)
{
    (void)f;
    *ret = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *f, int what, void *arg)
{
    (void)f;
    (void)what;
    (void)arg;
    return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *f)
{
    (void)f;
    return 4096;
}

static int file_traits(sqlite3_file *f)
{
    (void)f;
    return 0;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_lock,
    .xCheckReservedLock = file_is_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_traits,
};

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *ret_flags)
{
    (void)name;
    *(struct log_file *)f = (struct log_file){.log = container_of(vfs, struct page_log, vfs)};
    if (!(flags & SQLITE_OPEN_MAIN_DB))
        return SQLITE_CANTOPEN;
    f->pMethods = &methods;
    if (ret_flags)
        *ret_flags = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs;
    (void)name;
    (void)sync;
    return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
    (void)vfs;
    (void)name;
    (void)flags;
    *ret = 0;
    return SQLITE_OK;
}

static int vfs_name(sqlite3_vfs *vfs, const char *name, int n, char *ret)
{
    (void)vfs;
    (void)snprintf(ret, (size_t)n, "%s", name);
    return SQLITE_OK;
}

int page_log_open(struct page_log *log, int fd, struct page_sums *sums, sqlite3 **ret)
{
    *log = (struct page_log){.fd = fd, .sums = sums, .at = PAGE_LOG_HEAD, .vfs = *sqlite3_vfs_find(NULL)};
    log->vfs.pNext = NULL;
    log->vfs.zName = VFS_NAME;
    log->vfs.szOsFile = sizeof(struct log_file);
    log->vfs.mxPathname = 64;
    log->vfs.xOpen = vfs_open;
    log->vfs.xDelete = vfs_delete;
    log->vfs.xAccess = vfs_access;
    log->vfs.xFullPathname = vfs_name;
    const int rc = sqlite3_vfs_register(&log->vfs, 0);
    return rc ? rc
              : sqlite3_open_v2("pages", ret, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                                VFS_NAME);
}

enum err page_log_finish(struct page_log *log, const struct seal_sum *after)
{
    char head[PAGE_LOG_HEAD + 1];
    if (!log->first || (page_sums_note(log->sums, 1, log->first, log->size) && log_page(log, 1, log->first))) {
        errno = log->error ? log->error : EIO;
        return ERR_IO;
    }
    cut_sums(log->sums, log->pages);
    (void)snprintf(head, sizeof head, HEAD_FORM, after->hex, log->size, log->pages, log->changed);
    return pwrite(log->fd, head, PAGE_LOG_HEAD, 0) == PAGE_LOG_HEAD ? ERR_NONE : ERR_IO;
}

void page_log_close(struct page_log *log)
{
    (void)sqlite3_vfs_unregister(&log->vfs);
    free(log->first);
    log->first = NULL;
}

/* ---- reading ---- */

static bool read_head(int fd, int64_t bytes, struct page_log_head *ret)
{
    char line[PAGE_LOG_HEAD + 1] = "", again[PAGE_LOG_HEAD + 1];
    *ret = (struct page_log_head){0};
    if (pread(fd, line, PAGE_LOG_HEAD, 0) != PAGE_LOG_HEAD)
        return false;
    /* NOLINTNEXTLINE(cert-err34-c): written again, and compared */
    if (sscanf(line, HEAD_FORM, ret->after.hex, &ret->size, &ret->pages, &ret->changed) != 4)
        return false;
    (void)snprintf(again, sizeof again, HEAD_FORM, ret->after.hex, ret->size, ret->pages, ret->changed);
    return strcmp(again, line) == 0 && ret->size >= 512 && ret->size <= PAGE_MOST && ret->changed <= ret->pages &&
           bytes == PAGE_LOG_HEAD + (int64_t)ret->changed * (NUMBER_LEN + ret->size);
}

enum err page_log_read_head(int fd, const char *name, struct page_log_head *ret, char **ret_why)
{
    int64_t bytes = 0;
    const enum err e = seal_check_file(fd, name, &bytes, ret_why);
    if (e)
        return e;
    return read_head(fd, bytes, ret) ? ERR_NONE : err_why(ret_why, ERR_IO, "%s: no file of changed pages", name);
}

static uint32_t read_number(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

enum err page_log_read(int fd, const char *name, const struct page_log_head *head,
                       enum err (*each)(void *arg, uint32_t number, const void *page, uint32_t size, char **ret_why),
                       void *arg, char **ret_why)
{
    const size_t step = NUMBER_LEN + head->size;
    unsigned char *page = mem_bytes(step);
    enum err e = ERR_NONE;
    for (uint32_t i = 0; !e && i < head->changed; i++) {
        const bool whole = pread(fd, page, step, PAGE_LOG_HEAD + (int64_t)(i * step)) == (ssize_t)step;
        const uint32_t number = read_number(page);
        if (!whole)
            e = err_why(ret_why, ERR_IO, "%s: %s", name, strerrordesc_np(errno));
        else if (!number || number > head->pages)
            e = err_why(ret_why, ERR_IO, "%s: a page has no place in the database", name);
        else
            e = each(arg, number, page + NUMBER_LEN, head->size, ret_why);
    }
    free(page);
    return e;
}
