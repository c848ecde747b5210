/* One loop thread: its connections by state, its pools, its clock ticks. Internal to src/http. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "http/census.h"
#include "http/conn.h"
#include "http/tls.h"

#define HTTP_TURN          16    /* connections that are read before their sessions run */
#define HTTP_GATHER        65536 /* bytes of output, */
#define HTTP_GATHERED      16    /* of so many connections, that leave together */
#define HTTP_HANDSHAKES_US 1000  /* for handshakes before established connections have their next turn */
#define HTTP_LINGER_MS     3000
#define HTTP_TICK_MS       250
#define HTTP_DATE          (sizeof "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n" - 1)
#define HTTP_BUF_SMALL     (4096 - 32)
#define HTTP_BUF_LARGE     (HTTP_MAX_HEAD + 4096 - 32)
#define HTTP_LISTENERS     3

/* Replies that their peers have not taken yet. */
struct http_output {
    size_t most; /* beyond it, those that have waited longest are closed */
    atomic_size_t held;
};

/* What all loops share; constant once the threads run, but for tls, census and output, which take care for
 * themselves. */
struct http_shared {
    struct http_handler handler;
    struct http_tls *tls;
    struct http_census *census;
    struct http_output *output;
    struct net_cidrs trusted;
    int64_t limit_ms[CONN_STATES];
};

enum http_listen_kind { HTTP_LISTEN_TLS, HTTP_LISTEN_PLAIN, HTTP_LISTEN_CONTROL };

struct http_listener {
    struct http_loop *loop;
    int fd; /* -1: none */
    enum http_listen_kind kind;
    bool paused; /* out of descriptors */
    struct event ev;
};

struct http_pool {
    void *first; /* each points to the next at its start */
    unsigned count;
};

struct http_gathered {
    struct http_conn *conn; /* NULL: sent, or no longer wanted */
    size_t at, n;           /* of its bytes in the buffer */
};

struct http_loop {
    const struct http_shared *shared;
    unsigned index;
    struct event_base *base;
    pthread_t thread;
    struct mailbox mailbox;
    struct event mail_ev, tick_ev, stop_ev;
    struct http_listener listeners[HTTP_LISTENERS];

    struct http_conn_list lists[CONN_STATES];
    unsigned connections; /* dead ones included */
    struct http_pool conns, inbufs, exchanges;
    size_t freed;        /* bytes given back to malloc since it was last trimmed */
    size_t freed_before; /* the same at the last tick */

    int64_t date_s;
    char date[HTTP_DATE + 1];

    bool draining; /* stopping: no new connections, every reply closes */
    bool expired;  /* the time given for it is over */
    struct mail stop_mail;
    int stop_wait_ms;

    /* A turn of the loop: connections are read, their sessions run, and then their output leaves, that of one
     * connection in one write. Doing each for many in a row keeps its code in the caches, and wakes peers while the
     * loop works. */
    TAILQ_HEAD(http_ready, http_conn) ready;
    struct http_ready handshakes; /* wait for their step; what does not fit into this turn comes in the next ones */
    unsigned ready_count;
    unsigned gathered_count;
    size_t gather_n;
    struct http_gathered gathered[HTTP_GATHERED];
    char gather[HTTP_GATHER];
};

enum err http_loop_init(struct http_loop *l, const struct http_shared *shared, unsigned index) CHECKED;
/* After the thread has ended. Requests the handler has not answered are gone with it. */
void http_loop_done(struct http_loop *l);
/* Connections are accepted from now on, and served once its thread runs. */
enum err http_loop_start(struct http_loop *l) CHECKED;
/* Any thread: drains the loop; its thread ends when all is answered, after wait_ms at the latest. Then join it. */
void http_loop_stop(struct http_loop *l, int wait_ms);

/* Runs the sessions of the connections that are ready, then flushes. */
void http_loop_turn(struct http_loop *l);
/* Makes handshakes go on, one at least, for as long as a turn has time for them; then runs the sessions they began. */
void http_loop_handshakes(struct http_loop *l);
/* While more output waits than may, closes those of its connections that have waited longest for their peers to take
 * it. `but`, which may be NULL, stays: a loop can hold one reply whatever the others hold. */
void http_loop_relieve(struct http_loop *l, const struct http_conn *but);
/* Sends what is gathered, and settles its connections, some of which end. */
void http_loop_flush(struct http_loop *l);

/* The monotonic clock, to a few milliseconds. */
int64_t http_loop_now_ms(void);

/* Memory of one size, kept for reuse up to a bound. */
void *http_pool_take(struct http_pool *p, size_t size);
void http_pool_give(struct http_loop *l, struct http_pool *p, void *object, size_t size);

/* accept.c */
enum err http_listener_start(struct http_listener *l) CHECKED;
/* Takes in what the kernel has accepted, then closes. */
void http_listener_stop(struct http_listener *l);
/* Tries again after a lack of descriptors. */
void http_listener_resume(struct http_listener *l);
