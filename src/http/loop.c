#include "http/loop.h"

#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/container_of.h"
#include "http/session.h"

#define TRIM_AFTER (8u << 20) /* bytes freed */

/* Under AddressSanitizer nothing is kept, so that it sees every use after the end. */
#if defined(__SANITIZE_ADDRESS__)
static const unsigned pool_max = 0;
#else
static const unsigned pool_max = 64;
#endif

int64_t http_loop_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- pools ---- */

void *http_pool_take(struct http_pool *p, size_t size)
{
    void *object = p->first;
    if (object) {
        memcpy(&p->first, object, sizeof p->first);
        p->count--;
        return object;
    }
    object = malloc(size);
    if (!object)
        abort();
    return object;
}

void http_pool_give(struct http_loop *l, struct http_pool *p, void *object, size_t size)
{
    if (p->count >= pool_max) {
        free(object);
        l->freed += size;
        return;
    }
    memcpy(object, &p->first, sizeof p->first);
    p->first = object;
    p->count++;
}

static void empty_pool(struct http_pool *p)
{
    while (p->first)
        free(http_pool_take(p, 0));
}

/* ---- ticks ---- */

static void expire_overdue(struct http_loop *l)
{
    int64_t now = http_loop_now_ms();
    for (unsigned s = 0; s < CONN_STATES; s++)
        while (l->shared->limit_ms[s] && l->lists[s].first && l->lists[s].first->deadline_ms <= now)
            http_conn_expire(l->lists[s].first);
}

/* After a busy time, not within it: the kernel gets back what the next burst would only ask for again. */
static void trim(struct http_loop *l)
{
    if (l->freed > TRIM_AFTER && l->freed == l->freed_before) {
        malloc_trim(0);
        l->freed = 0;
    }
    l->freed_before = l->freed;
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct http_loop *l = arg;
    (void)fd;
    (void)what;
    http_loop_turn(l); /* what has come in time is not too late */
    expire_overdue(l);
    http_loop_relieve(l, NULL);
    for (unsigned i = 0; i < HTTP_LISTENERS; i++)
        http_listener_resume(&l->listeners[i]);
    if (l->shared->tls)
        http_tls_tick(l->shared->tls);
    trim(l);
}

static void on_mail(evutil_socket_t fd, short what, void *arg)
{
    struct http_loop *l = arg;
    (void)fd;
    (void)what;
    mailbox_drain(&l->mailbox);
}

/* ---- stopping ---- */

static void on_stop_expired(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    ((struct http_loop *)arg)->expired = true;
}

/* Takes the requests that have already come in; without one, a connection does not stay idle while the loop drains. */
static void close_idle(struct http_loop *l)
{
    for (struct http_conn *c = l->lists[CONN_IDLE].first; c; c = c->next)
        http_session_input(c);
}

static void on_stop_mail(struct mail *m)
{
    struct http_loop *l = container_of(m, struct http_loop, stop_mail);
    struct timeval wait = {l->stop_wait_ms / 1000, l->stop_wait_ms % 1000 * 1000};
    for (unsigned i = 0; i < HTTP_LISTENERS; i++)
        http_listener_stop(&l->listeners[i]);
    http_loop_turn(l); /* before: a connection that falls idle now may have more to say */
    l->draining = true;
    close_idle(l);
    if (event_add(&l->stop_ev, &wait) != 0)
        abort();
}

void http_loop_stop(struct http_loop *l, int wait_ms)
{
    l->stop_wait_ms = wait_ms > 0 ? wait_ms : 0;
    l->stop_mail.run = on_stop_mail;
    mailbox_post(&l->mailbox, &l->stop_mail);
}

static void abort_all(struct http_loop *l)
{
    for (unsigned s = 0; s < CONN_DEAD; s++)
        while (l->lists[s].first)
            http_conn_close(l->lists[s].first, true);
}

/* ---- the thread ---- */

static bool is_finished(const struct http_loop *l)
{
    return l->draining && (l->connections == 0 || l->expired);
}

static void *run(void *arg)
{
    struct http_loop *l = arg;
    const struct http_handler *h = &l->shared->handler;
    if (h->thread_start)
        h->thread_start(h->ctx, l->index);
    while (!is_finished(l)) {
        event_base_loop(l->base, EVLOOP_ONCE);
        http_loop_turn(l);
        http_loop_handshakes(l);
        if (h->thread_idle)
            h->thread_idle(h->ctx, l->index);
    }
    abort_all(l);
    if (h->thread_stop)
        h->thread_stop(h->ctx, l->index);
    return NULL;
}

static struct event_base *new_base(void)
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
    l->shared = shared;
    l->index = index;
    TAILQ_INIT(&l->ready);
    TAILQ_INIT(&l->handshakes);
    for (unsigned i = 0; i < HTTP_LISTENERS; i++)
        l->listeners[i] = (struct http_listener){.loop = l, .fd = -1};
    enum err e = mailbox_init(&l->mailbox);
    if (e)
        return e;
    l->base = new_base();
    if (!l->base) {
        mailbox_done(&l->mailbox);
        return ERR_IO;
    }
    event_assign(&l->mail_ev, l->base, l->mailbox.fd, EV_READ | EV_PERSIST, on_mail, l);
    event_assign(&l->tick_ev, l->base, -1, EV_PERSIST, on_tick, l);
    event_assign(&l->stop_ev, l->base, -1, 0, on_stop_expired, l);
    return ERR_NONE;
}

static enum err start_events(struct http_loop *l)
{
    struct timeval tick = {0, HTTP_TICK_MS * 1000};
    for (unsigned i = 0; i < HTTP_LISTENERS; i++) {
        enum err e = http_listener_start(&l->listeners[i]);
        if (e)
            return e;
    }
    return event_add(&l->mail_ev, NULL) == 0 && event_add(&l->tick_ev, &tick) == 0 ? ERR_NONE : ERR_IO;
}

/* Signals are for the main thread; libssl's writes to a closed socket must not end the process. */
enum err http_loop_start(struct http_loop *l)
{
    enum err e = start_events(l);
    if (e)
        return e;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    errno = pthread_create(&l->thread, NULL, run, l);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return errno ? ERR_IO : ERR_NONE;
}

void http_loop_done(struct http_loop *l)
{
    for (unsigned i = 0; i < HTTP_LISTENERS; i++)
        http_listener_stop(&l->listeners[i]);
    for (struct http_conn *c; (c = l->lists[CONN_DEAD].first);)
        http_session_answered(c);
    empty_pool(&l->conns);
    empty_pool(&l->inbufs);
    empty_pool(&l->exchanges);
    if (l->base) {
        event_del(&l->mail_ev);
        event_del(&l->tick_ev);
        event_del(&l->stop_ev);
        event_base_free(l->base);
        mailbox_done(&l->mailbox);
    }
}
