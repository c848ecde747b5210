#include "http/conn.h"

#include <assert.h>
#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/loop.h"
#include "http/session.h"

#define MAX_PARTS  8
#define SEND_LARGE 16384 /* a TLS record */
#define TLS_BYTES  12288 /* about what libssl holds for a connection */

_Static_assert(sizeof(struct http_conn) <= 512, "an idle connection is to cost little");

/* ---- state ---- */

static void unlink_from(struct http_conn_list *list, struct http_conn *c)
{
    *(c->prev ? &c->prev->next : &list->first) = c->next;
    *(c->next ? &c->next->prev : &list->last) = c->prev;
}

static void append_to(struct http_conn_list *list, struct http_conn *c)
{
    c->prev = list->last;
    c->next = NULL;
    *(list->last ? &list->last->next : &list->first) = c;
    list->last = c;
}

void http_conn_enter(struct http_conn *c, enum http_state state)
{
    struct http_loop *l = c->loop;
    if (c->state == state)
        return;
    unlink_from(&l->lists[c->state], c);
    c->state = state;
    c->deadline_ms = http_loop_now_ms() + l->shared->limit_ms[state];
    append_to(&l->lists[state], c);
}

void http_conn_ready(struct http_conn *c)
{
    if (c->is_ready)
        return;
    c->is_ready = true;
    TAILQ_INSERT_TAIL(&c->loop->ready, c, ready);
    c->loop->ready_count++;
}

/* Those who have answered us go first: they are there, and wait for less. */
static void handshake_ready(struct http_conn *c)
{
    if (c->is_ready)
        return;
    c->is_ready = true;
    if (SSL_in_before(c->ssl))
        TAILQ_INSERT_TAIL(&c->loop->handshakes, c, ready);
    else
        TAILQ_INSERT_HEAD(&c->loop->handshakes, c, ready);
}

static void unready(struct http_conn *c)
{
    if (!c->is_ready)
        return;
    c->is_ready = false;
    if (c->state == CONN_HANDSHAKE) {
        TAILQ_REMOVE(&c->loop->handshakes, c, ready);
        return;
    }
    TAILQ_REMOVE(&c->loop->ready, c, ready);
    c->loop->ready_count--;
}

/* ---- input ---- */

bool http_conn_has_pending(const struct http_conn *c)
{
    return c->ssl && !c->eof && !c->broken && SSL_has_pending(c->ssl);
}

/* Any call of libssl that fails leaves its reasons in the thread's queue, where the next call would find them. */
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

size_t http_conn_recv(struct http_conn *c, void *p, size_t n)
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

/* ---- output ---- */

/* How much of the bytes the socket took; 0 also if the connection broke. */
static size_t write_some(struct http_conn *c, const char *p, size_t n)
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
        c->broken = true; /* wanting to read cannot happen: renegotiation is off */
    return all;
}

static void keep(struct http_conn *c, const char *p, size_t n)
{
    size_t before = c->out.n;
    if (c->broken || n == 0)
        return;
    buf_put(&c->out, p, n);
    if (c->out.full)
        c->broken = true;
    atomic_fetch_add_explicit(&c->loop->shared->output->held, c->out.n - before, memory_order_relaxed);
    http_loop_relieve(c->loop, c);
}

static void drop_kept(struct http_conn *c)
{
    atomic_fetch_sub_explicit(&c->loop->shared->output->held, c->out.n, memory_order_relaxed);
    c->loop->freed += c->out.cap;
    buf_done(&c->out);
    c->out_at = 0;
}

/* A client that takes its replies has none waiting for long. */
void http_loop_relieve(struct http_loop *l, const struct http_conn *but)
{
    struct http_output *o = l->shared->output;
    struct http_conn *next;
    if (atomic_load_explicit(&o->held, memory_order_relaxed) <= o->most)
        return;
    for (struct http_conn *c = l->lists[CONN_FLUSH].first; c; c = next) {
        next = c->next;
        if (c == but || c->out.n == 0)
            continue;
        http_conn_close(c, true);
        if (atomic_load_explicit(&o->held, memory_order_relaxed) <= o->most)
            return;
    }
}

void http_conn_drain(struct http_conn *c)
{
    if (c->out.n) {
        c->out_at += write_some(c, c->out.p + c->out_at, c->out.n - c->out_at);
        if (c->out_at == c->out.n || c->broken)
            drop_kept(c);
    }
    if (c->out.n == 0 && c->out_constant.n)
        c->out_constant = str_from(c->out_constant, write_some(c, c->out_constant.p, c->out_constant.n));
    if (c->broken)
        c->out_constant = STR_NONE;
}

static void send_gathered(struct http_loop *l, struct http_gathered *g)
{
    struct http_conn *c = g->conn;
    g->conn = NULL;
    c->gathered = NULL;
    size_t sent = write_some(c, l->gather + g->at, g->n);
    keep(c, l->gather + g->at + sent, g->n - sent);
}

void http_loop_flush(struct http_loop *l)
{
    for (unsigned i = 0; i < l->gathered_count; i++) {
        struct http_conn *c = l->gathered[i].conn;
        if (!c)
            continue;
        send_gathered(l, &l->gathered[i]);
        if (!c->running)
            http_session_settle(c);
    }
    l->gathered_count = 0;
    l->gather_n = 0;
}

void http_loop_turn(struct http_loop *l)
{
    struct http_conn *c;
    while ((c = TAILQ_FIRST(&l->ready))) {
        unready(c);
        http_session_run(c);
    }
    http_loop_flush(l);
}

static void keep_all(struct http_conn *c, const struct str *parts, size_t count, bool constant, size_t skip)
{
    keep(c, c->out_constant.p, c->out_constant.n); /* what comes now is behind it */
    c->out_constant = STR_NONE;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].n == 0)
            continue;
        struct str rest = str_from(parts[i], skip);
        skip -= parts[i].n - rest.n;
        if (constant && i == count - 1)
            c->out_constant = c->broken ? STR_NONE : rest;
        else
            keep(c, rest.p, rest.n);
    }
}

/* More than is worth copying: straight to the socket, the rest is kept. */
static void send_large(struct http_conn *c, const struct str *parts, size_t count, bool constant)
{
    assert(count <= MAX_PARTS);
    struct iovec iov[MAX_PARTS];
    for (size_t i = 0; i < count; i++)
        iov[i] = (struct iovec){(void *)(uintptr_t)parts[i].p, parts[i].n};
    ssize_t sent = 0;
    if (!c->ssl) {
        struct msghdr m = {.msg_iov = iov, .msg_iovlen = count};
        sent = sendmsg(c->fd, &m, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            c->broken = true;
    }
    keep_all(c, parts, count, constant, sent < 0 ? 0 : (size_t)sent);
    if (c->ssl)
        http_conn_drain(c);
}

/* Where c's next n bytes are gathered; NULL: nowhere. */
static char *gather_room(struct http_conn *c, size_t n)
{
    struct http_loop *l = c->loop;
    if (http_conn_is_blocked(c) || c->broken)
        return NULL;
    bool last = c->gathered && c->gathered == &l->gathered[l->gathered_count - 1];
    if (c->gathered && c->gathered->n + n > SEND_LARGE)
        return NULL; /* how much of it the peer takes is to be known before more is made */
    if (n > HTTP_GATHER - l->gather_n || (!last && (c->gathered || l->gathered_count == HTTP_GATHERED)))
        return NULL;
    if (!c->gathered) {
        c->gathered = &l->gathered[l->gathered_count++];
        *c->gathered = (struct http_gathered){.conn = c, .at = l->gather_n};
    }
    c->gathered->n += n;
    l->gather_n += n;
    return l->gather + l->gather_n - n;
}

void http_conn_send(struct http_conn *c, const struct str *parts, size_t count, bool constant)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += parts[i].n;
    bool large = total > SEND_LARGE;
    if (large && c->gathered)
        send_gathered(c->loop, c->gathered);
    if (large && !http_conn_is_blocked(c)) {
        send_large(c, parts, count, constant);
        return;
    }
    char *p = gather_room(c, total);
    if (!p && !http_conn_is_blocked(c)) {
        http_loop_flush(c->loop);
        p = gather_room(c, total);
    }
    if (!p)
        keep_all(c, parts, count, constant, 0);
    for (size_t i = 0; p && i < count; i++)
        if (parts[i].n)
            p = (char *)memcpy(p, parts[i].p, parts[i].n) + parts[i].n;
}

/* ---- events ---- */

static void shake_hands(struct http_conn *c)
{
    enum http_tls_hello hello = SSL_in_before(c->ssl) ? http_tls_look(c->fd) : HTTP_TLS_HELLO_FINE;
    if (hello == HTTP_TLS_HELLO_REFUSED)
        http_conn_close(c, false);
    if (hello != HTTP_TLS_HELLO_FINE)
        return;
    int done = SSL_do_handshake(c->ssl);
    if (done == 1) {
        http_conn_enter(c, CONN_IDLE);
        http_session_input(c);
        return;
    }
    switch (tls_reason(c, done)) {
    case SSL_ERROR_WANT_READ:
        http_conn_wait_for(c, EV_READ);
        break;
    case SSL_ERROR_WANT_WRITE:
        http_conn_wait_for(c, EV_WRITE);
        break;
    default:
        http_conn_close(c, false);
    }
}

void http_loop_handshakes(struct http_loop *l)
{
    struct http_conn *c = TAILQ_FIRST(&l->handshakes);
    if (!c)
        return;
    int64_t until = clock_monotonic_us() + HTTP_HANDSHAKES_US;
    do {
        unready(c);
        shake_hands(c);
        c = TAILQ_FIRST(&l->handshakes);
    } while (c && clock_monotonic_us() < until);
    http_loop_turn(l); /* a handshake's last flight may bring a request */
}

static void drop_input(struct http_conn *c)
{
    char sink[16384];
    ssize_t n = recv(c->fd, sink, sizeof sink, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        http_conn_close(c, false);
}

static void on_event(evutil_socket_t fd, short what, void *arg)
{
    struct http_conn *c = arg;
    struct http_loop *l = c->loop;
    (void)fd;
    (void)what;
    if (c->state == CONN_HANDSHAKE)
        handshake_ready(c);
    else if (c->state == CONN_LINGER)
        drop_input(c);
    else
        http_session_input(c);
    if (l->ready_count >= HTTP_TURN)
        http_loop_turn(l);
}

void http_conn_wait_for(struct http_conn *c, short what)
{
    if (c->waiting_for == what)
        return;
    if (c->waiting_for)
        event_del(&c->ev);
    c->waiting_for = what;
    if (!what)
        return;
    event_assign(&c->ev, c->loop->base, c->fd, (short)(what | EV_PERSIST), on_event, c);
    if (event_add(&c->ev, NULL) != 0)
        abort(); /* no memory */
}

/* ---- beginning and end ---- */

void http_conn_open(struct http_loop *loop, int fd, SSL *ssl, const struct http_origin *origin)
{
    struct http_conn *c = http_pool_take(&loop->conns, sizeof *c);
    *c = (struct http_conn){.loop = loop, .fd = fd, .ssl = ssl, .origin = *origin, .out = BUF(HTTP_MAX_OUTPUT)};
    c->state = ssl ? CONN_HANDSHAKE : CONN_IDLE;
    c->deadline_ms = http_loop_now_ms() + loop->shared->limit_ms[c->state];
    append_to(&loop->lists[c->state], c);
    loop->connections++;
    http_conn_wait_for(c, EV_READ);
}

/* Says goodbye in TLS, so that the peer knows nothing was cut off. */
static void end_tls(struct http_conn *c)
{
    if (!c->ssl)
        return;
    if (!c->broken && c->state != CONN_HANDSHAKE)
        SSL_shutdown(c->ssl);
    ERR_clear_error();
    SSL_free(c->ssl);
    c->loop->freed += TLS_BYTES;
    c->ssl = NULL;
}

void http_conn_linger(struct http_conn *c)
{
    http_session_release(c);
    end_tls(c);
    if (shutdown(c->fd, SHUT_WR) != 0) {
        http_conn_close(c, false);
        return;
    }
    http_conn_enter(c, CONN_LINGER);
    http_conn_wait_for(c, EV_READ);
}

static void close_socket(struct http_conn *c, bool abort)
{
    unready(c);
    c->broken = c->broken || abort;
    if (c->gathered)
        send_gathered(c->loop, c->gathered);
    http_conn_wait_for(c, 0);
    end_tls(c);
    if (abort)
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1}, sizeof(struct linger));
    close(c->fd);
    c->fd = -1;
    c->broken = true;
    drop_kept(c);
    c->out_constant = STR_NONE;
    http_census_leave(c->loop->shared->census, &c->origin.address, c->origin.loopback || c->origin.trusted);
}

void http_conn_close(struct http_conn *c, bool abort)
{
    struct http_loop *l = c->loop;
    if (c->fd >= 0)
        close_socket(c, abort);
    http_session_broken(c);
    if (c->exchange) {
        http_conn_enter(c, CONN_DEAD);
        return;
    }
    http_session_release(c);
    unlink_from(&l->lists[c->state], c);
    l->connections--;
    http_pool_give(l, &l->conns, c, sizeof *c);
}

void http_conn_expire(struct http_conn *c)
{
    switch (c->state) {
    case CONN_HEAD:
    case CONN_BODY:
        http_session_timeout(c);
        break;
    case CONN_FLUSH:
        http_conn_close(c, true);
        break;
    default:
        http_conn_close(c, false);
    }
}
