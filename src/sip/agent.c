#include "sip/agent.h"

#include "sip/guard.h"

#define CONTENT_LENGTH "Content-Length: 0\r\n\r\n"

const char *sip_agent_transport(enum sip_transp tp)
{
    return tp == SIP_TRANSP_UDP ? "udp" : tp == SIP_TRANSP_TCP ? "tcp" : "tls";
}

void sip_agent_record(struct call_record *r, const struct sip_msg *msg, const struct uri *dialled)
{
    (void)re_snprintf(r->source, sizeof r->source, "%s:%J", sip_agent_transport(msg->tp), &msg->src);
    sip_user_text(&msg->from.uri, r->caller, sizeof r->caller);
    sip_user_text(dialled, r->dialled, sizeof r->dialled);
    const size_t n = msg->callid.l < sizeof r->id ? msg->callid.l : sizeof r->id - 1;
    memcpy(r->id, msg->callid.p, n);
}

void sip_refuse(struct sip_agent *a, const struct sip_msg *msg, uint16_t status, const char *reason, const char *header)
{
    static const struct call never_begun;
    struct call_record r = {.status = status};
    sip_agent_record(&r, msg, &msg->uri);
    if (sip_limits_may_tell(&a->limits))
        call_log(&never_begun, &r);
    else
        call_log_count(&never_begun, &r);
    (void)sip_replyf(a->sip, msg, status, reason, "%s" CONTENT_LENGTH, header);
}

void sip_agent_settled(struct sip_agent *a)
{
    if (a->drain.stopping && list_isempty(&a->dialogs.calls) && !a->drain.asking)
        a->drain.settled(a);
}
