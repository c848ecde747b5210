/* A SIP peer for tests: sends messages written by hand and reads the answers, over UDP or TCP on loopback. */
#pragma once
#include <arpa/inet.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define RAW_PATIENCE_MS 30000 /* a test that waits for this long has failed */
#define RAW_MESSAGE_MAX 65536

struct raw {
    int sip, rtp;
    char host[32];    /* its address, as in a URI */
    char contact[64]; /* in its requests */
    bool tcp;
    struct sockaddr_storage service;
    socklen_t service_length;
    int sip_port, rtp_port;
    char reply[RAW_MESSAGE_MAX];
    char to_tag[128];
    unsigned serial;       /* of the peer: the kernel may give the port of an earlier one */
    unsigned branch, cseq; /* of the last request */
};

static inline socklen_t raw_address(const char *host, int port, struct sockaddr_storage *ret)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)ret;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ret;
    memset(ret, 0, sizeof *ret);
    if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons((uint16_t)port);
        return sizeof *v4;
    }
    if (strcmp(host, "[::1]") != 0)
        abort();
    v6->sin6_family = AF_INET6;
    v6->sin6_addr = in6addr_loopback;
    v6->sin6_port = htons((uint16_t)port);
    return sizeof *v6;
}

/* A socket bound to a loopback address. Each address is another caller. */
static inline int raw_bind(const char *host, int type, int *ret_port)
{
    struct sockaddr_storage at;
    socklen_t n = raw_address(host, 0, &at);
    int fd = socket(at.ss_family, type | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, n) || getsockname(fd, (struct sockaddr *)&at, &n))
        abort();
    *ret_port = ntohs(((struct sockaddr_in *)&at)->sin_port); /* at the same place for IPv6 */
    return fd;
}

static inline int raw_socket_at(const char *host, int *ret_port)
{
    return raw_bind(host, SOCK_DGRAM, ret_port);
}

static inline int raw_socket(int *ret_port)
{
    return raw_socket_at("127.0.0.1", ret_port);
}

/* Whether n ports of 127.0.0.1 from that one on are free. */
static inline bool raw_ports_are_free(int port, int n)
{
    bool all = true;
    for (int i = 0; all && i < n; i++) {
        struct sockaddr_storage at;
        const socklen_t length = raw_address("127.0.0.1", port + i, &at);
        const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        all = !bind(fd, (struct sockaddr *)&at, length);
        close(fd);
    }
    return all;
}

/* Opens a peer at `host` for the service at `address`, which is "ADDRESS:PORT"; all addresses are reached on loopback.
 */
static inline void raw_open_at(struct raw *r, const char *host, const char *address)
{
    static unsigned opened;
    char to[64];
    const char *port = strrchr(address, ':');
    *r = (struct raw){.serial = ++opened};
    (void)snprintf(r->host, sizeof r->host, "%s", host);
    (void)snprintf(to, sizeof to, "%.*s", (int)(port - address), address);
    if (strcmp(to, "0.0.0.0") == 0 || strcmp(to, "[::]") == 0)
        (void)snprintf(to, sizeof to, "%s", *host == '[' ? "[::1]" : "127.0.0.1");
    r->service_length = raw_address(to, atoi(port + 1), &r->service);
    r->sip = raw_socket_at(host, &r->sip_port);
    r->rtp = raw_socket_at(host, &r->rtp_port);
    (void)snprintf(r->contact, sizeof r->contact, "%s:%d", host, r->sip_port);
}

static inline void raw_open(struct raw *r, const char *address)
{
    raw_open_at(r, "127.0.0.1", address);
}

/* From now on the peer uses a connection. */
static inline void raw_connect(struct raw *r)
{
    close(r->sip);
    r->sip = raw_bind(r->host, SOCK_STREAM, &r->sip_port);
    r->tcp = true;
    if (connect(r->sip, (struct sockaddr *)&r->service, r->service_length))
        abort();
}

static inline void raw_close(struct raw *r)
{
    close(r->sip);
    close(r->rtp);
}

static inline void raw_send(struct raw *r, const void *p, size_t n)
{
    if (r->tcp ? send(r->sip, p, n, MSG_NOSIGNAL) < 0
               : sendto(r->sip, p, n, 0, (struct sockaddr *)&r->service, r->service_length) < 0)
        abort();
}

/* Reads one message of a connection, a byte at a time. The size of its body is in Content-Length. */
static inline size_t raw_read_message(struct raw *r)
{
    size_t n = 0, end = sizeof r->reply - 1;
    while (n < end && recv(r->sip, r->reply + n, 1, 0) == 1) {
        r->reply[++n] = '\0';
        const char *length = strstr(r->reply, "\r\nContent-Length: ");
        if (end == sizeof r->reply - 1 && n >= 4 && strcmp(r->reply + n - 4, "\r\n\r\n") == 0)
            end = n + (length ? strtoul(length + 18, NULL, 10) : 0);
    }
    return n;
}

/* The next message within wait_ms: its status, or 1 for a request. 0 after a time-out. */
static inline int raw_receive(struct raw *r, int wait_ms)
{
    struct pollfd p = {.fd = r->sip, .events = POLLIN};
    if (poll(&p, 1, wait_ms) <= 0)
        return 0;
    ssize_t n = r->tcp ? (ssize_t)raw_read_message(r) : recv(r->sip, r->reply, sizeof r->reply - 1, 0);
    r->reply[n > 0 ? n : 0] = '\0';
    return strncmp(r->reply, "SIP/2.0 ", 8) == 0 ? atoi(r->reply + 8) : n > 0;
}

/* Whether the last message answers the last request. An earlier answer may be repeated until its ACK arrives. */
static inline bool raw_answers_last(const struct raw *r)
{
    const char *cseq = strstr(r->reply, "\r\nCSeq: ");
    return cseq && strtoul(cseq + 8, NULL, 10) == r->cseq;
}

/* Keeps the tag of the last answer for the next requests. */
static inline void raw_note_tag(struct raw *r)
{
    const char *to = strstr(r->reply, "\r\nTo: ");
    const char *tag = to ? strstr(to, ";tag=") : NULL;
    const char *end = to ? strstr(to + 2, "\r\n") : NULL;
    if (tag && end && tag < end)
        (void)snprintf(r->to_tag, sizeof r->to_tag, "%.*s", (int)(end - tag), tag);
}

/* The next final answer to the last request; skips provisional answers. */
static inline int raw_final(struct raw *r)
{
    int status;
    do
        status = raw_receive(r, RAW_PATIENCE_MS);
    while ((status >= 100 && status < 200) || (status >= 200 && !raw_answers_last(r)));
    raw_note_tag(r);
    return status;
}

/* Whether the service sends this request next; skips repeated answers. */
static inline bool raw_requested(struct raw *r, const char *method)
{
    int status;
    do
        status = raw_receive(r, RAW_PATIENCE_MS);
    while (status > 1);
    return status == 1 && strncmp(r->reply, method, strlen(method)) == 0 && r->reply[strlen(method)] == ' ';
}

/* Sends a request. Each of the `headers` ends with CRLF; they follow the essential ones. */
static inline void raw_request(struct raw *r, const char *method, const char *user, unsigned cseq, const char *headers,
                               const char *body)
{
    char text[RAW_MESSAGE_MAX];
    r->cseq = cseq;
    int n = snprintf(text, sizeof text,
                     "%s sip:%s@127.0.0.1 SIP/2.0\r\n"
                     "Via: SIP/2.0/%s %s:%d;branch=z9hG4bK%s-%d-%u-%u;rport\r\n"
                     "From: <sip:+15557654321@127.0.0.1>;tag=me\r\n"
                     "To: <sip:%s@127.0.0.1>%s\r\n"
                     "Call-ID: call-%s-%d-%u\r\n"
                     "CSeq: %u %s\r\n"
                     "Max-Forwards: 70\r\n"
                     "Contact: <sip:me@%s>\r\n"
                     "%sContent-Length: %zu\r\n\r\n%s",
                     method, user, r->tcp ? "TCP" : "UDP", r->host, r->sip_port, r->host, r->sip_port, r->serial,
                     strcmp(method, "CANCEL") == 0 ? r->branch : ++r->branch, user, r->to_tag, r->host, r->sip_port,
                     r->serial, cseq, method, r->contact, headers, strlen(body), body);
    raw_send(r, text, (size_t)n);
}

/* Copies the headers of a request that a response repeats. */
static inline size_t raw_copy_headers(const char *request, char *text, size_t size)
{
    static const char *const names[] = {"Via:", "From:", "To:", "Call-ID:", "CSeq:"};
    size_t n = 0;
    for (const char *line = strstr(request, "\r\n"); line && strncmp(line, "\r\n\r\n", 4) != 0;) {
        const char *begin = line + 2, *end = strstr(begin, "\r\n");
        for (size_t i = 0; end && i < 5; i++)
            if (strncmp(begin, names[i], strlen(names[i])) == 0)
                n += (size_t)snprintf(text + n, size - n, "%.*s\r\n", (int)(end - begin), begin);
        line = end;
    }
    return n;
}

/* Answers the last request of the service. */
static inline void raw_reply(struct raw *r, const char *status, const char *headers, const char *body)
{
    char text[8192];
    size_t n = (size_t)snprintf(text, sizeof text, "SIP/2.0 %s\r\n", status);
    n += raw_copy_headers(r->reply, text + n, sizeof text - n);
    n += (size_t)snprintf(text + n, sizeof text - n, "Contact: <sip:me@%s>\r\n%sContent-Length: %zu\r\n\r\n%s",
                          r->contact, headers, strlen(body), body);
    raw_send(r, text, n);
}

#define RAW_SDP "Content-Type: application/sdp\r\n"

/* The offer of raw_offer with another address. */
static inline const char *raw_offer_at(struct raw *r, const char *host, const char *direction)
{
    static char text[512];
    char at[40];
    if (*host == '[')
        (void)snprintf(at, sizeof at, "IP6 %.*s", (int)strlen(host) - 2, host + 1);
    else
        (void)snprintf(at, sizeof at, "IP4 %s", host);
    (void)snprintf(text, sizeof text,
                   "v=0\r\no=- 1 1 IN %s\r\ns=-\r\nc=IN %s\r\nt=0 0\r\n"
                   "m=audio %d RTP/AVP 0 96\r\na=rtpmap:96 telephone-event/8000\r\na=%s\r\n",
                   at, at, r->rtp_port, direction);
    return text;
}

/* An offer of mu-law with events as type 96, from our RTP port. */
static inline const char *raw_offer(struct raw *r, const char *direction)
{
    return raw_offer_at(r, r->host, direction);
}

/* Sends the first INVITE of a call, with an offer. */
static inline void raw_invite(struct raw *r, const char *user)
{
    raw_request(r, "INVITE", user, 1, RAW_SDP, raw_offer(r, "sendrecv"));
}

/* The port of the service's RTP in the last answer. */
static inline int raw_media_port(const struct raw *r)
{
    const char *m = strstr(r->reply, "m=audio ");
    return m ? atoi(m + 8) : 0;
}

/* The number of RTP packets that arrive within wait_ms. */
static inline int raw_count_rtp(struct raw *r, int wait_ms)
{
    int n = 0;
    char packet[2048];
    struct pollfd p = {.fd = r->rtp, .events = POLLIN};
    struct timespec from, now;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int left = wait_ms; left > 0 && poll(&p, 1, left) > 0;) {
        n += recv(r->rtp, packet, sizeof packet, 0) > 0;
        clock_gettime(CLOCK_MONOTONIC, &now);
        left = wait_ms - (int)((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000);
    }
    return n;
}

/* Whether an RTP packet arrives. */
static inline bool raw_hears_rtp(struct raw *r)
{
    char packet[2048];
    struct pollfd p = {.fd = r->rtp, .events = POLLIN};
    return poll(&p, 1, RAW_PATIENCE_MS) > 0 && recv(r->rtp, packet, sizeof packet, 0) > 0;
}

/* Reads RTP until no packet arrives for wait_ms; false if it does not stop. */
static inline bool raw_falls_silent(struct raw *r, int wait_ms)
{
    for (int tries = 0; tries < RAW_PATIENCE_MS / wait_ms; tries++)
        if (raw_count_rtp(r, wait_ms) == 0)
            return true;
    return false;
}

/* Sends one press as RFC 4733 of type 96 from a socket to the service's RTP port. */
static inline void raw_press(int fd, int port, uint32_t timestamp, uint8_t code)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    at.sin_port = htons((uint16_t)port);
    const uint8_t packet[16] = {0x80,
                                0x80 | 96,
                                0,
                                1,
                                (uint8_t)(timestamp >> 24),
                                (uint8_t)(timestamp >> 16),
                                (uint8_t)(timestamp >> 8),
                                (uint8_t)timestamp,
                                1,
                                2,
                                3,
                                4,
                                code,
                                0x0a,
                                0,
                                160};
    if (sendto(fd, packet, sizeof packet, 0, (struct sockaddr *)&at, sizeof at) < 0)
        abort();
}
