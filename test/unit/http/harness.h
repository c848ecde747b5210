/* An in-process server with a small handler, and a client that sends raw bytes, plain or in TLS.
 *
 * Routes: /echo answers 200 with the body; /early answers 401 from `head`; /big?N answers N bytes; /constant answers
 * RIG_CONSTANT bytes that are never copied; /peer answers the
 * client's address; /wait answers 202 from another thread after rig_release(); other paths are 404. Refusals answer the
 * status of their error. The body of other replies is the request's target. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/container_of.h"
#include "http/server.h"

#define PATIENCE_S   30 /* a test that waits for so long has failed */
#define MAX_STATUSES 16
#define RIG_CONSTANT 400000

/* ---- the server ---- */

struct rig {
    struct config config;
    char dir[64], control[96], certificate[96], key[96];
    struct http_server *server;
    uint16_t plain, tls; /* ports */

    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct http_request *waiting[64]; /* requests to /wait that are not released yet */
    unsigned waiting_count;
    unsigned requests, refusals, abandoned;
};

static inline void rig_count(struct rig *g, unsigned *counter)
{
    pthread_mutex_lock(&g->lock);
    ++*counter;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

static inline void rig_reply(struct http_request *r, int status, struct str body)
{
    http_respond(r, status, STR("Content-Type: text/plain\r\n"), body);
}

static inline void rig_head(void *ctx, struct http_request *r, unsigned loop)
{
    (void)ctx;
    (void)loop;
    if (str_eq(r->path, STR("/early")))
        rig_reply(r, 401, STR("early"));
}

static inline void rig_abandoned(struct mail *m)
{
    struct http_request *r = container_of(m, struct http_request, mail);
    struct rig *g = r->user;
    rig_reply(r, 202, arena_str(&r->arena, r->target));
    rig_count(g, &g->abandoned);
}

static inline void rig_big(struct http_request *r)
{
    uint64_t n = 0;
    (void)str_to_u64(r->query, 1 << 24, &n);
    char *bytes = arena_alloc(&r->arena, n + 1);
    memset(bytes, 'b', n);
    rig_reply(r, 200, str_n(bytes, n));
}

static char rig_bytes[RIG_CONSTANT]; /* filled by rig_init, before any thread starts */

static inline struct str rig_constant(void)
{
    return str_n(rig_bytes, sizeof rig_bytes);
}

static inline void rig_request(void *ctx, struct http_request *r, unsigned loop)
{
    struct rig *g = ctx;
    (void)loop;
    rig_count(g, &g->requests);
    if (str_eq(r->path, STR("/echo"))) {
        rig_reply(r, 200, r->body);
    } else if (str_eq(r->path, STR("/big"))) {
        rig_big(r);
    } else if (str_eq(r->path, STR("/constant"))) {
        http_respond_constant(r, 200, STR("Content-Type: text/plain\r\n"), rig_constant());
    } else if (str_eq(r->path, STR("/peer"))) {
        rig_reply(r, 200,
                  arena_printf(&r->arena, "%s secure=%d loopback=%d local=%d", r->peer.address, r->peer.secure,
                               r->peer.loopback, r->peer.local));
    } else if (str_eq(r->path, STR("/wait"))) {
        r->user = g;
        r->mail.run = rig_abandoned;
        pthread_mutex_lock(&g->lock);
        g->waiting[g->waiting_count++] = r;
        pthread_cond_broadcast(&g->changed);
        pthread_mutex_unlock(&g->lock);
    } else {
        rig_reply(r, 404, r->target);
    }
}

static inline void rig_refuse(void *ctx, struct http_request *r, enum err why, unsigned loop)
{
    (void)loop;
    rig_count(ctx, &((struct rig *)ctx)->refusals);
    rig_reply(r, err_info(why)->status, str_z(err_info(why)->code));
}

static inline unsigned rig_read(struct rig *g, const unsigned *counter)
{
    pthread_mutex_lock(&g->lock);
    unsigned n = *counter;
    pthread_mutex_unlock(&g->lock);
    return n;
}

/* Waits until *counter has reached n. */
static inline void rig_await(struct rig *g, const unsigned *counter, unsigned n)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&g->lock);
    int late = 0;
    while (*counter < n && !late)
        late = pthread_cond_timedwait(&g->changed, &g->lock, &until);
    pthread_mutex_unlock(&g->lock);
    assert_int_equal(late, 0);
}

/* Answers the oldest request at /wait. */
static inline void rig_release(struct rig *g)
{
    rig_await(g, &g->waiting_count, 1);
    pthread_mutex_lock(&g->lock);
    struct http_request *r = g->waiting[0];
    memmove(g->waiting, g->waiting + 1, --g->waiting_count * sizeof *g->waiting);
    pthread_mutex_unlock(&g->lock);
    http_post(r, &r->mail);
}

static inline uint16_t rig_port(const char *address)
{
    return address ? (uint16_t)strtoul(strrchr(address, ':') + 1, NULL, 10) : 0;
}

/* The default settings, changed by the caller before rig_start. */
static inline void rig_init(struct rig *g)
{
    static const char *const no_proxies[] = {NULL};
    *g = (struct rig){.config = {.top_trusted_proxies = no_proxies,
                                 .tls_certificate = "",
                                 .tls_key = "",
                                 .tls_groups = "X25519:P-256",
                                 .listen_https = "127.0.0.1:0",
                                 .listen_http = "127.0.0.1:0",
                                 .http_threads = 1,
                                 .http_connections = 1000,
                                 .http_connections_per_address = 1000,
                                 .http_header_timeout_s = 60,
                                 .http_body_timeout_s = 60,
                                 .http_idle_timeout_s = 60,
                                 .http_write_timeout_s = 60,
                                 .http_output_memory_mb = 64}};
    for (size_t i = 0; i < sizeof rig_bytes; i++)
        rig_bytes[i] = (char)('a' + i % 23);
    strcpy(g->dir, "/tmp/http_test_XXXXXX");
    assert_non_null(mkdtemp(g->dir));
    snprintf(g->control, sizeof g->control, "%s/control", g->dir);
    snprintf(g->certificate, sizeof g->certificate, "%s/tls.crt", g->dir);
    snprintf(g->key, sizeof g->key, "%s/tls.key", g->dir);
    g->config.top_data_dir = g->dir;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
}

/* A server that is bound, but not started. */
static inline void rig_bind(struct rig *g)
{
    struct http_handler h = {.ctx = g, .head = rig_head, .request = rig_request, .refuse = rig_refuse};
    char *why = NULL;
    if (http_server_new(&g->config, g->control, h, &g->server, &why))
        fail_msg("%s", why);
}

static inline void rig_start(struct rig *g)
{
    char *why = NULL;
    rig_bind(g);
    if (http_server_start(g->server, &why))
        fail_msg("%s", why);
    g->plain = rig_port(http_server_http(g->server));
    g->tls = rig_port(http_server_https(g->server));
}

static inline void rig_done(struct rig *g)
{
    http_server_free(g->server);
    unlink(g->certificate);
    unlink(g->key);
    assert_int_equal(rmdir(g->dir), 0); /* fails if the control socket still exists */
    pthread_cond_destroy(&g->changed);
    pthread_mutex_destroy(&g->lock);
}

/* ---- the client ---- */

struct client {
    int fd;
    SSL_CTX *ctx;
    SSL *ssl;
};

static inline void client_patience(int fd)
{
    struct timeval t = {PATIENCE_S, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t);
}

static inline struct client client_plain(uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct client c = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    assert_true(c.fd >= 0);
    client_patience(c.fd);
    assert_int_equal(connect(c.fd, (struct sockaddr *)&to, sizeof to), 0);
    return c;
}

static inline struct client client_unix(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct client c = {.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    assert_true(strlen(path) < sizeof to.sun_path);
    strcpy(to.sun_path, path);
    client_patience(c.fd);
    assert_int_equal(connect(c.fd, (struct sockaddr *)&to, sizeof to), 0);
    return c;
}

static inline void client_shake(struct client *c)
{
    c->ctx = SSL_CTX_new(TLS_client_method());
    c->ssl = SSL_new(c->ctx);
    assert_non_null(c->ssl);
    assert_int_equal(SSL_set_fd(c->ssl, c->fd), 1);
    assert_int_equal(SSL_connect(c->ssl), 1);
}

static inline struct client client_tls(uint16_t port)
{
    struct client c = client_plain(port);
    client_shake(&c);
    return c;
}

static inline struct client client_open(const struct rig *g, bool tls)
{
    return tls ? client_tls(g->tls) : client_plain(g->plain);
}

static inline void client_close(struct client *c)
{
    SSL_free(c->ssl);
    SSL_CTX_free(c->ctx);
    close(c->fd);
}

/* Sends until the server closes, which it may do at any time. */
static inline void client_send(struct client *c, struct str bytes)
{
    size_t sent = 0;
    while (sent < bytes.n) {
        ssize_t n = c->ssl ? SSL_write(c->ssl, bytes.p + sent, (int)(bytes.n - sent))
                           : send(c->fd, bytes.p + sent, bytes.n - sent, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        sent += (size_t)n;
    }
}

/* Returns 0 at the end of input, also after a reset. Fails the test if nothing arrives. */
static inline size_t client_recv(struct client *c, char *p, size_t n)
{
    errno = 0;
    ssize_t got = c->ssl ? SSL_read(c->ssl, p, (int)n) : recv(c->fd, p, n, 0);
    if (got <= 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        fail_msg("the server neither answers nor closes");
    return got > 0 ? (size_t)got : 0;
}

/* ---- the answers ---- */

struct answer {
    int statuses[MAX_STATUSES];
    size_t count;
    bool closed;
    struct buf in;         /* all bytes received */
    size_t at;             /* bytes of it that were parsed */
    struct str body, head; /* of the last reply */
};

static inline void answer_done(struct answer *a)
{
    buf_done(&a->in);
}

static inline struct str answer_field(struct str head, const char *name)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "\r\n%s: ", name);
    const char *at = memmem(head.p, head.n, pattern, strlen(pattern));
    if (!at)
        return STR_NONE;
    struct str rest = str_from(head, (size_t)(at - head.p) + strlen(pattern));
    const char *end = memmem(rest.p, rest.n, "\r\n", 2);
    return end ? str_n(rest.p, (size_t)(end - rest.p)) : rest;
}

/* Parses one complete reply from the received bytes; false if there is none. head_only: the request was HEAD. */
static inline bool answer_take(struct answer *a, bool head_only)
{
    struct str in = str_from(buf_view(&a->in), a->at);
    const char *end = memmem(in.p, in.n, "\r\n\r\n", 4);
    if (!end)
        return false;
    size_t head_len = (size_t)(end - in.p) + 4;
    struct str head = str_n(in.p, head_len);
    int status = 0;
    assert_true(str_starts(head, STR("HTTP/1.1 ")));
    status = (int)strtol(head.p + 9, NULL, 10);
    struct str length = answer_field(head, "Content-Length");
    size_t n = length.p && !head_only ? strtoul(length.p, NULL, 10) : 0;
    if (in.n < head_len + n)
        return false;
    assert_true(a->count < MAX_STATUSES);
    a->statuses[a->count++] = status;
    a->head = head;
    a->body = str_n(in.p + head_len, n);
    a->at += head_len + n;
    return true;
}

static inline bool answer_more(struct answer *a, struct client *c)
{
    if (!a->in.max)
        a->in = BUF(64u << 20);
    assert_true(buf_reserve(&a->in, 65536));
    size_t n = client_recv(c, a->in.p + a->in.n, 65536);
    a->in.n += n;
    a->closed = n == 0;
    return n > 0;
}

/* Waits for one more reply; false if the connection ended instead. */
static inline bool answer_next_to(struct answer *a, struct client *c, bool head_only)
{
    while (!answer_take(a, head_only))
        if (!answer_more(a, c))
            return false;
    return true;
}

static inline bool answer_next(struct answer *a, struct client *c)
{
    return answer_next_to(a, c, false);
}

/* Reads replies until the server closes. */
static inline void answer_rest(struct answer *a, struct client *c)
{
    while (answer_next(a, c))
        ;
    assert_int_equal(a->at, a->in.n); /* no other bytes arrived */
}

/* "200,400" */
static inline const char *answer_text(const struct answer *a, char ret[static 128])
{
    struct buf b = {.p = ret, .cap = 127, .max = 127};
    for (size_t i = 0; i < a->count; i++) {
        if (i)
            buf_char(&b, ',');
        buf_i64(&b, a->statuses[i]);
    }
    ret[b.n] = '\0';
    return ret;
}

/* Sends a request and expects exactly this reply. */
static inline void expect(struct client *c, struct answer *a, struct str request, int status, const char *body)
{
    client_send(c, request);
    assert_true(answer_next(a, c));
    assert_int_equal(a->statuses[a->count - 1], status);
    if (body)
        assert_true(str_eq(a->body, str_z(body)));
}
