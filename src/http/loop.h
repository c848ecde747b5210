/* One loop thread: its listeners, its connections, its mail and its ticks. */
#pragma once
#include <pthread.h>

#include "http/accept.h"
#include "http/conn.h"

#define HTTP_LISTENERS (2 * HTTP_LISTEN_KINDS)

struct http_loop {
    struct http_conns conns;
    struct http_listener listeners[HTTP_LISTENERS]; /* by kind, then by kind on the second address */
    struct event_base *base;
    pthread_t thread;
    struct mailbox mailbox;
    struct event mail_ev, tick_ev, drain_ev, stop_ev, stop_idle_ev;
    size_t freed_before;       /* conns.freed at the last tick */
    _Atomic int64_t turned_us; /* the last tick */

    bool deaf;    /* accepts no more connections */
    bool expired; /* the time for stopping is over */
    struct mail stop_mail;
    int stop_wait_ms;
};

enum err http_loop_init(struct http_loop *l, const struct http_shared *shared, unsigned index) CHECKED;
/* After the thread has ended. Requests that the handler has not answered are freed. */
void http_loop_done(struct http_loop *l);
/* Accepts connections, and starts the thread that serves them. */
enum err http_loop_start(struct http_loop *l) CHECKED;
/* Any thread: every reply closes its connection from now on. After the drain time (at most wait_ms) the loop accepts no
 * more connections; its thread ends when all requests are answered, after another wait_ms at the latest. Then join it.
 */
void http_loop_stop(struct http_loop *l, int wait_ms);
