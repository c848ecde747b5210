#include "http/http1.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "http/body.h"
#include "http/parse.h"
#include "http/socket.h"

#define BUF_SMALL    (4096 - 32)
#define BUF_LARGE    (HTTP_MAX_HEAD + 4096 - 32)
#define ARENA_FIRST  3072
#define CHUNKED_ROOM 1024 /* raw bytes that a chunked body needs behind its head */
#define MAX_FILLS    16   /* reads of pending TLS data before other connections are served */

/* A request and the server's state of it. Pooled: only the part before `headers` is cleared for reuse. */
struct http_exchange {
    struct http_request r; /* first: the handler's pointer is ours */
    struct http_framing framing;
    struct http_body body;
    bool complete;  /* the body was read, or there is none */
    bool refused;   /* the connection closes after the reply */
    bool skip_body; /* the whole body is in the buffer, so an early answer need not close */
    struct http_header headers[HTTP_MAX_HEADERS];
    _Alignas(16) char arena[ARENA_FIRST];
};

/* The result of a step: go on with the next one, or wait for an event. */
enum progress { GO_ON, WAIT };

/* ---- buffers and exchanges ---- */

static struct http_inbuf *inbuf_new(struct http_conn *c, size_t cap)
{
    size_t size = sizeof(struct http_inbuf) + cap;
    struct http_inbuf *in = cap == BUF_SMALL ? http_pool_take(&c->conns->inbufs, size) : mem_bytes(size);
    in->cap = cap;
    return in;
}

static void inbuf_free(struct http_conn *c, struct http_inbuf *in)
{
    if (in->cap == BUF_SMALL)
        c->conns->freed += http_pool_give(&c->conns->inbufs, in, sizeof *in + in->cap);
    else
        free(in);
}

static void release_input(struct http_conn *c)
{
    if (c->in)
        inbuf_free(c, c->in);
    c->in = NULL;
    c->in_at = c->in_n = 0;
}

/* Moves unused input to the front of the buffer, or if it is there already, into a large one. No request may point into
 * the buffer. Returns false if that gains no space. */
static bool widen_input(struct http_conn *c)
{
    struct http_inbuf *from = c->in;
    size_t n = c->in_n - c->in_at;
    if (c->in_at == 0 && from->cap == BUF_LARGE)
        return false;
    if (c->in_at == 0)
        c->in = inbuf_new(c, BUF_LARGE);
    memmove(c->in->bytes, from->bytes + c->in_at, n);
    if (c->in != from)
        inbuf_free(c, from);
    c->in_at = 0;
    c->in_n = (uint32_t)n;
    return true;
}

static struct http_exchange *exchange_new(struct http_conn *c)
{
    struct http_exchange *x = http_pool_take(&c->conns->exchanges, sizeof *x);
    memset(x, 0, offsetof(struct http_exchange, headers));
    arena_init(&x->r.arena, x->arena, sizeof x->arena);
    x->r.conn = c;
    return x;
}

static void exchange_free(struct http_exchange *x)
{
    struct http_conns *conns = x->r.conn->conns;
    arena_done(&x->r.arena);
    http_body_done(&x->body);
    conns->freed += http_pool_give(&conns->exchanges, x, sizeof *x);
}

/* ---- input ---- */

static struct str unused_input(const struct http_conn *c)
{
    return str_n(c->in->bytes + c->in_at, c->in_n - c->in_at);
}

/* The place for the next bytes; NULL until the request that holds the buffer is answered. */
static char *input_room(struct http_conn *c, size_t *ret_n)
{
    if (c->exchange && c->state == CONN_BODY)
        return http_body_room(&c->exchange->body, c, ret_n);
    if (!c->in)
        c->in = inbuf_new(c, BUF_SMALL);
    if (c->in_n == c->in->cap && (c->exchange || !widen_input(c)))
        return NULL;
    *ret_n = c->in->cap - c->in_n;
    return c->in->bytes + c->in_n;
}

/* Reads once. Returns whether bytes arrived. */
static bool read_once(struct http_conn *c)
{
    size_t n;
    char *p = input_room(c, &n);
    if (!p)
        return false;
    n = http_socket_recv(c, p, n);
    if (c->exchange && c->state == CONN_BODY)
        http_body_got(&c->exchange->body, c, n);
    else
        c->in_n += (uint32_t)n;
    return n > 0;
}

/* More input is needed: reads the bytes that TLS has ready, which no event announces. */
static enum progress read_pending(struct http_conn *c)
{
    if (!http_socket_has_pending(c) || ++c->fills > MAX_FILLS)
        return WAIT;
    return read_once(c) ? GO_ON : WAIT;
}

/* ---- one request ---- */

static void refuse_request(struct http_conn *c, struct http_exchange *x, enum err why)
{
    const struct http_handler *h = &c->conns->shared->handler;
    x->refused = true;
    c->exchange = x;
    c->closing = true;
    http_conn_enter(c, CONN_WAIT);
    http_peer_resolve(&x->r, &c->origin, &c->conns->shared->trusted);
    h->refuse(h->ctx, &x->r, why, c->conns->loop);
}

static void deliver_request(struct http_conn *c, struct http_exchange *x)
{
    const struct http_handler *h = &c->conns->shared->handler;
    x->complete = true;
    http_conn_enter(c, CONN_WAIT);
    h->request(h->ctx, &x->r, c->conns->loop);
}

/* The head is complete: the handler may answer before the body is read. */
static void begin_exchange(struct http_conn *c, struct http_exchange *x)
{
    const struct http_handler *h = &c->conns->shared->handler;
    const struct http_framing *f = &x->framing;
    uint64_t length = f->length;

    c->exchange = x;
    c->scanned = 0;
    c->in_at += (uint32_t)f->head_len;
    x->complete = !x->r.has_body;
    x->skip_body = !f->chunked && !f->expect_continue && length <= c->in_n - c->in_at;
    bool skip = x->skip_body;
    http_conn_enter(c, CONN_WAIT);
    http_peer_resolve(&x->r, &c->origin, &c->conns->shared->trusted);
    x->r.body_max = HTTP_MAX_BODY;
    h->head(h->ctx, &x->r, c->conns->loop);
    if (!c->exchange) { /* answered, and x is gone */
        if (skip)
            c->in_at += (uint32_t)length;
        return;
    }
    if (length > x->r.body_max) {
        refuse_request(c, x, ERR_PAYLOAD_TOO_LARGE);
    } else if (x->complete) {
        deliver_request(c, x);
    } else {
        http_body_init(&x->body, f, x->r.body_max, c);
        http_conn_enter(c, CONN_BODY);
    }
}

static enum progress await_request(struct http_conn *c)
{
    c->scanned = 0;
    release_input(c);
    if (c->eof)
        c->closing = true;
    http_conn_enter(c, CONN_IDLE);
    return read_pending(c);
}

/* An incomplete head has nothing new for the parser until a line ends. */
static bool is_worth_parsing(const struct http_conn *c, size_t have)
{
    assert(c->in || c->scanned == 0);
    return have >= HTTP_MAX_HEAD || c->eof || c->scanned == 0 ||
           memchr(c->in->bytes + c->in_at + c->scanned, '\n', have - c->scanned);
}

static enum progress await_head(struct http_conn *c, size_t have)
{
    c->scanned = (uint32_t)have;
    http_conn_enter(c, CONN_HEAD);
    return read_pending(c);
}

/* A chunked body needs room behind its head, and moving the head would invalidate the parsed slices. */
static bool needs_room(struct http_conn *c, const struct http_framing *f)
{
    return f->chunked && c->in->cap - c->in_at - f->head_len < CHUNKED_ROOM && widen_input(c);
}

static enum progress http1_read_head(struct http_conn *c, size_t have)
{
    struct http_exchange *x = exchange_new(c);
    switch (http_head_parse(unused_input(c), x->headers, &x->r, &x->framing)) {
    case HTTP_PARSE_DONE:
        if (needs_room(c, &x->framing)) {
            exchange_free(x);
            c->scanned = 0;
        } else {
            begin_exchange(c, x);
        }
        return GO_ON;
    case HTTP_PARSE_REFUSED:
        refuse_request(c, x, x->framing.why);
        return WAIT;
    case HTTP_PARSE_MORE:
        break;
    }
    if (c->eof) {
        refuse_request(c, x, ERR_BAD_REQUEST);
        return WAIT;
    }
    exchange_free(x);
    return await_head(c, have);
}

static enum progress next_request(struct http_conn *c)
{
    if (c->closing)
        return WAIT;
    if (c->in)
        c->in_at += (uint32_t)http_empty_lines(unused_input(c));
    size_t have = c->in_n - c->in_at;
    if (have == 0)
        return await_request(c);
    return is_worth_parsing(c, have) ? http1_read_head(c, have) : await_head(c, have);
}

static void send_continue(struct http_conn *c, struct http_exchange *x)
{
    struct str interim = STR("HTTP/1.1 100 Continue\r\n\r\n");
    if (x->framing.expect_continue)
        http_conn_send(c, &interim, 1, false);
    x->framing.expect_continue = false;
}

static enum progress http1_read_body(struct http_conn *c)
{
    struct http_exchange *x = c->exchange;
    switch (http_body_take(&x->body, c)) {
    case HTTP_BODY_DONE:
        x->r.body = http_body_view(&x->body);
        deliver_request(c, x);
        return GO_ON;
    case HTTP_BODY_LARGE:
        refuse_request(c, x, ERR_PAYLOAD_TOO_LARGE);
        return WAIT;
    case HTTP_BODY_BAD:
        refuse_request(c, x, ERR_BAD_REQUEST);
        return WAIT;
    case HTTP_BODY_MORE:
        break;
    }
    if (c->eof) {
        refuse_request(c, x, ERR_BAD_REQUEST);
        return WAIT;
    }
    send_continue(c, x);
    return read_pending(c);
}

/* ---- the connection ---- */

static enum progress http1_step(struct http_conn *c)
{
    if (c->state == CONN_STREAM)
        return WAIT;
    if (!c->exchange)
        return next_request(c);
    return c->state == CONN_BODY ? http1_read_body(c) : WAIT;
}

static void http1_run(struct http_conn *c)
{
    c->fills = 0;
    while (!c->broken && !http_conn_is_blocked(c) && http1_step(c) == GO_ON)
        ;
}

/* A client has nothing to say on a stream, but its end must be noticed. */
static void drop_stream_input(struct http_conn *c)
{
    char sink[1024];
    for (int i = 0; i < MAX_FILLS && http_socket_recv(c, sink, sizeof sink) > 0; i++)
        ;
}

static void http1_input(struct http_conn *c)
{
    if (c->state == CONN_STREAM)
        drop_stream_input(c);
    else if (!http_conn_is_blocked(c))
        (void)read_once(c);
}

static void wait_for_event(struct http_conn *c)
{
    bool full = c->state == CONN_WAIT && c->in && c->in_n == c->in->cap;
    bool wants_input = !c->eof && !full;
    http_conn_wait_for(c, c->read_wants_write ? EV_WRITE : wants_input ? EV_READ : 0);
    if (c->fills > MAX_FILLS && c->waiting_for == EV_READ)
        event_active(&c->ev, EV_READ, 0);
}

static void settle_stream(struct http_conn *c)
{
    const bool writes = http_conn_is_blocked(c) || c->read_wants_write;
    if (c->broken || c->eof)
        http_conn_end(c, false);
    else {
        http_conn_wait_for(c, writes ? EV_READ | EV_WRITE : EV_READ);
        http_stream_settle(c);
    }
}

static void http1_settle(struct http_conn *c)
{
    if (c->state == CONN_STREAM)
        settle_stream(c);
    else if (c->broken || (c->state == CONN_IDLE && c->conns->ending_idle)) {
        http_conn_end(c, false);
    } else if (http_conn_is_blocked(c)) {
        if (!c->exchange)
            http_conn_enter(c, CONN_FLUSH);
        http_conn_wait_for(c, EV_WRITE);
    } else if (c->exchange || !c->closing) {
        wait_for_event(c);
    } else if (c->eof) {
        http_conn_end(c, false);
    } else {
        release_input(c);
        http_conn_linger(c);
    }
}

static void http1_timeout(struct http_conn *c)
{
    struct http_exchange *x = c->exchange;
    if (c->state == CONN_STREAM) {
        http_stream_beat(c);
        return;
    }
    if (!x) {
        x = exchange_new(c);
        (void)http_head_parse(unused_input(c), x->headers, &x->r, &x->framing);
    }
    refuse_request(c, x, ERR_REQUEST_TIMEOUT);
}

static bool http1_close(struct http_conn *c)
{
    if (c->exchange && c->state == CONN_BODY)
        refuse_request(c, c->exchange, ERR_BAD_REQUEST);
    if (c->exchange)
        return false;
    http_stream_closed(c);
    release_input(c);
    return true;
}

static void http1_abandon(struct http_conn *c)
{
    exchange_free(c->exchange);
    release_input(c);
    http_conn_free(c);
}

/* ---- replies ---- */

static void http1_send_reply(struct http_exchange *x, int status, struct str head, struct str body, bool constant,
                             bool keep)
{
    struct http_conn *c = x->r.conn;
    const char *option = !keep ? "close" : x->framing.http10 ? "keep-alive" : NULL;
    char space[256];
    struct buf b = {.p = space, .cap = sizeof space, .max = sizeof space};
    http_reply_head(&b, &c->conns->date, status, body.n, option);
    if (x->r.method == HTTP_HEAD || !http_status_has_content(status))
        body = STR("");
    struct str parts[] = {buf_view(&b), head, STR("\r\n"), body};
    http_conn_send(c, parts, sizeof parts / sizeof *parts, constant);
}

static void http1_respond(struct http_request *r, int status, struct str head, struct str body, bool constant)
{
    struct http_exchange *x = (struct http_exchange *)r;
    struct http_conn *c = r->conn;
    bool keep = x->framing.keep_alive && !x->refused && (x->complete || x->skip_body) && !c->conns->draining;
    if (!keep)
        c->closing = true;
    if (!c->broken)
        http1_send_reply(x, status, head, body, constant, keep);
    if (c->state == CONN_DEAD) {
        http1_abandon(c);
        return;
    }
    exchange_free(x);
    c->exchange = NULL;
    if (!c->running)
        http_conn_ready(c);
}

static bool http1_begin_stream(struct http_request *r, struct str head)
{
    struct http_exchange *x = (struct http_exchange *)r;
    struct http_conn *c = r->conn;
    char space[256];
    struct buf b = {.p = space, .cap = sizeof space, .max = sizeof space};
    if (c->state == CONN_DEAD) {
        http1_abandon(c);
        return false;
    }
    http_stream_head(&b, &c->conns->date);
    const struct str parts[] = {buf_view(&b), head, STR("\r\n")};
    http_conn_send(c, parts, sizeof parts / sizeof *parts, false);
    exchange_free(x);
    c->exchange = NULL;
    c->closing = true;
    release_input(c);
    http_conn_enter(c, CONN_STREAM);
    if (!c->running)
        http_conn_ready(c);
    return true;
}

const struct http_protocol http1_protocol = {
    .input = http1_input,
    .run = http1_run,
    .settle = http1_settle,
    .timeout = http1_timeout,
    .close = http1_close,
    .abandon = http1_abandon,
    .respond = http1_respond,
    .begin_stream = http1_begin_stream,
};
