/* Connections: their sockets, TLS, buffered output and deadlines, and the turns in which a loop serves them.
 *
 * This layer moves bytes. A protocol gives them their meaning: HTTP/1.1 is http/http1.h; HTTP/2 would be a second
 * struct http_protocol. Everything here runs on the loop thread of the connections. */
#pragma once
#include <event2/event.h>
#include <event2/event_struct.h>
#include <openssl/ssl.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/refusals.h"
#include "http/conn_counter.h"
#include "http/peer.h"
#include "http/pool.h"
#include "http/reply.h"
#include "http/tls.h"

#define HTTP_GATHER     65536       /* bytes of output, */
#define HTTP_GATHERED   16          /* of so many connections, that are sent together */
#define HTTP_MAX_OUTPUT (16u << 20) /* bytes waiting for one peer; a reply beyond it ends the connection */

/* Each state has its list, oldest first, and a time limit (0: none), so a list is ordered by deadline. */
enum http_state {
    CONN_HANDSHAKE, /* TLS */
    CONN_IDLE,      /* between requests; no buffers held */
    CONN_HEAD,      /* a head has begun to arrive */
    CONN_BODY,      /* a body is arriving */
    CONN_WAIT,      /* the handler has the request and will answer */
    CONN_FLUSH,     /* the peer is slow to read its reply; nothing is read meanwhile */
    CONN_STREAM,    /* the reply goes on (http/stream.h); the time limit is its next beat */
    CONN_LINGER,    /* our side is closed; input is dropped until the peer closes its side (RFC 9112 section 9.6) */
    CONN_DEAD,      /* the socket is closed; the handler still has the request */
    CONN_STATES
};

struct http_exchange;

/* A read buffer. */
struct http_inbuf {
    struct http_inbuf *next;
    size_t cap;
    char bytes[];
};

/* The meaning of a connection's bytes. While `run`, `timeout` or `close` is at work, `running` is set: an answer that
 * is made meanwhile needs no further run. */
struct http_protocol {
    /* The socket has bytes, or has room again: reads once, unless output is in the way. `run` follows in this turn. */
    void (*input)(struct http_conn *c);
    /* Input has arrived, output has drained or an answer was made: goes on as far as possible. */
    void (*run)(struct http_conn *c);
    /* The output is on its way: chooses the state and the event to wait for. May end the connection. */
    void (*settle)(struct http_conn *c);
    /* The time limit of CONN_HEAD or CONN_BODY has passed: refuses the request, and `run` follows. Or CONN_STREAM's
     * next beat is due, which may end the connection. */
    void (*timeout)(struct http_conn *c);
    /* The socket is closed. Refuses requests whose bodies are incomplete, and frees everything that no handler needs.
     * Returns false if a handler still has a request; http_conn_free must follow its answer. */
    bool (*close)(struct http_conn *c);
    /* The handlers are gone: frees their requests and the connection. Only in CONN_DEAD. */
    void (*abandon)(struct http_conn *c);
    /* The body of http_respond and http_respond_constant. */
    void (*respond)(struct http_request *r, int status, struct str head, struct str body, bool constant);
    /* The head of http_stream_begin: enters CONN_STREAM. Returns false if the socket is closed. r is freed. */
    bool (*begin_stream)(struct http_request *r, struct str head);
};

struct http_stream_handler;

struct http_conn {
    struct http_conn *prev, *next; /* in the list of its state */
    TAILQ_ENTRY(http_conn) ready;  /* in one of the queues, if is_ready */
    struct http_conns *conns;
    const struct http_protocol *protocol; /* NULL until the handshake is complete */
    int64_t deadline_ms;
    struct event ev;
    SSL *ssl; /* NULL: plain */
    int fd;
    enum http_state state;
    short waiting_for;     /* EV_READ, EV_WRITE or 0 */
    bool is_ready;         /* the protocol must run in this turn, or the handshake go on */
    bool running;          /* set while the protocol is at work, and settles afterwards */
    bool eof;              /* the peer has closed its side */
    bool broken;           /* nothing more can be sent or received */
    bool closing;          /* no further request is accepted */
    bool read_wants_write; /* TLS must send (the answer to a key update) before it can read on */
    struct http_origin origin;

    struct http_gathered *gathered; /* its output in the common buffer; NULL: none */
    struct buf out;                 /* output that the socket did not accept; while there is some, none is gathered */
    size_t out_at;
    struct str out_constant; /* follows `out`: the rest of a body that is never freed */

    /* HTTP/1.1's. */
    struct http_inbuf *in; /* bytes in_at..in_n are not used yet */
    uint32_t in_at, in_n;
    uint32_t scanned; /* bytes of an incomplete head that were parsed in vain */
    unsigned fills;   /* reads of pending TLS data in this run */
    struct http_exchange *exchange;

    const struct http_stream_handler *stream; /* NULL: no stream */
    void *stream_user;
    bool stalled; /* output was waiting at the last beat */
    bool awaited; /* the stream's handler is told when the output has been taken */
};

struct http_conn_list {
    struct http_conn *first, *last;
};

struct http_gathered {
    struct http_conn *conn; /* NULL: sent, or no longer wanted */
    size_t at, n;           /* its bytes in the buffer */
};

/* Replies that their peers have not read yet. */
struct http_output {
    size_t most; /* beyond it, the connections that have waited longest are closed */
    atomic_size_t held;
};

/* Shared by all loops. Constant once the threads run, except for tls, counter and output, which synchronise themselves.
 */
struct http_shared {
    struct http_handler handler;
    const struct http_protocol *protocol;
    struct http_tls *tls;
    struct http_conn_counter *counter;
    struct http_output *output;
    struct net_cidrs trusted;
    int64_t limit_ms[CONN_STATES];
    int64_t drain_ms; /* how long the server goes on when it stops */
};

/* The connections of one loop, and their common buffers. */
struct http_conns {
    const struct http_shared *shared;
    struct event_base *base;
    struct mailbox *mailbox;
    unsigned loop;    /* its index, for the handler */
    bool draining;    /* the server is stopping: every reply closes */
    bool ending_idle; /* and connections without a request close */

    struct http_conn_list lists[CONN_STATES];
    unsigned count;          /* dead ones included */
    struct refusals refused; /* new ones, by METRIC_LIMIT */
    struct http_pool pool;
    size_t freed; /* bytes returned to malloc since it was last trimmed */

    /* HTTP/1.1's. */
    struct http_pool inbufs, exchanges;
    struct http_date date;

    /* A turn: connections are read, their protocols run, and then their output leaves, one write for each connection.
     * Doing each step for many in a row keeps its code in the caches, and wakes peers while the loop works. */
    TAILQ_HEAD(http_ready, http_conn) ready;
    struct http_ready handshakes; /* wait for their step, in this turn or a later one */
    unsigned ready_count;
    unsigned gathered_count;
    size_t gather_n;
    struct http_gathered gathered[HTTP_GATHERED];
    char gather[HTTP_GATHER];
};

/* `conns` is zeroed. base and mailbox stay the caller's. */
void http_conns_init(struct http_conns *conns, const struct http_shared *shared, unsigned loop, struct event_base *base,
                     struct mailbox *mailbox);
/* Requests that the handler has not answered are freed. All sockets must be closed. */
void http_conns_done(struct http_conns *conns);

/* Runs the protocols of the ready connections, then sends their output. */
void http_conns_turn(struct http_conns *conns);
/* Continues handshakes, at least one, as far as a turn has time for them; then runs the protocols that they began. */
void http_conns_handshakes(struct http_conns *conns);
/* Reads every idle connection once. */
void http_conns_read_idle(struct http_conns *conns);
/* Ends connections whose time limit has passed, or refuses their requests. */
void http_conns_expire(struct http_conns *conns);
/* While more output is held than allowed, closes the connections that have waited longest for their peers to read it.
 * `except`, which may be NULL, stays: a loop can hold one reply, however much the other loops hold. */
void http_conns_relieve(struct http_conns *conns, const struct http_conn *except);
/* Ends every connection with a reset. */
void http_conns_abort(struct http_conns *conns);

/* Takes over fd and, if not NULL, ssl. */
void http_conn_open(struct http_conns *conns, int fd, SSL *ssl, const struct http_origin *origin);
/* The only place that changes a connection's state; also sets its deadline, unless the state stays the same. */
void http_conn_enter(struct http_conn *c, enum http_state state);
/* Sets the deadline of its state again. */
void http_conn_renew(struct http_conn *c);
/* The protocol runs before this turn ends. */
void http_conn_ready(struct http_conn *c);

/* Queues the parts, in order. They are copied or sent before it returns, except for the last one if it is `constant`:
 * it must outlive the connection. Queued output is sent at the end of the turn at the latest. */
void http_conn_send(struct http_conn *c, const struct str *parts, size_t count, bool constant);
/* The socket has not accepted all output. */
static inline bool http_conn_is_blocked(const struct http_conn *c)
{
    return c->out.n > 0 || c->out_constant.n > 0;
}

/* Waits for EV_READ, EV_WRITE, both or nothing (0). */
void http_conn_wait_for(struct http_conn *c, short event);
/* Closes our side and reads on until the peer has closed its own. */
void http_conn_linger(struct http_conn *c);
/* Closes the socket. Frees c, or keeps it as CONN_DEAD while the handler has its request. abort: with a reset, dropping
 * unsent bytes. */
void http_conn_end(struct http_conn *c, bool abort);
/* Frees a connection in CONN_DEAD. */
void http_conn_free(struct http_conn *c);

/* ---- stream.c ---- */
/* Tells the handler of the connection's stream, if it has one, that it is over. */
void http_stream_closed(struct http_conn *c);
/* Tells the handler if the peer has taken all that was sent. */
void http_stream_settle(struct http_conn *c);
/* The time of the stream's next beat has come. */
void http_stream_beat(struct http_conn *c);
/* Has the handlers end all streams. */
void http_streams_drain(struct http_conns *conns);
