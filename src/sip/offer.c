#include "sip/offer.h"

#include <errno.h>

#include "base/log.h"
#include "sip/guard.h"
#include "sip/stack.h"
#include "sip/target.h"

static int take_offer(struct sip_call *c, struct mbuf **ret, const struct sip_msg *msg)
{
    bool offer = mbuf_get_left(msg->mb) > 0;
    if (offer && (!sip_body_is_sdp(msg) || media_take_sdp(c->media, true, msg->mb)))
        return EPROTO;
    return media_make_sdp(c->media, !offer, ret) ? ENOMEM : 0;
}

static int on_update(struct mbuf **ret, const struct sip_msg *msg, void *arg)
{
    return take_offer(arg, ret, msg);
}

static int on_refresh(struct mbuf **ret, void *arg)
{
    const struct sip_call *c = arg;
    return media_make_sdp(c->media, true, ret) ? ENOMEM : 0;
}

static const struct sip_refresh_events events = {.offer = on_refresh, .update = on_update};

void sip_offer_begin(struct sip_call *c)
{
    c->offering = c->offered;
    sip_refresh_begin(&c->refresh, c->invite, &events, c);
}

int sip_offer_take(struct mbuf **ret, const struct sip_msg *msg, void *arg)
{
    struct sip_call *c = arg;
    const bool offered = mbuf_get_left(msg->mb) > 0;
    c->signalled_ms = tick_now_ms();
    int e = take_offer(c, ret, msg);
    if (e)
        return e;
    c->offering = !offered;
    sip_refresh_on_offer(&c->refresh, c->stack, msg);
    return 0;
}

int sip_offer_answered(const struct sip_msg *msg, void *arg)
{
    struct sip_call *c = arg;
    c->signalled_ms = tick_now_ms();
    c->offering = false;
    if (!msg->req) {
        sip_refresh_on_answer(&c->refresh, msg);
        sip_target_fix(c->invite, msg);
        (void)sip_dialog_update(sipsess_dialog(c->session), msg);
    }
    if (!mbuf_get_left(msg->mb) || !sip_body_is_sdp(msg) || media_take_sdp(c->media, false, msg->mb))
        return EPROTO;
    return 0;
}

void sip_offer_update(struct sip_call *c, struct sip_dialog *dialog, const char *contact, const struct sip_msg *msg)
{
    c->signalled_ms = tick_now_ms();
    sip_refresh_on_update(&c->refresh, c->stack, dialog, contact, c->offering, msg);
}

static void offer_on_tick(struct sip_call *c, int64_t now_ms)
{
    if (sip_refresh_tick(&c->refresh, c->stack, c->session, c->answer.contact, c->target, now_ms))
        return;
    story_ended_by(&c->story, CALL_ENDED_LOST);
    log_debug("call %u was not refreshed", c->serial);
    sip_call_end(c);
}

static void offer_on_end(struct sip_call *c)
{
    sip_refresh_end(&c->refresh);
}

const struct sip_part sip_offer_part = {.tick = offer_on_tick, .end = offer_on_end};
