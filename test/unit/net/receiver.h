/* An HTTP server on loopback for tests, or on a socket of the file system: a function of the test answers each request,
 * with raw bytes, plain or in TLS. One thread for each connection. For tests of any room.
 *
 *     struct receiver *r = receiver_open(false, answer, context);  … r->url …  receiver_close(r); */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants those first */
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/str.h"
#include "http/tls_self_signed.h"

#define RECEIVED_MAX 65536

struct receiver;

/* One request, and the connection it came on. */
struct received {
    struct receiver *receiver;
    int fd;
    SSL *ssl;
    char text[RECEIVED_MAX + 1]; /* head and body as received */
    size_t n;
    struct str body;
    unsigned on_connection; /* 1: the connection's first */
};

struct receiver {
    int fd;
    SSL_CTX *tls;
    char url[64];
    /* Answers with received_say; false closes the connection. On the connection's thread. */
    bool (*answer)(struct received *q, void *context);
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned open;
    atomic_bool closing;
    atomic_uint connections, requests;
};

static inline bool received_say(struct received *q, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = q->ssl ? SSL_write(q->ssl, bytes.p, (int)bytes.n) : send(q->fd, bytes.p, bytes.n, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        bytes = str_from(bytes, (size_t)n);
    }
    return true;
}

/* "200 OK" and no body. */
static inline bool received_accept(struct received *q)
{
    return received_say(q, STR("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
}

/* The value of a header field, STR_NONE without one; `name` as in "\r\nHost: ". */
static inline struct str received_field(const struct received *q, const char *name)
{
    const char *at = strcasestr(q->text, name);
    return at ? str_n(at + strlen(name), strcspn(at + strlen(name), "\r")) : STR_NONE;
}

/* Hangs until the receiver is closed or the peer has disconnected. */
static inline void received_hang(struct received *q)
{
    struct pollfd p = {.fd = q->fd, .events = POLLIN | POLLRDHUP};
    while (!atomic_load(&q->receiver->closing) && poll(&p, 1, 20) == 0)
        continue;
}

static inline ssize_t received_more(struct received *q)
{
    ssize_t n;
    if (q->ssl) {
        n = SSL_read(q->ssl, q->text + q->n, (int)(RECEIVED_MAX - q->n));
    } else {
        n = recv(q->fd, q->text + q->n, RECEIVED_MAX - q->n, 0);
    }
    if (n > 0)
        q->n += (size_t)n;
    q->text[q->n] = '\0';
    return n;
}

/* Reads one complete request; false at the end of the connection. */
static inline bool received_read(struct received *q)
{
    const char *end;
    size_t body = 0;
    q->n = 0;
    q->text[0] = '\0';
    while (!(end = strstr(q->text, "\r\n\r\n")))
        if (q->n == RECEIVED_MAX || received_more(q) <= 0)
            return false;
    size_t head = (size_t)(end + 4 - q->text);
    struct str length = received_field(q, "\r\nContent-Length: ");
    if (length.p)
        body = strtoul(length.p, NULL, 10);
    while (q->n < head + body)
        if (q->n == RECEIVED_MAX || received_more(q) <= 0)
            return false;
    q->body = str_n(q->text + head, body);
    q->on_connection++;
    return true;
}

static inline void *receiver_serve(void *arg)
{
    struct received *q = arg;
    struct receiver *r = q->receiver;
    if (r->tls) {
        q->ssl = SSL_new(r->tls);
        SSL_set_fd(q->ssl, q->fd);
    }
    if (!q->ssl || SSL_accept(q->ssl) == 1) {
        while (received_read(q)) {
            r->requests++;
            if (!r->answer(q, r->context))
                break;
        }
        if (q->ssl)
            SSL_shutdown(q->ssl);
    }
    SSL_free(q->ssl);
    close(q->fd);
    free(q);
    pthread_mutex_lock(&r->lock);
    r->open--;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

static inline void receiver_spawn(struct receiver *r, int fd)
{
    struct received *q = calloc(1, sizeof *q);
    pthread_t thread;
    int one = 1;
    assert_non_null(q);
    q->receiver = r;
    q->fd = fd;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    pthread_mutex_lock(&r->lock);
    r->open++;
    pthread_mutex_unlock(&r->lock);
    r->connections++;
    assert_int_equal(pthread_create(&thread, NULL, receiver_serve, q), 0);
    pthread_detach(thread);
}

static inline void *receiver_run(void *arg)
{
    struct receiver *r = arg;
    int fd;
    while ((fd = accept4(r->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
        receiver_spawn(r, fd);
    return NULL;
}

static inline SSL_CTX *receiver_tls(void)
{
    char certificate[] = "/tmp/portero-receiver-XXXXXX", key[sizeof certificate + 4];
    int fd = mkstemp(certificate);
    assert_true(fd >= 0);
    close(fd);
    snprintf(key, sizeof key, "%s.key", certificate);
    assert_int_equal(tls_self_signed(certificate, key), 0);
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    assert_int_equal(SSL_CTX_use_certificate_chain_file(ctx, certificate), 1);
    assert_int_equal(SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM), 1);
    unlink(certificate);
    unlink(key);
    return ctx;
}

/* Begins to accept at the address. */
static inline struct receiver *receiver_begin(const struct sockaddr *at, socklen_t n, bool tls,
                                              bool (*answer)(struct received *, void *), void *context)
{
    struct receiver *r = calloc(1, sizeof *r);
    assert_non_null(r);
    signal(SIGPIPE, SIG_IGN);
    r->answer = answer;
    r->context = context;
    r->tls = tls ? receiver_tls() : NULL;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    r->fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(r->fd, at, n), 0);
    assert_int_equal(listen(r->fd, 512), 0);
    assert_int_equal(pthread_create(&r->thread, NULL, receiver_run, r), 0);
    return r;
}

static inline struct receiver *receiver_open(bool tls, bool (*answer)(struct received *, void *), void *context)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    struct receiver *r = receiver_begin((struct sockaddr *)&at, n, tls, answer, context);
    assert_int_equal(getsockname(r->fd, (struct sockaddr *)&at, &n), 0);
    snprintf(r->url, sizeof r->url, "%s://127.0.0.1:%d", tls ? "https" : "http", ntohs(at.sin_port));
    return r;
}

/* On a socket at the path, which stays there when it is closed. */
static inline struct receiver *receiver_open_at(const char *path, bool (*answer)(struct received *, void *),
                                                void *context)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    return receiver_begin((struct sockaddr *)&at, sizeof at, false, answer, context);
}

/* Accepts no more connections and waits for the open ones: the caller must have closed them. */
static inline void receiver_close(struct receiver *r)
{
    atomic_store(&r->closing, true);
    shutdown(r->fd, SHUT_RDWR);
    pthread_join(r->thread, NULL);
    close(r->fd);
    pthread_mutex_lock(&r->lock);
    while (r->open > 0)
        pthread_cond_wait(&r->changed, &r->lock);
    pthread_mutex_unlock(&r->lock);
    SSL_CTX_free(r->tls);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    free(r);
}
