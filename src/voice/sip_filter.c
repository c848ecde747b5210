#include "voice/sip_filter.h"

#define FILTER_LAYER   0
#define RECEIVE_BUFFER (1024 * 1024) /* bytes: room for a burst of calls */
#define MESSAGE_MAX    65536         /* bytes: above the largest datagram */

static bool unwanted(struct sa *src, struct mbuf *mb, void *arg)
{
    struct sip_agent *a = arg;
    if (!sip_peers_admit(&a->peers, src))
        return true;
    size_t pos = mb->pos;
    struct sip_msg *msg;
    if (sip_msg_decode(&msg, mb))
        return true;
    mb->pos = pos;
    mem_deref(msg);
    return false;
}

bool sip_filter_probe(struct sip_agent *a, const struct sip_msg *msg)
{
    if (!a->probe[0] || msg->tp != SIP_TRANSP_UDP || pl_strcmp(&msg->callid, a->probe))
        return false;
    a->probe[0] = '\0';
    a->udp = mem_ref(msg->sock);
    (void)udp_sockbuf_set(a->udp, RECEIVE_BUFFER);
    udp_rxsz_set(a->udp, MESSAGE_MAX);
    sip_peers_watch(&a->peers, udp_sock_fd(a->udp, sa_af(&msg->dst)));
    (void)udp_register_helper(&a->filter, a->udp, FILTER_LAYER, NULL, unwanted, a);
    return true;
}

void sip_filter_start(struct sip_agent *a, const struct sa *bound)
{
    (void)re_snprintf(a->probe, sizeof a->probe, "%016llx", (unsigned long long)rand_u64());
    struct mbuf *mb = mbuf_alloc(512);
    if (!mb)
        return;
    int e =
        mbuf_printf(mb,
                    "OPTIONS sip:%J SIP/2.0\r\nVia: SIP/2.0/UDP %J;branch=z9hG4bK%s\r\nFrom: <sip:%J>;tag=%s\r\n"
                    "To: <sip:%J>\r\nCall-ID: %s\r\nCSeq: 1 OPTIONS\r\nMax-Forwards: 0\r\nContent-Length: 0\r\n\r\n",
                    bound, bound, a->probe, bound, a->probe, bound, a->probe);
    mb->pos = 0;
    if (!e)
        (void)sip_send(a->sip, NULL, SIP_TRANSP_UDP, bound, mb);
    mem_deref(mb);
}

void sip_filter_stop(struct sip_agent *a)
{
    a->filter = mem_deref(a->filter);
    a->udp = mem_deref(a->udp);
}
