/* LD_PRELOAD: a disk that refuses writes. While the file $DISKFAULT exists and holds an error number, every call that
 * would change a regular file below $DISKFAULT_BELOW fails with it: ENOSPC for a full disk, EROFS for one that went
 * read-only, EIO for one that breaks. With "sync" after the number, only those fail that make changes durable.
 * A disk that is slow, too: a call that would change the file whose path is in the file $DISKFAULT_HELD waits while it
 * is there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int fault(bool sync)
{
    const char *path = getenv("DISKFAULT");
    char text[16] = "";
    int fd = path ? REAL(open)(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n > 0 && (sync || !strstr(text, "sync")) ? atoi(text) : 0;
}

static bool held(const char *path)
{
    const char *list = getenv("DISKFAULT_HELD");
    char name[PATH_MAX] = "";
    int fd = list ? REAL(open)(list, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return false;
    ssize_t n = read(fd, name, sizeof name - 1);
    close(fd);
    return n > 0 && !strcmp(name, path);
}

static bool below(const char *path)
{
    const char *prefix = getenv("DISKFAULT_BELOW");
    return prefix && !strncmp(path, prefix, strlen(prefix));
}

static bool refused(int fd, bool sync)
{
    char link[64], path[PATH_MAX];
    int saved = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    errno = saved;
    if (n < 0)
        return false;
    path[n] = '\0';
    while (held(path))
        usleep(20000);
    int error = below(path) ? fault(sync) : 0;
    if (error)
        errno = error;
    else
        errno = saved;
    return error != 0;
}

#define REFUSING(sync, result, name, params, args)                                                                     \
    result name params;                                                                                                \
    result name params                                                                                                 \
    {                                                                                                                  \
        return refused(fd, sync) ? -1 : REAL(name) args;                                                               \
    }

REFUSING(false, ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n))
REFUSING(false, ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at))
REFUSING(false, ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at))
REFUSING(false, ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n))
REFUSING(false, int, ftruncate, (int fd, off_t n), (fd, n))
REFUSING(false, int, ftruncate64, (int fd, off64_t n), (fd, n))
REFUSING(false, int, fallocate, (int fd, int mode, off_t at, off_t n), (fd, mode, at, n))
int posix_fallocate64(int fd, off64_t at, off64_t n)
{
    return refused(fd, false) ? errno : REAL(posix_fallocate64)(fd, at, n);
}

int posix_fallocate(int fd, off_t at, off_t n)
{
    return refused(fd, false) ? errno : REAL(posix_fallocate)(fd, at, n);
}

REFUSING(true, int, fsync, (int fd), (fd))
REFUSING(true, int, fdatasync, (int fd), (fd))
