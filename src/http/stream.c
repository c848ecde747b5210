#include "http/stream.h"

#include "http/conn.h"

struct http_conn *http_stream_begin(struct http_request *r, struct str head, const struct http_stream_handler *handler,
                                    void *user)
{
    struct http_conn *c = r->conn;
    if (!c->protocol->begin_stream(r, head))
        return NULL;
    c->stream = handler;
    c->stream_user = user;
    return c;
}

size_t http_stream_room(const struct http_conn *c)
{
    return c->out.n < HTTP_STREAM_OUTPUT ? HTTP_STREAM_OUTPUT - c->out.n : 0;
}

void http_stream_await(struct http_conn *c)
{
    c->awaited = true;
    http_conn_ready(c);
}

bool http_stream_send(struct http_conn *c, struct str bytes)
{
    if (bytes.n > http_stream_room(c)) {
        http_conn_end(c, true);
        return false;
    }
    c->running = true; /* so that it does not end while it is sent to */
    http_conn_send(c, &bytes, 1, false);
    c->running = false;
    http_conn_ready(c);
    return true;
}

void http_stream_end(struct http_conn *c)
{
    http_stream_closed(c);
    http_conn_enter(c, CONN_FLUSH);
    http_conn_ready(c);
}

struct mailbox *http_stream_mailbox(const struct http_conn *c)
{
    return c->conns->mailbox;
}

/* ---- for the connection ---- */

void http_stream_closed(struct http_conn *c)
{
    const struct http_stream_handler *handler = c->stream;
    c->stream = NULL;
    if (handler)
        handler->closed(c->stream_user);
}

void http_stream_settle(struct http_conn *c)
{
    if (!c->awaited || http_conn_is_blocked(c))
        return;
    c->awaited = false;
    c->stream->taken(c->stream_user);
}

void http_stream_beat(struct http_conn *c)
{
    if (c->stalled && http_conn_is_blocked(c)) {
        http_conn_end(c, true);
        return;
    }
    c->stalled = http_conn_is_blocked(c);
    http_conn_renew(c);
    c->stream->beat(c->stream_user);
}

void http_streams_drain(struct http_conns *conns)
{
    struct http_conn *c;
    while ((c = conns->lists[CONN_STREAM].first))
        c->stream->drain(c->stream_user);
}
