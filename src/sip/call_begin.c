#include "sip/call_begin.h"

#include "base/log.h"
#include "sip/agent.h"
#include "sip/call_perform.h"
#include "sip/stack.h"
#include "sip/trunk_form.h"

void sip_call_cancel(struct sip_call *c)
{
    decide_drop(&c->decide);
    sip_call_refuse(c, 487, "Request Terminated");
    sip_call_end(c);
}

static void on_cancel(void *arg)
{
    sip_call_cancel(arg);
}

/* SRTP in our offer to a caller that leaves it to us: as a trunk is configured for calls to it; over TLS, which keeps
 * the keys secret, to others as well. */
static enum media_srtp offered_srtp(const struct sip_call *c, const struct sip_msg *msg)
{
    const struct config_peer *peer = c->source->peer;
    if (peer && peer->server && *peer->server)
        return sip_trunk_srtp(peer);
    return msg->tp == SIP_TRANSP_TLS ? MEDIA_SRTP_OPTIONAL : MEDIA_SRTP_ACCEPT;
}

/* Comes before the decision: a call that cannot carry a tone must not use up a grant. */
static int make_media(struct sip_call *c, const struct sip_msg *msg)
{
    c->offered = mbuf_get_left(msg->mb) == 0;
    struct media_options options = {.laddr = &msg->dst,
                                    .peer = &msg->src,
                                    .config = c->agent->config,
                                    .ports = c->stack->ports,
                                    .events = true,
                                    .srtp = c->offered ? offered_srtp(c, msg) : MEDIA_SRTP_ACCEPT};
    if (media_new(&c->media, &options, &sip_call_media_events, c))
        return 503;
    return !c->offered && media_take_sdp(c->media, true, msg->mb) ? 488 : 0;
}

void sip_call_invite(struct sip_stack *s, const struct sip_msg *msg, const char *caller)
{
    struct sip_agent *a = s->agent;
    struct sip_call *c = sip_call_new(s, msg, caller);
    if (!c) {
        sip_refuse(a, msg, 500, "Server Internal Error", "");
        return;
    }
    if (sip_strans_alloc(&c->transaction, s->sip, msg, on_cancel, c)) {
        sip_call_end(c);
        return;
    }
    int status = make_media(c, msg);
    if (status) {
        c->record.status = status;
        if (status == 503)
            sip_limits_refused(&a->limits, METRIC_REFUSED_PORTS);
        sip_call_refuse(c, status, status == 488 ? "Not Acceptable Here" : "Service Unavailable");
        sip_call_end(c);
        return;
    }
    (void)sip_treply(&c->transaction, s->sip, msg, 100, "Trying");
    log_debug("call %u arrived", c->serial);
    sip_call_step(c, &(struct call_event){.kind = CALL_ARRIVED, .hears = sip_hears(s->agent), .browsers = true});
}
