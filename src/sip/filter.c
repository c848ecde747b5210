#include "sip/filter.h"

#include <linux/sock_diag.h>
#include <sys/socket.h>

#include "base/metric.h"
#include "sip/agent.h"
#include "sip/extra.h"

#define FILTER_LAYER   0
#define RECEIVE_BUFFER (1024 * 1024) /* bytes: room for a burst of calls */
#define MESSAGE_MAX    65536         /* bytes: above the largest datagram */

static bool unwanted(struct sa *src, struct mbuf *mb, void *arg)
{
    struct sip_stack *s = arg;
    if (!sip_peers_admit(&s->agent->peers, src))
        return true;
    size_t pos = mb->pos;
    struct sip_msg *msg;
    if (sip_msg_decode(&msg, mb))
        return true;
    mb->pos = pos;
    mem_deref(msg);
    return false;
}

bool sip_filter_probe(struct sip_stack *s, const struct sip_msg *msg)
{
    if (!s->probe[0] || msg->tp != SIP_TRANSP_UDP || pl_strcmp(&msg->callid, s->probe))
        return false;
    s->probe[0] = '\0';
    s->udp = mem_ref(msg->sock);
    (void)udp_sockbuf_set(s->udp, RECEIVE_BUFFER);
    udp_rxsz_set(s->udp, MESSAGE_MAX);
    sip_peers_watch(&s->agent->peers, udp_sock_fd(s->udp, sa_af(&msg->dst)));
    (void)udp_register_helper(&s->filter, s->udp, FILTER_LAYER, sip_extra_datagram, unwanted, s);
    return true;
}

void sip_filter_start(struct sip_stack *s)
{
    const struct sa *bound = &s->bound;
    (void)re_snprintf(s->probe, sizeof s->probe, "%016llx", (unsigned long long)rand_u64());
    struct mbuf *mb = mbuf_alloc(512);
    if (!mb)
        return;
    int e =
        mbuf_printf(mb,
                    "OPTIONS sip:%J SIP/2.0\r\nVia: SIP/2.0/UDP %J;branch=z9hG4bK%s\r\nFrom: <sip:%J>;tag=%s\r\n"
                    "To: <sip:%J>\r\nCall-ID: %s\r\nCSeq: 1 OPTIONS\r\nMax-Forwards: 0\r\nContent-Length: 0\r\n\r\n",
                    bound, bound, s->probe, bound, s->probe, bound, s->probe);
    mb->pos = 0;
    if (!e)
        (void)sip_send(s->sip, NULL, SIP_TRANSP_UDP, bound, mb);
    mem_deref(mb);
}

void sip_filter_stop(struct sip_stack *s)
{
    s->probe[0] = '\0';
    sip_peers_forget(&s->agent->peers, s->udp ? udp_sock_fd(s->udp, sa_af(&s->bound)) : -1, &s->bound);
    s->filter = mem_deref(s->filter);
    s->udp = mem_deref(s->udp);
}

void sip_filter_count(struct sip_stack *s)
{
    uint32_t info[SK_MEMINFO_VARS] = {0};
    socklen_t n = sizeof info;
    if (!s->udp || getsockopt(udp_sock_fd(s->udp, sa_af(&s->bound)), SOL_SOCKET, SO_MEMINFO, info, &n))
        return;
    metric_add(metrics.sip_dropped, info[SK_MEMINFO_DROPS] - s->dropped);
    s->dropped = info[SK_MEMINFO_DROPS];
}
