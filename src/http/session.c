#include "http/session.h"

#include <assert.h>
#include <stdlib.h>

#include "http/loop.h"

#define CHUNKED_ROOM 1024 /* raw bytes a chunked body needs behind its head */
#define MAX_FILLS    16   /* reads of pending TLS data before other connections have their turn */

/* ---- buffers and exchanges ---- */

static struct http_inbuf *take_buffer(struct http_conn *c, size_t cap)
{
    struct http_inbuf *in =
        cap == HTTP_BUF_SMALL ? http_pool_take(&c->loop->inbufs, sizeof *in + cap) : malloc(sizeof *in + cap);
    if (!in)
        abort();
    in->cap = cap;
    return in;
}

static void give_buffer(struct http_conn *c, struct http_inbuf *in)
{
    if (in->cap == HTTP_BUF_SMALL)
        http_pool_give(c->loop, &c->loop->inbufs, in, sizeof *in + in->cap);
    else
        free(in);
}

void http_session_release(struct http_conn *c)
{
    if (c->in)
        give_buffer(c, c->in);
    c->in = NULL;
    c->in_at = c->in_n = 0;
}

/* Unused input moves to the front of the buffer, or if it is there already, into a large one. No request may point into
 * the buffer. False if nothing can be gained. */
static bool widen(struct http_conn *c)
{
    struct http_inbuf *from = c->in;
    size_t n = c->in_n - c->in_at;
    if (c->in_at == 0 && from->cap == HTTP_BUF_LARGE)
        return false;
    if (c->in_at == 0)
        c->in = take_buffer(c, HTTP_BUF_LARGE);
    memmove(c->in->bytes, from->bytes + c->in_at, n);
    if (c->in != from)
        give_buffer(c, from);
    c->in_at = 0;
    c->in_n = (uint32_t)n;
    return true;
}

static struct http_exchange *take_exchange(struct http_conn *c)
{
    struct http_exchange *x = http_pool_take(&c->loop->exchanges, sizeof *x);
    memset(x, 0, offsetof(struct http_exchange, headers));
    arena_init(&x->r.arena, x->arena, sizeof x->arena);
    x->conn = c;
    return x;
}

static void give_exchange(struct http_exchange *x)
{
    struct http_loop *l = x->conn->loop;
    arena_done(&x->r.arena);
    http_body_done(&x->body);
    http_pool_give(l, &l->exchanges, x, sizeof *x);
}

/* ---- input ---- */

static struct str unused(const struct http_conn *c)
{
    return str_n(c->in->bytes + c->in_at, c->in_n - c->in_at);
}

/* Where the next bytes go; NULL: nowhere, until the request that holds the buffer is answered. */
static char *room(struct http_conn *c, size_t *ret_n)
{
    if (c->exchange && c->state == CONN_BODY)
        return http_body_room(&c->exchange->body, c, ret_n);
    if (!c->in)
        c->in = take_buffer(c, HTTP_BUF_SMALL);
    if (c->in_n == c->in->cap && (c->exchange || !widen(c)))
        return NULL;
    *ret_n = c->in->cap - c->in_n;
    return c->in->bytes + c->in_n;
}

/* Reads once. True if bytes came. */
static bool fill(struct http_conn *c)
{
    size_t n;
    char *p = room(c, &n);
    if (!p)
        return false;
    n = http_conn_recv(c, p, n);
    if (c->exchange && c->state == CONN_BODY)
        http_body_got(&c->exchange->body, c, n);
    else
        c->in_n += (uint32_t)n;
    return n > 0;
}

/* More input is needed: reads what TLS has ready, which no event announces. */
static bool fill_pending(struct http_conn *c)
{
    if (!http_conn_has_pending(c))
        return false;
    return ++c->fills <= MAX_FILLS && fill(c);
}

/* ---- one request ---- */

static bool refuse(struct http_conn *c, struct http_exchange *x, enum err why)
{
    const struct http_handler *h = &c->loop->shared->handler;
    x->refused = true;
    c->exchange = x;
    c->closing = true;
    http_conn_enter(c, CONN_WAIT);
    http_peer_resolve(&x->r, &c->origin, &c->loop->shared->trusted);
    h->refuse(h->ctx, &x->r, why, c->loop->index);
    return false;
}

/* True if the request was answered at once. */
static bool deliver(struct http_conn *c, struct http_exchange *x)
{
    const struct http_handler *h = &c->loop->shared->handler;
    x->complete = true;
    http_conn_enter(c, CONN_WAIT);
    h->request(h->ctx, &x->r, c->loop->index);
    return !c->exchange;
}

/* The head is complete: asks the handler whether it wants the body. */
static bool begin(struct http_conn *c, struct http_exchange *x)
{
    const struct http_handler *h = &c->loop->shared->handler;
    const struct http_framing *f = &x->framing;
    uint64_t length = f->length;

    c->exchange = x;
    c->scanned = 0;
    c->in_at += (uint32_t)f->head_len;
    x->complete = !x->r.has_body;
    x->skip_body = !f->chunked && !f->expect_continue && length <= c->in_n - c->in_at;
    bool skip = x->skip_body;
    http_conn_enter(c, CONN_WAIT);
    http_peer_resolve(&x->r, &c->origin, &c->loop->shared->trusted);
    x->r.body_max = HTTP_MAX_BODY;
    h->head(h->ctx, &x->r, c->loop->index);
    if (!c->exchange) {
        if (skip)
            c->in_at += (uint32_t)length;
        return true;
    }
    if (length > x->r.body_max)
        return refuse(c, x, ERR_PAYLOAD_TOO_LARGE);
    if (x->complete)
        return deliver(c, x);
    http_body_init(&x->body, f, x->r.body_max, c);
    http_conn_enter(c, CONN_BODY);
    return true;
}

static bool idle(struct http_conn *c)
{
    c->scanned = 0;
    http_session_release(c);
    if (c->eof)
        c->closing = true;
    http_conn_enter(c, CONN_IDLE);
    return fill_pending(c);
}

/* A head that has stopped short has nothing new for the parser until a line ends. */
static bool is_worth_parsing(const struct http_conn *c, size_t have)
{
    assert(c->in || c->scanned == 0);
    return have >= HTTP_MAX_HEAD || c->eof || c->scanned == 0 ||
           memchr(c->in->bytes + c->in_at + c->scanned, '\n', have - c->scanned);
}

static bool await_head(struct http_conn *c, size_t have)
{
    c->scanned = (uint32_t)have;
    http_conn_enter(c, CONN_HEAD);
    return fill_pending(c);
}

static bool next_request(struct http_conn *c)
{
    if (c->closing)
        return false;
    if (c->in)
        c->in_at += (uint32_t)http_empty_lines(unused(c));
    size_t have = c->in_n - c->in_at;
    if (have == 0)
        return idle(c);
    if (!is_worth_parsing(c, have))
        return await_head(c, have);
    struct http_exchange *x = take_exchange(c);
    switch (http_head_parse(unused(c), x->headers, &x->r, &x->framing)) {
    case HTTP_PARSE_DONE:
        if (x->framing.chunked && c->in->cap - c->in_at - x->framing.head_len < CHUNKED_ROOM && widen(c)) {
            give_exchange(x);
            c->scanned = 0;
            return true;
        }
        return begin(c, x);
    case HTTP_PARSE_REFUSED:
        return refuse(c, x, x->framing.why);
    case HTTP_PARSE_MORE:
        break;
    }
    if (c->eof)
        return refuse(c, x, ERR_BAD_REQUEST);
    give_exchange(x);
    return await_head(c, have);
}

static void send_continue(struct http_conn *c, struct http_exchange *x)
{
    struct str interim = STR("HTTP/1.1 100 Continue\r\n\r\n");
    if (x->framing.expect_continue)
        http_conn_send(c, &interim, 1, false);
    x->framing.expect_continue = false;
}

static bool take_body(struct http_conn *c)
{
    struct http_exchange *x = c->exchange;
    switch (http_body_take(&x->body, c)) {
    case HTTP_BODY_DONE:
        x->r.body = http_body_view(&x->body);
        return deliver(c, x);
    case HTTP_BODY_LARGE:
        return refuse(c, x, ERR_PAYLOAD_TOO_LARGE);
    case HTTP_BODY_BAD:
        return refuse(c, x, ERR_BAD_REQUEST);
    case HTTP_BODY_MORE:
        break;
    }
    if (c->eof)
        return refuse(c, x, ERR_BAD_REQUEST);
    send_continue(c, x);
    return fill_pending(c);
}

/* ---- the connection as a whole ---- */

/* One step onward; false if there is none to make now. */
static bool step(struct http_conn *c)
{
    if (!c->exchange)
        return next_request(c);
    return c->state == CONN_BODY && take_body(c);
}

static bool can_go_on(const struct http_conn *c)
{
    return !c->broken && !http_conn_is_blocked(c);
}

static bool wants_input(const struct http_conn *c)
{
    bool full = c->state == CONN_WAIT && c->in && c->in_n == c->in->cap;
    return !c->eof && !full;
}

void http_session_settle(struct http_conn *c)
{
    if (c->broken || (c->state == CONN_IDLE && c->loop->draining)) {
        http_conn_close(c, false);
    } else if (http_conn_is_blocked(c)) {
        if (!c->exchange)
            http_conn_enter(c, CONN_FLUSH);
        http_conn_wait_for(c, EV_WRITE);
    } else if (c->closing && !c->exchange) {
        if (c->eof)
            http_conn_close(c, false);
        else
            http_conn_linger(c);
    } else {
        http_conn_wait_for(c, c->read_wants_write ? EV_WRITE : wants_input(c) ? EV_READ : 0);
        if (c->fills > MAX_FILLS && c->waiting_for == EV_READ)
            event_active(&c->ev, EV_READ, 0);
    }
}

void http_session_run(struct http_conn *c)
{
    c->running = true;
    c->fills = 0;
    http_conn_drain(c);
    while (can_go_on(c) && step(c))
        ;
    c->running = false;
    if (!c->gathered)
        http_session_settle(c);
}

void http_session_input(struct http_conn *c)
{
    if (!http_conn_is_blocked(c))
        fill(c);
    http_conn_ready(c);
}

void http_session_timeout(struct http_conn *c)
{
    struct http_exchange *x = c->exchange;
    c->running = true;
    if (!x) {
        x = take_exchange(c);
        (void)http_head_parse(unused(c), x->headers, &x->r, &x->framing);
    }
    refuse(c, x, ERR_REQUEST_TIMEOUT);
    http_session_run(c);
}

void http_session_broken(struct http_conn *c)
{
    if (!c->exchange || c->state != CONN_BODY)
        return;
    c->running = true;
    refuse(c, c->exchange, ERR_BAD_REQUEST);
    c->running = false;
}

void http_session_answered(struct http_conn *c)
{
    give_exchange(c->exchange);
    c->exchange = NULL;
    if (c->running)
        return;
    if (c->state == CONN_DEAD) {
        http_conn_close(c, false);
        return;
    }
    http_conn_ready(c);
}

void http_post(struct http_request *r, struct mail *mail)
{
    mailbox_post(&((struct http_exchange *)r)->conn->loop->mailbox, mail);
}
