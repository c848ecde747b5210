#include "cli/activation.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/listen.h"

#define FIRST_FD 3 /* SD_LISTEN_FDS_START */
#define FDS_MAX  16

static bool listens_for_tcp(int fd)
{
    struct sockaddr_storage at = {0};
    int type = 0, listens = 0;
    socklen_t n = sizeof type, m = sizeof listens, size = sizeof at;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0 && type == SOCK_STREAM &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &m) == 0 && listens &&
           getsockname(fd, (struct sockaddr *)&at, &size) == 0 && (at.ss_family == AF_INET || at.ss_family == AF_INET6);
}

static enum err take_one(struct config *c, int fd, struct str name, char **ret_why)
{
    const struct {
        struct str name;
        const char **address;
    } listeners[] = {
        {STR("https"), &c->listen_https}, {STR("http"), &c->listen_http}, {STR("metrics"), &c->listen_metrics}};
    const char **address = NULL;
    for (size_t i = 0; i < sizeof listeners / sizeof *listeners; i++)
        if (str_eq(name, listeners[i].name))
            address = listeners[i].address;
    if (!address)
        return err_why(ret_why, ERR_USAGE, "socket %d: FileDescriptorName=%.*s: must be https, http or metrics", fd,
                       STR_ARG(name));
    if (str_starts(str_z(*address), STR(HTTP_INHERITED)))
        return err_why(ret_why, ERR_USAGE, "socket %d: FileDescriptorName=%.*s: given twice", fd, STR_ARG(name));
    if (!listens_for_tcp(fd))
        return err_why(ret_why, ERR_USAGE, "socket %d: FileDescriptorName=%.*s: does not listen for TCP connections",
                       fd, STR_ARG(name));
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
        return err_why(ret_why, ERR_IO, "socket %d cannot be used", fd);
    *address = arena_printf(&c->arena, HTTP_INHERITED "%d", fd).p;
    return ERR_NONE;
}

enum err activation_take(struct config *c, char **ret_why)
{
    const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS"), *names = getenv("LISTEN_FDNAMES");
    uint64_t value, count;
    if (!pid || !fds || !str_to_u64(str_z(pid), INT32_MAX, &value) || (pid_t)value != getpid())
        return ERR_NONE;
    if (!str_to_u64(str_z(fds), FDS_MAX, &count))
        return err_why(ret_why, ERR_USAGE, "LISTEN_FDS must be a number up to %d", FDS_MAX);
    struct str rest = str_z(names ? names : "");
    enum err e = ERR_NONE;
    for (int i = 0; !e && i < (int)count; i++)
        e = take_one(c, FIRST_FD + i, str_cut(rest, ':', &rest), ret_why);
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    return e;
}
