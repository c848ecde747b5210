#include "http/loop.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/container_of.h"
#include "base/metric.h"

#define TICK_MS    250
#define TRIM_AFTER (8u << 20) /* bytes freed */
#define FIRST_MS   250        /* for the first request of a connection, when the server stops */

/* ---- ticks ---- */

/* After a busy time, not within it: the next burst would only ask the kernel for the memory again. */
static void trim_memory(struct http_loop *l)
{
    size_t freed = l->conns.freed;
    if (freed > TRIM_AFTER && freed == l->freed_before) {
        malloc_trim(0);
        l->conns.freed = 0;
    }
    l->freed_before = l->conns.freed;
}

static void on_loop_tick(evutil_socket_t fd, short event, void *arg)
{
    struct http_loop *l = arg;
    (void)fd;
    (void)event;
    atomic_store_explicit(&l->turned_us, clock_monotonic_us(), memory_order_relaxed);
    http_conns_turn(&l->conns); /* before: input that arrived in time is not too late */
    http_conns_expire(&l->conns);
    if (l->conns.draining)
        http_streams_drain(&l->conns); /* streams that began since */
    http_conns_relieve(&l->conns, NULL);
    for (unsigned i = 0; i < HTTP_LISTENERS; i++)
        http_listener_resume(&l->listeners[i]);
    if (l->conns.shared->tls)
        http_tls_tick(l->conns.shared->tls);
    refusals_tell(&l->conns.refused, "http connections", metric_values_LIMIT, METRIC_LIMIT_VALUES,
                  clock_monotonic_us());
    trim_memory(l);
}

static void on_loop_mail(evutil_socket_t fd, short event, void *arg)
{
    struct http_loop *l = arg;
    (void)fd;
    (void)event;
    mailbox_drain(&l->mailbox);
}

/* ---- stopping ---- */

static void on_stop_expired(evutil_socket_t fd, short event, void *arg)
{
    (void)fd;
    (void)event;
    ((struct http_loop *)arg)->expired = true;
}

static void start_timer(struct event *ev, int64_t ms)
{
    struct timeval after = {ms / 1000, ms % 1000 * 1000};
    if (event_add(ev, &after) != 0)
        abort();
}

static void on_stop_idle(evutil_socket_t fd, short event, void *arg)
{
    struct http_loop *l = arg;
    (void)fd;
    (void)event;
    http_conns_turn(&l->conns); /* before: a connection that becomes idle now may have sent more */
    l->conns.ending_idle = true;
    http_conns_read_idle(&l->conns);
}

/* The first request of a connection that was just accepted may be on its way. */
static void on_stop_listening(evutil_socket_t fd, short event, void *arg)
{
    struct http_loop *l = arg;
    (void)fd;
    (void)event;
    for (unsigned i = 0; i < HTTP_LISTENERS; i++)
        http_listener_stop(&l->listeners[i]);
    l->deaf = true;
    start_timer(&l->stop_idle_ev, l->stop_wait_ms < FIRST_MS ? l->stop_wait_ms : FIRST_MS);
    start_timer(&l->stop_ev, l->stop_wait_ms);
}

/* A balancer may still send connections, and a request may be on its way on an idle one: a client would not know
 * whether it was carried out. So everything stays open for a while, and connections close with their next reply. */
static void on_stop_mail(struct mail *m)
{
    struct http_loop *l = container_of(m, struct http_loop, stop_mail);
    int64_t drain_ms = l->conns.shared->drain_ms;
    http_conns_turn(&l->conns); /* before: more requests may have arrived behind the ones in the queue */
    l->conns.draining = true;
    http_streams_drain(&l->conns);
    start_timer(&l->drain_ev, drain_ms < l->stop_wait_ms ? drain_ms : l->stop_wait_ms);
}

void http_loop_stop(struct http_loop *l, int wait_ms)
{
    l->stop_wait_ms = wait_ms > 0 ? wait_ms : 0;
    l->stop_mail.run = on_stop_mail;
    mailbox_post(&l->mailbox, &l->stop_mail);
}

/* ---- the thread ---- */

static bool is_finished(const struct http_loop *l)
{
    return l->deaf && (l->conns.count == 0 || l->expired);
}

static void *loop_thread(void *arg)
{
    struct http_loop *l = arg;
    const struct http_handler *h = &l->conns.shared->handler;
    if (h->thread_start)
        h->thread_start(h->ctx, l->conns.loop);
    while (!is_finished(l)) {
        event_base_loop(l->base, EVLOOP_ONCE);
        http_conns_turn(&l->conns);
        http_conns_handshakes(&l->conns);
        if (h->thread_idle)
            h->thread_idle(h->ctx, l->conns.loop);
    }
    http_conns_abort(&l->conns);
    if (h->thread_stop)
        h->thread_stop(h->ctx, l->conns.loop);
    return NULL;
}

static struct event_base *base_new(void)
{
    struct event_config *c = event_config_new();
    struct event_base *base = NULL;
    if (c && event_config_set_flag(c, EVENT_BASE_FLAG_NOLOCK) == 0)
        base = event_base_new_with_config(c);
    if (c)
        event_config_free(c);
    return base;
}

enum err http_loop_init(struct http_loop *l, const struct http_shared *shared, unsigned index)
{
    for (unsigned i = 0; i < HTTP_LISTENERS; i++)
        l->listeners[i] = (struct http_listener){.conns = &l->conns, .fd = -1};
    enum err e = mailbox_init(&l->mailbox);
    if (e)
        return e;
    l->base = base_new();
    if (!l->base) {
        mailbox_done(&l->mailbox);
        return ERR_IO;
    }
    http_conns_init(&l->conns, shared, index, l->base, &l->mailbox);
    event_assign(&l->mail_ev, l->base, l->mailbox.fd, EV_READ | EV_PERSIST, on_loop_mail, l);
    event_assign(&l->tick_ev, l->base, -1, EV_PERSIST, on_loop_tick, l);
    event_assign(&l->drain_ev, l->base, -1, 0, on_stop_listening, l);
    event_assign(&l->stop_ev, l->base, -1, 0, on_stop_expired, l);
    event_assign(&l->stop_idle_ev, l->base, -1, 0, on_stop_idle, l);
    return ERR_NONE;
}

static enum err start_events(struct http_loop *l)
{
    struct timeval tick = {0, TICK_MS * 1000};
    for (unsigned i = 0; i < HTTP_LISTENERS; i++) {
        enum err e = http_listener_start(&l->listeners[i]);
        if (e)
            return e;
    }
    return event_add(&l->mail_ev, NULL) == 0 && event_add(&l->tick_ev, &tick) == 0 ? ERR_NONE : ERR_IO;
}

/* Blocks all signals, which are for the main thread; libssl's writes to a closed socket must not end the process. */
enum err http_loop_start(struct http_loop *l)
{
    atomic_store(&l->turned_us, clock_monotonic_us());
    enum err e = start_events(l);
    if (e)
        return e;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    errno = pthread_create(&l->thread, NULL, loop_thread, l);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return errno ? ERR_IO : ERR_NONE;
}

void http_loop_done(struct http_loop *l)
{
    for (unsigned i = 0; i < HTTP_LISTENERS; i++)
        http_listener_stop(&l->listeners[i]);
    http_conns_done(&l->conns);
    if (l->base) {
        event_del(&l->mail_ev);
        event_del(&l->tick_ev);
        event_del(&l->drain_ev);
        event_del(&l->stop_ev);
        event_del(&l->stop_idle_ev);
        event_base_free(l->base);
        mailbox_done(&l->mailbox);
    }
}
