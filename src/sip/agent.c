#include "sip/agent.h"

#include "base/log.h"
#include "sip/guard.h"

#define LINES_MS       10000 /* between two log lines about suppressed ones */
#define LINES_MAX      100   /* in that time, of calls that were never established */
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

bool sip_agent_may_tell(struct sip_agent *a)
{
    int64_t now_ms = tick_now_ms();
    if (!a->lines_ms || now_ms - a->lines_ms >= LINES_MS) {
        if (a->lines > LINES_MAX)
            log_warn("sip calls refused and not logged count=%u", a->lines - LINES_MAX);
        a->lines_ms = now_ms;
        a->lines = 0;
    }
    return ++a->lines <= LINES_MAX;
}

void sip_agent_limited(struct sip_agent *a, enum metric_label_REFUSAL limit)
{
    metric_add(&metrics.sip_limited[limit], 1);
    a->limited[limit]++;
}

void sip_agent_tell_limited(struct sip_agent *a)
{
    const int64_t now_ms = tick_now_ms();
    if (a->limited_ms && now_ms - a->limited_ms < LINES_MS)
        return;
    for (size_t i = 0; i < METRIC_REFUSAL_VALUES; i++) {
        if (!a->limited[i])
            continue;
        log_warn("sip calls refused limit=%s count=%u", metric_values_REFUSAL[i], a->limited[i]);
        a->limited[i] = 0;
        a->limited_ms = now_ms;
    }
}

void sip_refuse(struct sip_agent *a, const struct sip_msg *msg, uint16_t status, const char *reason, const char *header)
{
    static const struct call never_begun;
    struct call_record r = {.status = status};
    sip_agent_record(&r, msg, &msg->uri);
    if (sip_agent_may_tell(a))
        call_log(&never_begun, &r);
    else
        call_log_count(&never_begun, &r);
    (void)sip_replyf(a->sip, msg, status, reason, "%s" CONTENT_LENGTH, header);
}

void sip_agent_settled(struct sip_agent *a)
{
    if (a->stopping && list_isempty(&a->calls) && !a->asking)
        a->settled(a);
}
