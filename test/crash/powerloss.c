/* A disk that loses power, for LD_PRELOAD: data written but not synced is lost.
 *
 * Follows the regular files under $POWERLOSS_DIR. For each file, it keeps the content on the disk of every 4 KiB block
 * written since the last fsync or fdatasync. For each file created or removed since its directory was synced, it keeps
 * that fact. When the power fails, it restores all of that and kills the process.
 *
 *   POWERLOSS_DIR=PATH         the directory to follow
 *   POWERLOSS_AFTER=N          the power fails at the N-th write or sync (otherwise at the first one after SIGUSR2)
 *   POWERLOSS_SOME=SEED        a random half of the unsynced blocks survives, as on a real disk
 *   POWERLOSS_IGNORE_SYNC=1    a disk that lies: syncs do nothing
 *
 * Files mapped for writing (SQLite's -shm) are not followed: their content need not survive. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK   4096
#define PATHLEN 512

struct block {
    struct block *next;
    off_t at;
    size_t n; /* how much of the block exists on the disk */
    char bytes[BLOCK];
};

#define BUCKETS 4096
struct file {
    struct file *next;
    dev_t dev;
    ino_t ino;
    char path[PATHLEN];
    off_t size; /* on the disk */
    bool dirty;
    struct block *blocks[BUCKETS];
};

/* A name that was created or removed and is not synced yet. */
struct name {
    struct name *next;
    bool made;
    char path[PATHLEN], aside[PATHLEN];
};

static struct {
    pthread_mutex_t mutex;
    char dir[PATHLEN];
    size_t dir_n;
    long left; /* operations until the power fails; -1: no count */
    bool some, lies;
    unsigned seed;
    volatile sig_atomic_t signalled;
    struct file *files;
    struct name *names;
    ssize_t (*pwrite)(int, const void *, size_t, off_t);
    ssize_t (*write)(int, const void *, size_t);
    int (*ftruncate)(int, off_t);
    int (*fsync)(int), (*fdatasync)(int);
    int (*open)(const char *, int, ...);
    int (*unlink)(const char *);
} disk = {.mutex = PTHREAD_MUTEX_INITIALIZER, .left = -1};

static void on_signal(int number)
{
    (void)number;
    disk.signalled = 1;
}

static void *real(const char *name)
{
    void *p = dlsym(RTLD_NEXT, name);
    if (!p)
        abort();
    return p;
}

__attribute__((constructor)) static void start(void)
{
    const char *dir = getenv("POWERLOSS_DIR"), *after = getenv("POWERLOSS_AFTER"), *some = getenv("POWERLOSS_SOME");
    *(void **)&disk.pwrite = real("pwrite64");
    *(void **)&disk.write = real("write");
    *(void **)&disk.ftruncate = real("ftruncate64");
    *(void **)&disk.fsync = real("fsync");
    *(void **)&disk.fdatasync = real("fdatasync");
    *(void **)&disk.open = real("open64");
    *(void **)&disk.unlink = real("unlink");
    if (!dir || !realpath(dir, disk.dir))
        return;
    disk.dir_n = strlen(disk.dir);
    disk.left = after ? strtol(after, NULL, 10) : -1;
    disk.some = some != NULL;
    disk.seed = some ? (unsigned)strtoul(some, NULL, 10) : 0;
    disk.lies = getenv("POWERLOSS_IGNORE_SYNC") != NULL;
    if (!after)
        signal(SIGUSR2, on_signal);
}

/* ---- the power fails ---- */

static bool survives(void)
{
    return disk.some && rand_r(&disk.seed) % 2;
}

static void restore(struct file *f)
{
    int fd = disk.open(f->path, O_RDWR | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || st.st_ino != f->ino)
        return; /* removed since */
    const bool cut = !survives();
    for (int i = 0; i < BUCKETS; i++)
        for (struct block *b = f->blocks[i]; b; b = b->next)
            if (!survives()) {
                static const char zeroes[BLOCK];
                size_t rest = b->at + BLOCK > st.st_size ? (size_t)(st.st_size - b->at) : BLOCK;
                if (disk.pwrite(fd, b->bytes, b->n, b->at) < 0 ||
                    (rest > b->n && disk.pwrite(fd, zeroes, rest - b->n, b->at + (off_t)b->n) < 0))
                    abort();
            }
    if ((cut || f->size > st.st_size) && disk.ftruncate(fd, f->size) < 0)
        abort();
    close(fd);
}

static void hold(int number)
{
    (void)number;
    for (;;)
        pause();
}

static void lights_out(void)
{
    signal(SIGBUS, hold); /* another thread that reads a mapped page which the disk has lost: hold it */
    for (struct file *f = disk.files; f; f = f->next)
        if (f->dirty)
            restore(f);
    for (struct name *n = disk.names; n; n = n->next) {
        if (n->made && !survives())
            disk.unlink(n->path);
        else if (!n->made && !survives() && access(n->path, F_OK) < 0)
            rename(n->aside, n->path);
    }
    kill(getpid(), SIGKILL);
    hold(SIGKILL);
}

/* Counts an operation. The caller must hold the mutex. */
static void tick(void)
{
    if (disk.signalled || (disk.left >= 0 && disk.left-- == 0))
        lights_out();
}

/* ---- files ---- */

static bool inside(const char *path)
{
    return disk.dir_n && strncmp(path, disk.dir, disk.dir_n) == 0 && path[disk.dir_n] == '/';
}

/* The followed file behind fd, or NULL. */
static struct file *file_of(int fd)
{
    struct stat st;
    char link[64], path[PATHLEN];
    if (!disk.dir_n || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return NULL;
    for (struct file *f = disk.files; f; f = f->next)
        if (f->ino == st.st_ino && f->dev == st.st_dev)
            return f;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (n < 0)
        return NULL;
    path[n] = '\0';
    if (!inside(path))
        return NULL;
    struct file *f = calloc(1, sizeof *f);
    if (!f)
        abort();
    f->dev = st.st_dev;
    f->ino = st.st_ino;
    f->size = st.st_size;
    memcpy(f->path, path, sizeof f->path);
    f->next = disk.files;
    disk.files = f;
    return f;
}

/* Keeps the content on the disk of the range from..to before it changes. */
static void remember(struct file *f, int fd, off_t from, off_t to)
{
    for (off_t at = from / BLOCK * BLOCK; at < to && at < f->size; at += BLOCK) {
        struct block **bucket = &f->blocks[(size_t)(at / BLOCK) % BUCKETS], *b = *bucket;
        while (b && b->at != at)
            b = b->next;
        if (b)
            continue;
        b = calloc(1, sizeof *b);
        if (!b)
            abort();
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd); /* fd may be write-only */
        int in = disk.open(link, O_RDONLY | O_CLOEXEC);
        ssize_t n = in < 0 ? -1 : pread(in, b->bytes, BLOCK, at);
        close(in);
        if (n < 0)
            abort();
        b->at = at;
        b->n = (size_t)n;
        b->next = *bucket;
        *bucket = b;
    }
    f->dirty = true;
}

static void forget(struct file *f, int fd)
{
    struct stat st;
    for (int i = 0; i < BUCKETS; i++)
        while (f->blocks[i]) {
            struct block *b = f->blocks[i];
            f->blocks[i] = b->next;
            free(b);
        }
    f->dirty = false;
    if (fstat(fd, &st) == 0)
        f->size = st.st_size;
}

/* ---- names ---- */

static struct name *note(const char *path, bool made)
{
    struct name *n = calloc(1, sizeof *n);
    if (!n || !realpath(path, n->path))
        abort();
    n->made = made;
    n->next = disk.names;
    disk.names = n;
    return n;
}

static void forget_names(void)
{
    while (disk.names) {
        struct name *n = disk.names;
        disk.names = n->next;
        if (!n->made)
            disk.unlink(n->aside);
        free(n);
    }
}

static bool is_directory(int fd)
{
    struct stat st;
    char link[64], path[PATHLEN];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    if (!disk.dir_n || n < 0 || fstat(fd, &st) < 0 || !S_ISDIR(st.st_mode))
        return false;
    path[n] = '\0';
    return strcmp(path, disk.dir) == 0;
}

/* ---- functions that the program calls ---- */

ssize_t pwrite64(int fd, const void *p, size_t n, off_t at)
{
    pthread_mutex_lock(&disk.mutex);
    struct file *f = file_of(fd);
    if (f) {
        tick();
        remember(f, fd, at, at + (off_t)n);
    }
    ssize_t rc = disk.pwrite(fd, p, n, at);
    pthread_mutex_unlock(&disk.mutex);
    return rc;
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
    return pwrite64(fd, p, n, at);
}

ssize_t write(int fd, const void *p, size_t n)
{
    pthread_mutex_lock(&disk.mutex);
    struct file *f = file_of(fd);
    if (f) {
        off_t at = fcntl(fd, F_GETFL) & O_APPEND ? lseek(fd, 0, SEEK_END) : lseek(fd, 0, SEEK_CUR);
        tick();
        remember(f, fd, at, at + (off_t)n);
    }
    ssize_t rc = disk.write(fd, p, n);
    int saved = errno;
    pthread_mutex_unlock(&disk.mutex);
    errno = saved;
    return rc;
}

int ftruncate64(int fd, off_t size)
{
    pthread_mutex_lock(&disk.mutex);
    struct file *f = file_of(fd);
    if (f) {
        tick();
        remember(f, fd, size, f->size);
    }
    int rc = disk.ftruncate(fd, size);
    pthread_mutex_unlock(&disk.mutex);
    return rc;
}

int ftruncate(int fd, off_t size)
{
    return ftruncate64(fd, size);
}

static int synced(int fd, int (*sync)(int))
{
    pthread_mutex_lock(&disk.mutex);
    struct file *f = file_of(fd);
    bool names = !f && is_directory(fd);
    if (f || names)
        tick();
    int rc = disk.lies && (f || names) ? 0 : sync(fd);
    if (rc == 0 && !disk.lies) {
        if (f)
            forget(f, fd);
        else if (names)
            forget_names();
    }
    pthread_mutex_unlock(&disk.mutex);
    return rc;
}

int fsync(int fd)
{
    return synced(fd, disk.fsync);
}

int fdatasync(int fd)
{
    return synced(fd, disk.fdatasync);
}

static int opened(const char *path, int flags, mode_t mode)
{
    pthread_mutex_lock(&disk.mutex);
    bool made = disk.dir_n && (flags & O_CREAT) && access(path, F_OK) < 0;
    int fd = disk.open(path, flags, mode);
    int saved = errno;
    char link[64], full[PATHLEN];
    if (fd >= 0 && made) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, full, sizeof full - 1);
        full[n > 0 ? n : 0] = '\0';
        if (inside(full))
            note(full, true);
    }
    pthread_mutex_unlock(&disk.mutex);
    errno = saved;
    return fd;
}

static mode_t mode_of(int flags, va_list ap)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

int open64(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    return opened(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    return opened(path, flags, mode);
}

int unlink(const char *path)
{
    char full[PATHLEN];
    static int number;
    pthread_mutex_lock(&disk.mutex);
    int rc;
    if (disk.dir_n && realpath(path, full) && inside(full)) {
        struct name *n = note(full, false);
        snprintf(n->aside, sizeof n->aside, "%.*s.unlinked-%d", PATHLEN - 24, full, number++);
        rc = rename(full, n->aside);
    } else {
        rc = disk.unlink(path);
    }
    int saved = errno;
    pthread_mutex_unlock(&disk.mutex);
    errno = saved;
    return rc;
}
