#include "sip/stack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "media/ports.h"
#include "sip/admit.h"
#include "sip/agent.h"
#include "sip/box.h"
#include "sip/call_begin.h"
#include "sip/call_within.h"
#include "sip/challenge.h"
#include "sip/extra.h"
#include "sip/filter.h"
#include "sip/guard.h"
#include "sip/leg.h"
#include "sip/target.h"
#include "sip/timer.h"
#include "sip/trace.h"

#define HASH_SIZE     256
#define BIND_ATTEMPTS 20

/* ---- messages ---- */

static void sip_refuse_request(struct sip_stack *s, const struct sip_msg *msg, const struct sip_verdict *v)
{
    log_debug("sip request refused status=%d", v->status);
    int e;
    if (v->status == 420)
        e = sip_replyf(s->sip, msg, 420, v->reason, "Unsupported: %r\r\nContent-Length: 0\r\n\r\n", &v->require);
    else if (v->status == 422)
        e = sip_replyf(s->sip, msg, 422, v->reason, "Min-SE: %d\r\nContent-Length: 0\r\n\r\n", SIP_TIMER_MIN_S);
    else
        e = sip_replyf(s->sip, msg, (uint16_t)v->status, v->reason,
                       "Allow: " SIP_ALLOW "\r\nContent-Length: 0\r\n\r\n");
    if (e)
        log_debug("sip reply not sent errno=%d", e);
}

/* Drops a stranger's request without an answer, which a forged source would direct at a third party. The filters of the
 * UDP socket and of the listening socket drop most of them earlier. */
static bool drop_stranger(struct sip_agent *a, const struct sip_msg *msg)
{
    if (sip_peers_admit(&a->peers, &msg->src))
        return false;
    if (msg->tp != SIP_TRANSP_UDP)
        (void)shutdown(tcp_conn_fd(sip_msg_tcpconn(msg)), SHUT_RDWR); /* which closes the connection */
    return true;
}

static bool sip_on_request(const struct sip_msg *msg, void *arg)
{
    struct sip_stack *s = arg;
    struct sip_agent *a = s->agent;
    if (sip_filter_probe(s, msg) || drop_stranger(a, msg))
        return true;
    struct sip_verdict v = sip_guard(msg);
    if (!v.status && sip_call_take_early(s, msg))
        return true;
    /* libre would keep its 481 to an INVITE for 32 s. */
    if (!v.status && pl_isset(&msg->to.tag) && !sip_call_knows(a, msg) && !sip_leg_knows(a, msg) &&
        !pl_strcmp(&msg->met, "INVITE"))
        v = (struct sip_verdict){.status = 481, .reason = "Call/Transaction Does Not Exist"};
    if (v.status > 0)
        sip_refuse_request(s, msg, &v);
    return v.status != 0;
}

/* Requests that libre's sessions do not handle: OPTIONS, REGISTER, UPDATE, and a CANCEL without a transaction. */
static bool on_rest(const struct sip_msg *msg, void *arg)
{
    struct sip_stack *s = arg;
    if (!pl_strcmp(&msg->met, "OPTIONS"))
        (void)sip_replyf(s->sip, msg, 200, "OK",
                         "Allow: " SIP_ALLOW
                         "\r\nSupported: timer\r\nAccept: application/sdp\r\nContent-Length: 0\r\n\r\n");
    else if (!pl_strcmp(&msg->met, "REGISTER"))
        (void)sip_box_take(s, msg);
    else if (!pl_strcmp(&msg->met, "CANCEL"))
        (void)sip_reply(s->sip, msg, 481, "Call/Transaction Does Not Exist");
    else if (!pl_strcmp(&msg->met, "UPDATE") && !sip_leg_update(s->agent, msg))
        sip_call_update(s, msg);
    return true;
}

/* Responses without a request of ours are dropped. */
static bool on_response(const struct sip_msg *msg, void *arg)
{
    (void)msg;
    (void)arg;
    return true;
}

/* libre would call the first Contact of a 3xx, whoever that is, at our cost. It gives up if there is none. */
static bool on_any_response(const struct sip_msg *msg, void *arg)
{
    (void)arg;
    if (msg->scode >= 300 && msg->scode < 400)
        sip_target_forget(msg);
    if (msg->scode == 401 || msg->scode == 407)
        challenge_choose(msg);
    return false;
}

/* Lets the listener hear a message before libre's transactions do. Its place in the list is its first member: if that
 * has changed in another version of libre, fails. */
static int put_first(struct sip_lsnr *listener)
{
    struct le *le = (struct le *)listener;
    struct list *list = le->list;
    if (le->data != listener || !list)
        return ENOTSUP;
    list_unlink(le);
    list_prepend(list, le, listener);
    return 0;
}

static void on_invite(const struct sip_msg *msg, void *arg)
{
    struct sip_stack *s = arg;
    sip_target_fix(msg, msg);
    if (!sip_box_take(s, msg) && sip_admit(s->agent, msg, false))
        sip_call_invite(s, msg, NULL);
}

/* ---- life ---- */

static int make_stack(struct sip_stack *s)
{
    int e =
        sip_alloc(&s->sip, s->agent->trunks.dnsc, HASH_SIZE, HASH_SIZE, HASH_SIZE, "portero/" PORTERO_VERSION, NULL, s);
    if (!e)
        e = sip_listen(&s->first, s->sip, false, on_any_response, s);
    if (!e)
        e = put_first(s->first);
    if (!e)
        e = sip_listen(&s->guard, s->sip, true, sip_on_request, s);
    if (!e)
        e = sipsess_listen(&s->sessions, s->sip, HASH_SIZE, on_invite, s);
    if (!e)
        e = sip_listen(&s->rest, s->sip, true, on_rest, s);
    if (!e)
        e = sip_listen(&s->responses, s->sip, false, on_response, s);
    return e;
}

int sip_stack_new(struct sip_agent *a, struct sip_stack **ret)
{
    struct sip_stack *s = mem_new(struct sip_stack);
    s->agent = a;
    list_append(&a->stacks, &s->le, s);
    int e = make_stack(s);
    if (e) {
        sip_stack_free(s);
        return e;
    }
    sip_trace_watch(s, true);
    *ret = s;
    return 0;
}

void sip_stack_free(struct sip_stack *s)
{
    sip_stack_close(s);
    sipsess_close_all(s->sessions);
    sip_close(s->sip, true);
    mem_deref(s->sessions);
    mem_deref(s->first);
    mem_deref(s->guard);
    mem_deref(s->rest);
    mem_deref(s->responses);
    mem_deref(s->sip);
    list_unlink(&s->le);
    free(s);
}

/* A port that the system chose for UDP may be taken for TCP: try another. */
static int bind_both(struct sip_stack *s, const struct sa *want, struct sa *ret_bound)
{
    int e = 0;
    for (int i = 0; i < BIND_ATTEMPTS; i++) {
        *ret_bound = *want;
        e = sip_transp_add(s->sip, SIP_TRANSP_UDP, want);
        if (!e)
            e = sip_transp_laddr(s->sip, ret_bound, SIP_TRANSP_UDP, want);
        if (!e)
            e = sip_transp_add(s->sip, SIP_TRANSP_TCP, ret_bound);
        if (!e)
            return 0;
        sip_transp_flush(s->sip);
        if (sa_port(want))
            return e;
    }
    return e;
}

static int open_ports(struct sip_stack *s)
{
    const struct config *c = s->agent->config;
    return media_ports_new(&s->ports, &s->bound, (uint16_t)c->voice_rtp_port_low, (uint16_t)c->voice_rtp_port_high)
               ? ENOMEM
               : 0;
}

int sip_stack_listen(struct sip_stack *s, const struct sa *want)
{
    struct sa bound;
    int e = bind_both(s, want, &bound);
    if (e)
        return e;
    s->bound = bound;
    e = open_ports(s);
    if (!e)
        e = sip_tls_listen(s);
    if (e) {
        sip_stack_close(s);
        return e;
    }
    if (!sip_peers_filter(&s->agent->peers, &bound))
        log_warn("TCP connections from outside voice.peers are closed at their first message, not before");
    sip_filter_start(s);
    return 0;
}

/* Messages of transactions in progress keep the UDP socket for 32 s. Closes what it stands for, so that its address and
 * port can be bound again if the address comes back. */
static void release_port(const struct sip_stack *s)
{
    int fd = s->udp ? udp_sock_fd(s->udp, sa_af(&s->bound)) : -1;
    int nowhere = fd < 0 ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere < 0)
        return;
    fd_close(fd);
    (void)dup3(nowhere, fd, O_CLOEXEC);
    close(nowhere);
}

void sip_stack_close(struct sip_stack *s)
{
    release_port(s);
    sip_extra_clear(s);
    sip_filter_stop(s);
    if (sa_isset(&s->bound_tls, SA_PORT))
        sip_peers_forget(&s->agent->peers, -1, &s->bound_tls);
    sa_init(&s->bound_tls, AF_UNSPEC);
    sip_transp_flush(s->sip);
    s->ports = mem_deref(s->ports);
    sa_init(&s->bound, AF_UNSPEC);
}
