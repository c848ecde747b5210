#include "http/conn.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "http/socket.h"

#define TURN          16    /* connections that are read before their protocols run */
#define HANDSHAKES_US 1000  /* for handshakes, before established connections have their next turn */
#define SEND_LARGE    16384 /* a TLS record */

_Static_assert(sizeof(struct http_conn) <= 512, "an idle connection must cost little");

/* ---- state ---- */

/* The monotonic clock, to a few milliseconds. */
static int64_t conn_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

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

static void put_in_list(struct http_conn *c, enum http_state state)
{
    struct http_conns *conns = c->conns;
    unlink_from(&conns->lists[c->state], c);
    c->state = state;
    c->deadline_ms = conn_now_ms() + conns->shared->limit_ms[state];
    append_to(&conns->lists[state], c);
}

void http_conn_enter(struct http_conn *c, enum http_state state)
{
    if (c->state != state)
        put_in_list(c, state);
}

void http_conn_renew(struct http_conn *c)
{
    put_in_list(c, c->state);
}

void http_conn_ready(struct http_conn *c)
{
    if (c->is_ready)
        return;
    c->is_ready = true;
    TAILQ_INSERT_TAIL(&c->conns->ready, c, ready);
    c->conns->ready_count++;
}

/* Clients that have answered us go first: they are there, and wait for less. */
static void handshake_ready(struct http_conn *c)
{
    if (c->is_ready)
        return;
    c->is_ready = true;
    if (SSL_in_before(c->ssl))
        TAILQ_INSERT_TAIL(&c->conns->handshakes, c, ready);
    else
        TAILQ_INSERT_HEAD(&c->conns->handshakes, c, ready);
}

static void unready(struct http_conn *c)
{
    if (!c->is_ready)
        return;
    c->is_ready = false;
    if (c->state == CONN_HANDSHAKE) {
        TAILQ_REMOVE(&c->conns->handshakes, c, ready);
        return;
    }
    TAILQ_REMOVE(&c->conns->ready, c, ready);
    c->conns->ready_count--;
}

/* ---- output ---- */

static void keep_output(struct http_conn *c, const char *p, size_t n)
{
    size_t before = c->out.n;
    if (c->broken || n == 0)
        return;
    buf_put(&c->out, p, n);
    if (c->out.full)
        c->broken = true;
    atomic_fetch_add_explicit(&c->conns->shared->output->held, c->out.n - before, memory_order_relaxed);
    http_conns_relieve(c->conns, c);
}

static void drop_output(struct http_conn *c)
{
    atomic_fetch_sub_explicit(&c->conns->shared->output->held, c->out.n, memory_order_relaxed);
    c->conns->freed += c->out.cap;
    buf_done(&c->out);
    c->out_at = 0;
}

static bool too_much_held(const struct http_output *o)
{
    return atomic_load_explicit(&o->held, memory_order_relaxed) > o->most;
}

/* A client that reads its replies has none waiting for long. */
void http_conns_relieve(struct http_conns *conns, const struct http_conn *except)
{
    static const enum http_state slow[] = {CONN_FLUSH, CONN_STREAM};
    const struct http_output *o = conns->shared->output;
    struct http_conn *next;
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        for (struct http_conn *c = conns->lists[slow[i]].first; c && too_much_held(o); c = next) {
            next = c->next;
            if (c != except && c->out.n != 0)
                http_conn_end(c, true);
        }
}

/* Tries again to send the output that the socket did not accept. */
static void drain_output(struct http_conn *c)
{
    if (c->out.n) {
        c->out_at += http_socket_send(c, c->out.p + c->out_at, c->out.n - c->out_at);
        if (c->out_at == c->out.n || c->broken)
            drop_output(c);
    }
    if (c->out.n == 0 && c->out_constant.n)
        c->out_constant = str_from(c->out_constant, http_socket_send(c, c->out_constant.p, c->out_constant.n));
    if (c->broken)
        c->out_constant = STR_NONE;
}

static void send_gathered(struct http_conns *conns, struct http_gathered *g)
{
    struct http_conn *c = g->conn;
    g->conn = NULL;
    c->gathered = NULL;
    size_t sent = http_socket_send(c, conns->gather + g->at, g->n);
    keep_output(c, conns->gather + g->at + sent, g->n - sent);
}

/* Sends the gathered output and settles its connections, some of which end. */
static void flush(struct http_conns *conns)
{
    for (unsigned i = 0; i < conns->gathered_count; i++) {
        struct http_conn *c = conns->gathered[i].conn;
        if (!c)
            continue;
        send_gathered(conns, &conns->gathered[i]);
        if (!c->running)
            c->protocol->settle(c);
    }
    conns->gathered_count = 0;
    conns->gather_n = 0;
}

static void keep_parts(struct http_conn *c, const struct str *parts, size_t count, bool constant, size_t skip)
{
    keep_output(c, c->out_constant.p, c->out_constant.n); /* the new parts follow it */
    c->out_constant = STR_NONE;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].n == 0)
            continue;
        struct str rest = str_from(parts[i], skip);
        skip -= parts[i].n - rest.n;
        if (constant && i == count - 1)
            c->out_constant = c->broken ? STR_NONE : rest;
        else
            keep_output(c, rest.p, rest.n);
    }
}

/* Too much to copy: goes straight to the socket, and the rest is kept. */
static void send_large(struct http_conn *c, const struct str *parts, size_t count, bool constant)
{
    size_t sent = c->ssl ? 0 : http_socket_send_parts(c, parts, count);
    keep_parts(c, parts, count, constant, sent);
    if (c->ssl)
        drain_output(c);
}

/* The place for the next n bytes of c's gathered output; NULL if they cannot be gathered. */
static char *gather_room(struct http_conn *c, size_t n)
{
    struct http_conns *conns = c->conns;
    if (http_conn_is_blocked(c) || c->broken)
        return NULL;
    bool last = c->gathered && c->gathered == &conns->gathered[conns->gathered_count - 1];
    if (c->gathered && c->gathered->n + n > SEND_LARGE)
        return NULL; /* before more is made, it must be known how much of it the peer accepts */
    if (n > HTTP_GATHER - conns->gather_n || (!last && (c->gathered || conns->gathered_count == HTTP_GATHERED)))
        return NULL;
    if (!c->gathered) {
        c->gathered = &conns->gathered[conns->gathered_count++];
        *c->gathered = (struct http_gathered){.conn = c, .at = conns->gather_n};
    }
    c->gathered->n += n;
    conns->gather_n += n;
    return conns->gather + conns->gather_n - n;
}

void http_conn_send(struct http_conn *c, const struct str *parts, size_t count, bool constant)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += parts[i].n;
    bool large = total > SEND_LARGE;
    if (large && c->gathered)
        send_gathered(c->conns, c->gathered);
    if (large && !http_conn_is_blocked(c)) {
        send_large(c, parts, count, constant);
        return;
    }
    char *p = gather_room(c, total);
    if (!p && !http_conn_is_blocked(c)) {
        flush(c->conns);
        p = gather_room(c, total);
    }
    if (!p)
        keep_parts(c, parts, count, constant, 0);
    for (size_t i = 0; p && i < count; i++)
        if (parts[i].n)
            p = (char *)memcpy(p, parts[i].p, parts[i].n) + parts[i].n;
}

/* ---- turns ---- */

static void run_protocol(struct http_conn *c)
{
    c->running = true;
    drain_output(c);
    c->protocol->run(c);
    c->running = false;
    if (!c->gathered)
        c->protocol->settle(c);
}

void http_conns_turn(struct http_conns *conns)
{
    struct http_conn *c;
    while ((c = TAILQ_FIRST(&conns->ready))) {
        unready(c);
        run_protocol(c);
    }
    flush(conns);
}

static void read_input(struct http_conn *c)
{
    c->protocol->input(c);
    http_conn_ready(c);
}

void http_conns_read_idle(struct http_conns *conns)
{
    for (struct http_conn *c = conns->lists[CONN_IDLE].first; c; c = c->next)
        read_input(c);
}

/* HTTP/1.1 is the only protocol so far; with a second one, SSL_get0_alpn_selected chooses. */
static void choose_protocol(struct http_conn *c)
{
    c->protocol = c->conns->shared->protocol;
}

static void shake_hands(struct http_conn *c)
{
    enum http_tls_hello hello = SSL_in_before(c->ssl) ? http_tls_look(c->fd) : HTTP_TLS_HELLO_FINE;
    if (hello == HTTP_TLS_HELLO_REFUSED)
        http_conn_end(c, false);
    if (hello != HTTP_TLS_HELLO_FINE)
        return;
    short event = http_socket_shake_hands(c);
    if (event) {
        http_conn_wait_for(c, event);
    } else if (c->broken) {
        http_conn_end(c, false);
    } else {
        choose_protocol(c);
        http_conn_enter(c, CONN_IDLE);
        read_input(c);
    }
}

void http_conns_handshakes(struct http_conns *conns)
{
    struct http_conn *c = TAILQ_FIRST(&conns->handshakes);
    if (!c)
        return;
    int64_t until = clock_monotonic_us() + HANDSHAKES_US;
    do {
        unready(c);
        shake_hands(c);
        c = TAILQ_FIRST(&conns->handshakes);
    } while (c && clock_monotonic_us() < until);
    http_conns_turn(conns); /* a handshake's last flight may bring a request */
}

/* ---- events ---- */

static void drop_input(struct http_conn *c)
{
    char sink[16384];
    ssize_t n = recv(c->fd, sink, sizeof sink, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        http_conn_end(c, false);
}

static void on_event(evutil_socket_t fd, short event, void *arg)
{
    struct http_conn *c = arg;
    struct http_conns *conns = c->conns;
    (void)fd;
    (void)event;
    if (c->state == CONN_HANDSHAKE)
        handshake_ready(c);
    else if (c->state == CONN_LINGER)
        drop_input(c);
    else
        read_input(c);
    if (conns->ready_count >= TURN)
        http_conns_turn(conns);
}

void http_conn_wait_for(struct http_conn *c, short event)
{
    if (c->waiting_for == event)
        return;
    if (c->waiting_for)
        event_del(&c->ev);
    c->waiting_for = event;
    if (!event)
        return;
    event_assign(&c->ev, c->conns->base, c->fd, (short)(event | EV_PERSIST), on_event, c);
    if (event_add(&c->ev, NULL) != 0)
        abort(); /* no memory */
}

/* ---- beginning and end ---- */

void http_conn_open(struct http_conns *conns, int fd, SSL *ssl, const struct http_origin *origin)
{
    struct http_conn *c = http_pool_take(&conns->pool, sizeof *c);
    *c = (struct http_conn){.conns = conns, .fd = fd, .ssl = ssl, .origin = *origin, .out = BUF(HTTP_MAX_OUTPUT)};
    c->state = ssl ? CONN_HANDSHAKE : CONN_IDLE;
    c->deadline_ms = conn_now_ms() + conns->shared->limit_ms[c->state];
    if (!ssl)
        choose_protocol(c);
    append_to(&conns->lists[c->state], c);
    conns->count++;
    http_conn_wait_for(c, EV_READ);
}

void http_conn_linger(struct http_conn *c)
{
    http_socket_end_tls(c);
    if (shutdown(c->fd, SHUT_WR) != 0) {
        http_conn_end(c, false);
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
        send_gathered(c->conns, c->gathered);
    http_conn_wait_for(c, 0);
    http_socket_end_tls(c);
    if (abort)
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1}, sizeof(struct linger));
    close(c->fd);
    c->fd = -1;
    c->broken = true;
    drop_output(c);
    c->out_constant = STR_NONE;
    http_conn_counter_remove(c->conns->shared->counter, &c->origin.address, c->origin.loopback || c->origin.trusted);
}

void http_conn_end(struct http_conn *c, bool abort)
{
    close_socket(c, abort);
    c->running = true;
    bool ended = !c->protocol || c->protocol->close(c);
    c->running = false;
    if (ended)
        http_conn_free(c);
    else
        http_conn_enter(c, CONN_DEAD);
}

void http_conn_free(struct http_conn *c)
{
    struct http_conns *conns = c->conns;
    unlink_from(&conns->lists[c->state], c);
    conns->count--;
    conns->freed += http_pool_give(&conns->pool, c, sizeof *c);
}

static void expire(struct http_conn *c)
{
    switch (c->state) {
    case CONN_HEAD:
    case CONN_BODY:
        c->running = true;
        c->protocol->timeout(c);
        run_protocol(c);
        break;
    case CONN_FLUSH:
        http_conn_end(c, true);
        break;
    case CONN_STREAM:
        c->protocol->timeout(c);
        break;
    default:
        http_conn_end(c, false);
    }
}

void http_conns_expire(struct http_conns *conns)
{
    int64_t now = conn_now_ms();
    for (unsigned s = 0; s < CONN_STATES; s++)
        while (conns->shared->limit_ms[s] && conns->lists[s].first && conns->lists[s].first->deadline_ms <= now)
            expire(conns->lists[s].first);
}

void http_conns_abort(struct http_conns *conns)
{
    for (unsigned s = 0; s < CONN_DEAD; s++)
        while (conns->lists[s].first)
            http_conn_end(conns->lists[s].first, true);
}

void http_conns_init(struct http_conns *conns, const struct http_shared *shared, unsigned loop, struct event_base *base,
                     struct mailbox *mailbox)
{
    conns->shared = shared;
    conns->base = base;
    conns->mailbox = mailbox;
    conns->loop = loop;
    TAILQ_INIT(&conns->ready);
    TAILQ_INIT(&conns->handshakes);
}

void http_conns_done(struct http_conns *conns)
{
    for (struct http_conn *c; (c = conns->lists[CONN_DEAD].first);)
        c->protocol->abandon(c);
    http_pool_done(&conns->pool);
    http_pool_done(&conns->inbufs);
    http_pool_done(&conns->exchanges);
}

/* ---- requests ---- */

void http_respond(struct http_request *r, int status, struct str head, struct str body)
{
    r->conn->protocol->respond(r, status, head, body, false);
}

void http_respond_constant(struct http_request *r, int status, struct str head, struct str body)
{
    r->conn->protocol->respond(r, status, head, body, true);
}

void http_post(struct http_request *r, struct mail *mail)
{
    mailbox_post(r->conn->conns->mailbox, mail);
}
