#include "handset/reach.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

#define ADDRESSES_MAX 8
#define STAGGER_MS    250 /* RFC 8305, 5: the recommended delay between attempts */
#define REQUEST_MAX   600

struct search {
    const struct addrinfo *at[ADDRESSES_MAX];
    struct pollfd fds[ADDRESSES_MAX]; /* of the probes begun; fd -1: refused */
    size_t count, begun;
    bool tcp;
    int error; /* of the last refusal */
    bool answered;
};

static int64_t reach_now_ms(void)
{
    return clock_monotonic_us() / 1000;
}

/* RFC 3261, 11: an OPTIONS request; a repetition is the same transaction. */
static bool send_options(int fd)
{
    char request[REQUEST_MAX];
    struct sockaddr_storage bound;
    socklen_t len = sizeof bound;
    struct sa local;
    if (getsockname(fd, (struct sockaddr *)&bound, &len) < 0 || sa_set_sa(&local, (struct sockaddr *)&bound))
        return false;
    int n = re_snprintf(request, sizeof request,
                        "OPTIONS sip:portero SIP/2.0\r\n"
                        "Via: SIP/2.0/UDP %J;branch=z9hG4bKreach%u;rport\r\n"
                        "Max-Forwards: 70\r\n"
                        "From: <sip:callbox@%j>;tag=reach\r\n"
                        "To: <sip:portero>\r\n"
                        "Call-ID: reach-%d-%u@%j\r\n"
                        "CSeq: 1 OPTIONS\r\n"
                        "Content-Length: 0\r\n\r\n",
                        &local, sa_port(&local), &local, (int)getpid(), sa_port(&local), &local);
    return n > 0 && send(fd, request, (size_t)n, MSG_NOSIGNAL) == n;
}

/* Begins a probe: its socket, or -1 (errno). */
static int reach_begin(const struct addrinfo *at, bool tcp)
{
    int fd = socket(at->ai_family, at->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    bool under_way = connect(fd, at->ai_addr, at->ai_addrlen) == 0 || errno == EINPROGRESS;
    if (under_way && (tcp || send_options(fd)))
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* The result of a probe: 0 if the address answered. */
static int reach_outcome(int fd, bool tcp)
{
    char byte;
    int error = 0;
    socklen_t len = sizeof error;
    if (!tcp)
        return recv(fd, &byte, 1, 0) >= 0 ? 0 : errno;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 ? error : errno;
}

/* Begins the next probe. After the last, repeats the requests over UDP, which may have been lost. */
static void reach_next(struct search *s)
{
    if (s->begun < s->count) {
        int fd = reach_begin(s->at[s->begun], s->tcp);
        if (fd < 0)
            s->error = errno;
        s->fds[s->begun++] = (struct pollfd){.fd = fd, .events = s->tcp ? POLLOUT : POLLIN};
        return;
    }
    for (size_t i = 0; i < s->begun && !s->tcp; i++)
        if (s->fds[i].fd >= 0)
            (void)send_options(s->fds[i].fd);
}

/* Reads the results of poll. Returns the index of an address that answered, or -1. Sets *ret_refused after a refusal.
 */
static int reach_settle(struct search *s, bool *ret_refused)
{
    for (size_t i = 0; i < s->begun; i++) {
        if (s->fds[i].fd < 0 || !s->fds[i].revents)
            continue;
        int error = reach_outcome(s->fds[i].fd, s->tcp);
        if (!error)
            return (int)i;
        s->error = error;
        close(s->fds[i].fd);
        s->fds[i].fd = -1;
        *ret_refused = true;
    }
    return -1;
}

/* The first pending probe, or -1. */
static int reach_waiting(const struct search *s)
{
    for (size_t i = 0; i < s->begun; i++)
        if (s->fds[i].fd >= 0)
            return (int)i;
    return -1;
}

/* The index of the chosen address, or -1 if all refused. The time is over only when all addresses were asked and the
 * answers that came were read, because a busy machine may hold up this process for longer. */
static int reach_search(struct search *s, int64_t patience_ms)
{
    int64_t now = reach_now_ms(), next = now;
    const int64_t until = now + patience_ms;
    int found = -1;
    for (bool over = false; found < 0 && !over; now = reach_now_ms()) {
        bool refused = false;
        if (reach_waiting(s) < 0 && s->begun == s->count)
            break;
        if (reach_waiting(s) < 0 || now >= next) {
            reach_next(s);
            next = now + STAGGER_MS;
        }
        over = now >= until && s->begun == s->count;
        if (reach_waiting(s) >= 0 && poll(s->fds, s->begun, (int)(next - now)) > 0)
            found = reach_settle(s, &refused);
        if (refused && s->begun < s->count)
            next = now;
    }
    s->answered = found >= 0;
    if (found < 0)
        found = reach_waiting(s);
    for (size_t i = 0; i < s->begun; i++)
        if (s->fds[i].fd >= 0)
            close(s->fds[i].fd);
    return found;
}

/* The addresses to search; the caller frees *ret_list. */
static bool reach_resolve(const char *host, uint16_t port, bool tcp, struct search *ret, struct addrinfo **ret_list)
{
    char service[8];
    const struct addrinfo hints = {.ai_socktype = tcp ? SOCK_STREAM : SOCK_DGRAM, .ai_flags = AI_NUMERICSERV};
    *ret = (struct search){.tcp = tcp};
    (void)snprintf(service, sizeof service, "%u", (unsigned)port);
    if (getaddrinfo(host, service, &hints, ret_list))
        return false;
    for (const struct addrinfo *i = *ret_list; i && ret->count < ADDRESSES_MAX; i = i->ai_next)
        ret->at[ret->count++] = i;
    return true;
}

int reach_find(const char *host, uint16_t port, bool tcp, int64_t patience_ms, struct sa *ret)
{
    struct addrinfo *list;
    struct search s;
    if (!reach_resolve(host, port, tcp, &s, &list))
        return ENOENT;
    int chosen = s.count > 1 ? reach_search(&s, patience_ms) : 0;
    const struct addrinfo *found = chosen < 0 ? NULL : s.at[chosen];
    int e = found ? sa_set_sa(ret, found->ai_addr) : s.error;
    freeaddrinfo(list);
    return e;
}

int reach_answers(const char *host, uint16_t port, bool tcp, int64_t patience_ms)
{
    struct addrinfo *list;
    struct search s;
    if (!reach_resolve(host, port, tcp, &s, &list))
        return ENOENT;
    (void)reach_search(&s, patience_ms);
    freeaddrinfo(list);
    return s.answered ? 0 : s.error ? s.error : ETIMEDOUT;
}

int reach_local(const struct sa *server, struct sa *ret)
{
    struct udp_sock *probe;
    struct sa any;
    sa_init(&any, sa_af(server));
    int e = udp_listen(&probe, &any, NULL, NULL);
    if (e)
        return e;
    e = udp_connect(probe, server);
    if (!e)
        e = udp_local_get(probe, ret);
    mem_deref(probe);
    sa_set_port(ret, 0);
    return e;
}
