#include "http/socket.h"

#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <sys/socket.h>

#define MAX_PARTS 8
#define TLS_BYTES 12288 /* about the memory that libssl holds for a connection */

bool http_socket_has_pending(const struct http_conn *c)
{
    return c->ssl && !c->eof && !c->broken && SSL_has_pending(c->ssl);
}

/* A failed call of libssl leaves its reasons in the thread's queue, where the next call would find them. */
static int tls_reason(struct http_conn *c, int n)
{
    int reason = SSL_get_error(c->ssl, n);
    ERR_clear_error();
    return reason;
}

static size_t recv_tls(struct http_conn *c, void *p, size_t n)
{
    size_t got = 0;
    int done = SSL_read_ex(c->ssl, p, n, &got);
    c->read_wants_write = false;
    if (done == 1)
        return got;
    switch (tls_reason(c, done)) {
    case SSL_ERROR_WANT_READ:
        break;
    case SSL_ERROR_WANT_WRITE:
        c->read_wants_write = true;
        break;
    case SSL_ERROR_ZERO_RETURN:
        c->eof = true;
        break;
    default:
        c->broken = true;
    }
    return 0;
}

size_t http_socket_recv(struct http_conn *c, void *p, size_t n)
{
    if (c->eof || c->broken)
        return 0;
    if (c->ssl)
        return recv_tls(c, p, n);
    ssize_t got = recv(c->fd, p, n, 0);
    if (got > 0)
        return (size_t)got;
    if (got == 0)
        c->eof = true;
    else if (errno != EAGAIN && errno != EINTR)
        c->broken = true;
    return 0;
}

size_t http_socket_send(struct http_conn *c, const char *p, size_t n)
{
    if (c->broken || n == 0)
        return 0;
    if (!c->ssl) {
        ssize_t sent = send(c->fd, p, n, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            c->broken = true;
        return sent < 0 ? 0 : (size_t)sent;
    }
    size_t all = 0, sent = 0;
    int done = 1;
    while (all < n && (done = SSL_write_ex(c->ssl, p + all, n - all, &sent)) == 1)
        all += sent;
    if (done != 1 && tls_reason(c, done) != SSL_ERROR_WANT_WRITE)
        c->broken = true; /* a write cannot want to read: renegotiation is off */
    return all;
}

size_t http_socket_send_parts(struct http_conn *c, const struct str *parts, size_t count)
{
    assert(count <= MAX_PARTS);
    struct iovec iov[MAX_PARTS];
    for (size_t i = 0; i < count; i++)
        iov[i] = (struct iovec){(void *)(uintptr_t)parts[i].p, parts[i].n};
    struct msghdr m = {.msg_iov = iov, .msg_iovlen = count};
    ssize_t sent = sendmsg(c->fd, &m, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        c->broken = true;
    return sent < 0 ? 0 : (size_t)sent;
}

short http_socket_shake_hands(struct http_conn *c)
{
    int done = SSL_do_handshake(c->ssl);
    if (done == 1)
        return 0;
    switch (tls_reason(c, done)) {
    case SSL_ERROR_WANT_READ:
        return EV_READ;
    case SSL_ERROR_WANT_WRITE:
        return EV_WRITE;
    default:
        c->broken = true;
        return 0;
    }
}

void http_socket_end_tls(struct http_conn *c)
{
    if (!c->ssl)
        return;
    if (!c->broken && c->state != CONN_HANDSHAKE)
        SSL_shutdown(c->ssl);
    ERR_clear_error();
    SSL_free(c->ssl);
    c->conns->freed += TLS_BYTES;
    c->ssl = NULL;
}
