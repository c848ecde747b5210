#include "webrtc/socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

#define BATCHES_MAX 8 /* of one turn of the loop: calls must not wait for a flood */
#define BUFFER      (1 << 20)

struct control {
    _Alignas(struct cmsghdr) uint8_t bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
};

struct webrtc_socket {
    int fd;
    struct sa at;
    webrtc_socket_take *take;
    void *arg;
    struct mmsghdr messages[WEBRTC_BATCH];
    struct iovec parts[WEBRTC_BATCH];
    struct sa from[WEBRTC_BATCH];
    struct control control[WEBRTC_BATCH];
    _Alignas(16) uint8_t data[WEBRTC_BATCH][WEBRTC_DATAGRAM_MAX];
};

/* ---- addresses ---- */

/* An IPv4 address in the form that an IPv6 socket has becomes a plain one. */
static void plain_address(const struct in6_addr *address, uint16_t port, struct sa *ret)
{
    uint32_t ipv4;
    memcpy(&ipv4, address->s6_addr + 12, sizeof ipv4);
    sa_init(ret, AF_INET6);
    if (IN6_IS_ADDR_V4MAPPED(address))
        sa_set_in(ret, ntohl(ipv4), port);
    else
        sa_set_in6(ret, address->s6_addr, port);
}

static struct in6_addr mapped_address(const struct sa *plain)
{
    struct in6_addr a = plain->u.in6.sin6_addr;
    if (sa_af(plain) != AF_INET)
        return a;
    memset(&a, 0, sizeof a);
    a.s6_addr[10] = a.s6_addr[11] = 0xff;
    memcpy(a.s6_addr + 12, &plain->u.in.sin_addr, sizeof plain->u.in.sin_addr);
    return a;
}

/* ---- in ---- */

/* The address that the packet was sent to; the socket's address if the kernel does not tell. */
static void read_local(const struct webrtc_socket *s, struct msghdr *m, struct sa *ret)
{
    const uint16_t port = sa_port(&s->at);
    *ret = s->at;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
        if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
            struct in_pktinfo info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            sa_set_in(ret, ntohl(info.ipi_addr.s_addr), port);
        } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
            struct in6_pktinfo info;
            memcpy(&info, CMSG_DATA(c), sizeof info);
            plain_address(&info.ipi6_addr, port, ret);
        }
    }
}

static void read_remote(const struct sa *raw, struct sa *ret)
{
    *ret = *raw;
    if (sa_af(raw) == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&raw->u.in6.sin6_addr))
        plain_address(&raw->u.in6.sin6_addr, sa_port(raw), ret);
}

static void set_socket_options(struct webrtc_socket *s)
{
    for (size_t i = 0; i < WEBRTC_BATCH; i++) {
        s->parts[i] = (struct iovec){s->data[i], sizeof s->data[i]};
        s->messages[i].msg_hdr = (struct msghdr){.msg_name = &s->from[i].u,
                                                 .msg_namelen = sizeof s->from[i].u,
                                                 .msg_iov = &s->parts[i],
                                                 .msg_iovlen = 1,
                                                 .msg_control = &s->control[i],
                                                 .msg_controllen = sizeof s->control[i]};
    }
}

static void take_message(struct webrtc_socket *s, size_t i)
{
    struct sa from, to;
    struct msghdr *m = &s->messages[i].msg_hdr;
    if (m->msg_flags & MSG_TRUNC)
        return;
    s->from[i].len = m->msg_namelen;
    read_remote(&s->from[i], &from);
    read_local(s, m, &to);
    s->take(s->data[i], s->messages[i].msg_len, &from, &to, s->arg);
}

void webrtc_socket_drain(struct webrtc_socket *s)
{
    for (int turn = 0; turn < BATCHES_MAX; turn++) {
        set_socket_options(s);
        const int n = recvmmsg(s->fd, s->messages, WEBRTC_BATCH, MSG_DONTWAIT, NULL);
        for (int i = 0; i < n; i++)
            take_message(s, (size_t)i);
        if (n < WEBRTC_BATCH)
            return;
    }
}

static void socket_on_read(int flags, void *arg)
{
    (void)flags;
    webrtc_socket_drain(arg);
}

/* ---- out ---- */

static size_t put_control(struct control *ret, int level, int type, const void *info, size_t n)
{
    struct msghdr m = {.msg_control = ret->bytes, .msg_controllen = sizeof ret->bytes};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    *c = (struct cmsghdr){.cmsg_len = CMSG_LEN(n), .cmsg_level = level, .cmsg_type = type};
    memcpy(CMSG_DATA(c), info, n);
    return CMSG_SPACE(n);
}

/* The source address, for a socket on all addresses. */
static size_t put_source(const struct webrtc_socket *s, const struct sa *from, struct control *ret)
{
    if (!sa_is_any(&s->at))
        return 0;
    if (sa_af(&s->at) == AF_INET) {
        const struct in_pktinfo info = {.ipi_spec_dst = from->u.in.sin_addr};
        return put_control(ret, IPPROTO_IP, IP_PKTINFO, &info, sizeof info);
    }
    const struct in6_pktinfo info = {.ipi6_addr = mapped_address(from)};
    return put_control(ret, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof info);
}

void webrtc_socket_send(const struct webrtc_socket *s, const struct sa *from, const struct sa *to, const uint8_t *p,
                        size_t n)
{
    struct sa there = *to;
    struct iovec part = {(void *)(uintptr_t)p, n};
    struct control control = {{0}};
    if (sa_af(&s->at) == AF_INET6 && sa_af(to) == AF_INET) {
        const struct in6_addr mapped = mapped_address(to);
        sa_init(&there, AF_INET6);
        sa_set_in6(&there, mapped.s6_addr, sa_port(to));
    }
    struct msghdr m = {.msg_name = &there.u, .msg_namelen = there.len, .msg_iov = &part, .msg_iovlen = 1};
    m.msg_controllen = put_source(s, from, &control);
    m.msg_control = m.msg_controllen ? control.bytes : NULL;
    (void)sendmsg(s->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* ---- life ---- */

static bool set_options(int fd, int af)
{
    const int on = 1, off = 0, buffer = BUFFER;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer); /* less will do */
    if (af == AF_INET)
        return !setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof on);
    return !setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) &&
           !setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof on);
}

static bool bind_to(struct webrtc_socket *s, const struct sa *at)
{
    struct sockaddr_storage bound;
    socklen_t n = sizeof bound;
    s->fd = socket(sa_af(at), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->fd < 0 || !set_options(s->fd, sa_af(at)) || bind(s->fd, &at->u.sa, at->len) ||
        getsockname(s->fd, (struct sockaddr *)&bound, &n) || sa_set_sa(&s->at, (struct sockaddr *)&bound))
        return false;
    errno = fd_listen(s->fd, FD_READ, socket_on_read, s);
    return !errno;
}

enum err webrtc_socket_open(struct webrtc_socket **ret, const struct sa *at, webrtc_socket_take *take, void *arg)
{
    struct webrtc_socket *s = mem_new(struct webrtc_socket);
    s->take = take;
    s->arg = arg;
    if (bind_to(s, at)) {
        *ret = s;
        return ERR_NONE;
    }
    const int e = errno;
    if (s->fd >= 0)
        close(s->fd);
    free(s);
    errno = e;
    return ERR_IO;
}

void webrtc_socket_close(struct webrtc_socket *s)
{
    if (!s)
        return;
    fd_close(s->fd);
    close(s->fd);
    free(s);
}

const struct sa *webrtc_socket_address(const struct webrtc_socket *s)
{
    return &s->at;
}
