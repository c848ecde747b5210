#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

/* Closes the descriptor and keeps errno. */
static void close_quietly(int fd)
{
    const int saved = errno;
    close(fd);
    errno = saved;
}

bool file_sync_directory_of(const char *path)
{
    char *copy = mem_strdup(path);
    const int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(copy);
    if (fd < 0)
        return false;
    const bool synced = fsync(fd) == 0;
    close_quietly(fd);
    return synced;
}

/* Unlinks the file and keeps errno. Returns false. */
static bool discard(const char *path)
{
    const int saved = errno;
    (void)unlink(path);
    errno = saved;
    return false;
}

static bool write_whole(const char *path, const void *text, size_t n)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    errno = ENOSPC; /* the reason of a short write */
    const bool written = write(fd, text, n) == (ssize_t)n && fsync(fd) == 0;
    close_quietly(fd);
    return written || discard(path);
}

bool file_replace(const char *path, const void *text, size_t n)
{
    char *beside = mem_printf("%s.new", path);
    const bool replaced =
        write_whole(beside, text, n) && (rename(beside, path) == 0 || discard(beside)) && file_sync_directory_of(path);
    free(beside);
    return replaced;
}

bool file_give_away(int fd, const char *path)
{
    struct stat directory;
    if (geteuid() != 0)
        return true;
    char *copy = mem_strdup(path);
    const bool given = stat(dirname(copy), &directory) == 0 && fchown(fd, directory.st_uid, directory.st_gid) == 0;
    free(copy);
    return given;
}
