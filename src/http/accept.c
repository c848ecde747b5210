#include "http/accept.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/metric.h"
#include "http/listen.h"

#define MAX_IN_A_ROW 64 /* accepted before the open connections are served */

static struct http_origin peer_origin(const struct http_listener *l, const struct sockaddr_storage *from)
{
    struct http_origin o = {.tls = l->kind == HTTP_LISTEN_TLS, .local = l->kind == HTTP_LISTEN_CONTROL};
    if (o.local) {
        strcpy(o.text, "127.0.0.1");
        o.loopback = true;
        return o;
    }
    o.address = net_address_of(from);
    net_address_text(&o.address, o.text);
    o.loopback = net_address_is_loopback(&o.address);
    o.trusted = net_cidrs_contain(&l->conns->shared->trusted, &o.address);
    return o;
}

static void count_refusal(struct http_conns *conns, enum metric_label_LIMIT limit)
{
    metric_add(&metrics.http_rejected[limit], 1);
    conns->refused.counts[limit]++;
}

/* At the connection limit, evicts the longest-idle connection. */
static bool admit(struct http_conns *conns, const struct http_origin *o)
{
    bool exempt = o->loopback || o->trusted;
    enum http_admission a = http_conn_counter_add(conns->shared->counter, &o->address, exempt);
    if (a == HTTP_FULL) {
        http_conns_turn(conns); /* a connection that has sent a request is not idle */
        if (conns->lists[CONN_IDLE].first)
            http_conn_end(conns->lists[CONN_IDLE].first, false);
        a = http_conn_counter_add(conns->shared->counter, &o->address, exempt);
    }
    if (a != HTTP_ADMITTED)
        count_refusal(conns, a == HTTP_FULL ? METRIC_LIMIT_ALL : METRIC_LIMIT_ADDRESS);
    return a == HTTP_ADMITTED;
}

static void open_accepted(struct http_listener *l, int fd, const struct sockaddr_storage *from)
{
    struct http_conns *conns = l->conns;
    struct http_origin o = peer_origin(l, from);
    if (o.tls && http_tls_is_gone(fd)) { /* a flood leaves many such in the kernel's queue */
        close(fd);
        return;
    }
    if (!admit(conns, &o)) {
        close(fd);
        return;
    }
    SSL *ssl = o.tls ? http_tls_accept(conns->shared->tls, fd) : NULL;
    if (o.tls && !ssl) {
        http_conn_counter_remove(conns->shared->counter, &o.address, o.loopback || o.trusted);
        close(fd);
        return;
    }
    http_conn_open(conns, fd, ssl, &o);
}

static bool is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

/* False when there is nothing more to accept now. */
static bool accept_one(struct http_listener *l)
{
    struct sockaddr_storage from = {0};
    socklen_t n = sizeof from;
    int fd = accept4(l->fd, (struct sockaddr *)&from, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        open_accepted(l, fd, &from);
        return true;
    }
    if (is_shortage(errno)) {
        event_del(&l->ev);
        l->paused = true;
        count_refusal(l->conns, METRIC_LIMIT_DESCRIPTORS);
    }
    return errno == ECONNABORTED || errno == EINTR || errno == EPROTO;
}

static void on_connection(evutil_socket_t fd, short event, void *arg)
{
    (void)fd;
    (void)event;
    for (int i = 0; i < MAX_IN_A_ROW && accept_one(arg); i++)
        ;
}

enum err http_listener_start(struct http_listener *l)
{
    if (l->fd < 0)
        return ERR_NONE;
    event_assign(&l->ev, l->conns->base, l->fd, EV_READ | EV_PERSIST, on_connection, l);
    return event_add(&l->ev, NULL) == 0 ? ERR_NONE : ERR_IO;
}

void http_listener_stop(struct http_listener *l)
{
    if (l->fd < 0)
        return;
    if (event_initialized(&l->ev)) {
        for (int i = 0; i < HTTP_BACKLOG && accept_one(l); i++)
            ;
        event_del(&l->ev);
    }
    close(l->fd);
    l->fd = -1;
}

void http_listener_resume(struct http_listener *l)
{
    if (l->fd < 0 || !l->paused)
        return;
    l->paused = false;
    if (event_add(&l->ev, NULL) != 0)
        abort();
}
