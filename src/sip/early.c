#include "sip/early.h"

#include "sip/agent.h"
#include "sip/guard.h"
#include "sip/stack.h"

#define REPEAT_MS 60000

static void send_early(struct sip_call *c)
{
    const struct sip_msg *invite = c->invite;
    struct mbuf *sdp = c->early.sdp;
    char own[EXTERNAL_CONTACT_MAX];
    struct sip_contact contact;
    if (!c->transaction) /* answered */
        return;
    c->early.sent_ms = tick_now_ms();
    external_contact(c->agent->config, invite, own);
    sip_contact_set(&contact, own, &invite->dst, invite->tp);
    (void)sip_treplyf(&c->transaction, NULL, c->stack->sip, invite, true, sdp ? 183 : 180,
                      sdp ? "Session Progress" : "Ringing", "%HAllow: " SIP_ALLOW "\r\n%sContent-Length: %zu\r\n\r\n%b",
                      sip_contact_print, &contact, sdp ? "Content-Type: application/sdp\r\n" : "",
                      sdp ? mbuf_get_left(sdp) : (size_t)0, sdp ? mbuf_buf(sdp) : NULL,
                      sdp ? mbuf_get_left(sdp) : (size_t)0);
}

void sip_early_ring(struct sip_call *c)
{
    send_early(c);
}

bool sip_early_describe(struct sip_call *c)
{
    if (c->early.sdp)
        return true;
    if (!c->transaction || c->offered || !c->agent->peers.restricted || media_make_sdp(c->media, false, &c->early.sdp))
        return false;
    media_start(c->media, c->agent->tick, &c->invite->src);
    send_early(c);
    return true;
}

bool sip_early_media(const struct sip_call *c)
{
    return c->early.sdp != NULL;
}

void sip_early_tick(struct sip_call *c, int64_t now_ms)
{
    if (c->early.sent_ms && now_ms - c->early.sent_ms >= REPEAT_MS)
        send_early(c);
}
