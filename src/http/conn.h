/* One connection: its socket, TLS, buffered output, and the list its state puts it in.
 *
 * This layer moves bytes and knows no protocol. What the bytes mean is http/session.h's business, which it calls
 * through one function; HTTP/2 would be another such function, chosen by ALPN after the handshake. Everything here runs
 * on the connection's loop thread. */
#pragma once
#include <event2/event.h>
#include <event2/event_struct.h>
#include <openssl/ssl.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "http/peer.h"

#define HTTP_MAX_OUTPUT (16u << 20) /* bytes waiting for one peer; a reply beyond it ends the connection */

/* Each state has its list on the loop, oldest first, and a time limit (0: none), so a list is ordered by deadline. */
enum http_state {
    CONN_HANDSHAKE, /* TLS */
    CONN_IDLE,      /* between requests; no buffers held */
    CONN_HEAD,      /* a head has begun to arrive */
    CONN_BODY,      /* a body is arriving */
    CONN_WAIT,      /* the handler has the request and will answer */
    CONN_FLUSH,     /* the peer is slow to take its reply; nothing is read meanwhile */
    CONN_LINGER,    /* our side is closed; input is dropped until the peer closes its own (RFC 9112 section 9.6) */
    CONN_DEAD,      /* the socket is gone; the handler still has the request */
    CONN_STATES
};

struct http_loop;
struct http_exchange;

/* A read buffer, pooled by the loop. */
struct http_inbuf {
    struct http_inbuf *next;
    size_t cap;
    char bytes[];
};

struct http_conn {
    struct http_conn *prev, *next; /* in the list of its state */
    TAILQ_ENTRY(http_conn) ready;  /* in the loop's queue, if is_ready */
    struct http_loop *loop;
    int64_t deadline_ms;
    struct event ev;
    SSL *ssl; /* NULL: plain */
    int fd;
    enum http_state state;
    short waiting_for;     /* EV_READ, EV_WRITE or 0 */
    bool is_ready;         /* input, room for output or a reply has come: the session is to run in this turn */
    bool running;          /* the session is at work: it settles what happens meanwhile */
    bool eof;              /* the peer has sent all it will */
    bool broken;           /* nothing more can be sent or received */
    bool closing;          /* no further request is taken */
    bool read_wants_write; /* TLS must send (a key update's answer) before it can go on reading */
    struct http_origin origin;

    struct http_gathered *gathered; /* its output that waits in the loop's buffer; NULL: none */
    struct buf out;                 /* what the socket did not take at once; while there is some, nothing is gathered */
    size_t out_at;
    struct str out_constant; /* follows `out`: of a body that is never freed */

    /* The session's. */
    struct http_inbuf *in; /* bytes in_at..in_n are not yet used */
    uint32_t in_at, in_n;
    uint32_t scanned; /* bytes of an incomplete head that were parsed in vain */
    unsigned fills;   /* reads of pending TLS data in this run */
    struct http_exchange *exchange;
};

struct http_conn_list {
    struct http_conn *first, *last;
};

/* Takes over fd and, if not NULL, ssl. */
void http_conn_open(struct http_loop *loop, int fd, SSL *ssl, const struct http_origin *origin);
/* The only place that changes a connection's state; also sets its deadline, unless the state stays the same. */
void http_conn_enter(struct http_conn *c, enum http_state state);

/* Has its session run before this turn of the loop ends. */
void http_conn_ready(struct http_conn *c);

/* Reads at most n bytes. 0: there are none now; eof or broken may have been set. */
size_t http_conn_recv(struct http_conn *c, void *p, size_t n);
/* TLS has bytes that no event will announce. */
bool http_conn_has_pending(const struct http_conn *c);

/* Queues the parts, in order. They are copied or sent before it returns, but for the last one if it is `constant`: that
 * outlives the connection. http_loop_flush sends what was queued. */
void http_conn_send(struct http_conn *c, const struct str *parts, size_t count, bool constant);
/* Tries again to send what the socket did not take. */
void http_conn_drain(struct http_conn *c);
/* The socket has not taken everything. */
static inline bool http_conn_is_blocked(const struct http_conn *c)
{
    return c->out.n > 0 || c->out_constant.n > 0;
}

/* Waits for EV_READ, EV_WRITE or nothing (0). */
void http_conn_wait_for(struct http_conn *c, short what);
/* Closes our side and goes on reading until the peer has closed its own. */
void http_conn_linger(struct http_conn *c);
/* Ends the connection. It lives on as CONN_DEAD while the handler has its request; else c is gone. abort: with a reset,
 * dropping unsent bytes. */
void http_conn_close(struct http_conn *c, bool abort);
/* The time limit of its state has passed. */
void http_conn_expire(struct http_conn *c);
