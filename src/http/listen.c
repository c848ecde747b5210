#include "http/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/str.h"
#include "net/address.h"

#define NOT_SENT_MAX 32768 /* bytes that the kernel accepts beyond the peer's window */

static void close_keeping_errno(int fd)
{
    int saved = errno;
    close(fd);
    errno = saved;
}

static bool set_on(int fd, int level, int option)
{
    return setsockopt(fd, level, option, &(int){1}, sizeof(int)) == 0;
}

static int bind_tcp(const struct addrinfo *ai, bool reuse_port)
{
    int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    /* Accepted sockets inherit TCP_NODELAY and TCP_NOTSENT_LOWAT. */
    if (setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &(int){NOT_SENT_MAX}, sizeof(int)) != 0 ||
        !set_on(fd, SOL_SOCKET, SO_REUSEADDR) || !set_on(fd, IPPROTO_TCP, TCP_NODELAY) ||
        (reuse_port && !set_on(fd, SOL_SOCKET, SO_REUSEPORT)) || bind(fd, ai->ai_addr, ai->ai_addrlen) != 0) {
        close_keeping_errno(fd);
        return -1;
    }
    return fd;
}

static struct addrinfo *lookup(const char *host, const char *port)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | AI_PASSIVE};
    struct addrinfo *found;
    return getaddrinfo(host, port, &hints, &found) == 0 ? found : NULL;
}

/* "::" also accepts IPv4. A kernel without IPv6 has only IPv4. */
static const char *every_address(void)
{
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return "0.0.0.0";
    close(fd);
    return "::";
}

static struct addrinfo *resolve_listen(const char *address)
{
    char host[256];
    const char *colon = strrchr(address, ':');
    size_t n = colon ? (size_t)(colon - address) : 0;
    const char *from = address;
    if (n >= 2 && address[0] == '[' && address[n - 1] == ']') {
        from++;
        n -= 2;
    } else if (!colon || memchr(address, ':', n)) {
        return NULL;
    }
    if (n >= sizeof host || colon[1] == '\0')
        return NULL;
    memcpy(host, from, n);
    host[n] = '\0';
    return lookup(n ? host : every_address(), colon + 1);
}

/* Every loop has a duplicate: the one that is awake accepts. */
static enum err duplicate(const char *number, int *ret_fd)
{
    uint64_t n;
    if (!str_to_u64(str_z(number), INT_MAX, &n))
        return ERR_USAGE;
    const int fd = fcntl((int)n, F_DUPFD_CLOEXEC, 0);
    const int flags = fd < 0 ? -1 : fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 || !set_on(fd, IPPROTO_TCP, TCP_NODELAY) ||
        setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &(int){NOT_SENT_MAX}, sizeof(int)) != 0) {
        if (fd >= 0)
            close_keeping_errno(fd);
        return ERR_IO;
    }
    *ret_fd = fd;
    return ERR_NONE;
}

enum err http_listen_tcp(const char *address, bool shared, int *ret_fd)
{
    if (str_starts(str_z(address), STR(HTTP_INHERITED)))
        return duplicate(address + strlen(HTTP_INHERITED), ret_fd);
    struct addrinfo *ai = resolve_listen(address);
    if (!ai)
        return ERR_USAGE;
    /* SO_REUSEPORT would let two services share the port unnoticed. A bind without it detects the other. */
    int fd = bind_tcp(ai, shared);
    if (fd >= 0 && !shared) {
        close(fd);
        fd = bind_tcp(ai, true);
    }
    freeaddrinfo(ai);
    if (fd < 0)
        return ERR_IO;
    /* Immediately: SO_REUSEADDR lets another process take a bound port that nobody listens on. */
    if (listen(fd, HTTP_BACKLOG) != 0) {
        close_keeping_errno(fd);
        return ERR_IO;
    }
    *ret_fd = fd;
    return ERR_NONE;
}

/* Removes the socket file if no process listens on it. Returns whether it was removed. */
static bool remove_stale(const struct sockaddr_un *at)
{
    struct stat st;
    if (lstat(at->sun_path, &st) != 0 || !S_ISSOCK(st.st_mode))
        return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    bool dead = connect(fd, (const struct sockaddr *)at, sizeof *at) != 0 && errno == ECONNREFUSED;
    close(fd);
    return dead && unlink(at->sun_path) == 0;
}

enum err http_listen_unix(const char *path, int *ret_fd)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof at.sun_path) {
        errno = ENAMETOOLONG;
        return ERR_IO;
    }
    memcpy(at.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return ERR_IO;
    /* bind creates the file with the mode of the socket, so other users can never connect. */
    bool bound = fchmod(fd, 0600) == 0 && bind(fd, (const struct sockaddr *)&at, sizeof at) == 0;
    if (!bound && errno == EADDRINUSE) {
        bound = remove_stale(&at) && bind(fd, (const struct sockaddr *)&at, sizeof at) == 0;
        if (!bound)
            errno = EADDRINUSE;
    }
    if (!bound || listen(fd, HTTP_BACKLOG) != 0) {
        close_keeping_errno(fd);
        return ERR_IO;
    }
    *ret_fd = fd;
    return ERR_NONE;
}

void http_listen_text(int fd, char ret[static HTTP_BOUND_TEXT])
{
    struct sockaddr_storage at = {0};
    socklen_t n = sizeof at;
    char host[NET_ADDRESS_TEXT], port[8];
    if (getsockname(fd, (struct sockaddr *)&at, &n) != 0 ||
        getnameinfo((struct sockaddr *)&at, n, host, sizeof host, port, sizeof port, NI_NUMERICHOST | NI_NUMERICSERV) !=
            0) {
        ret[0] = '\0';
        return;
    }
    snprintf(ret, HTTP_BOUND_TEXT, at.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}
