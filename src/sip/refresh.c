#include "sip/refresh.h"

#include <errno.h>

#include "media/tick.h"
#include "sip/extra.h"
#include "sip/guard.h"

#define RETRY_MS    2000          /* after a glare */
#define REINVITE_MS (64 * SIP_T1) /* a re-INVITE without an answer has ended */

/* ---- time ---- */

/* The session was refreshed now (RFC 4028, section 10). */
static void schedule(struct sip_refresh *r)
{
    const int64_t now_ms = tick_now_ms(), interval_ms = (int64_t)r->timer.interval_s * 1000;
    const int64_t third_ms = interval_ms / 3, most_ms = SIP_TIMER_DEADLINE * 1000;
    r->refresh_ms = interval_ms && r->timer.ours ? now_ms + interval_ms / 2 : 0;
    r->expire_ms = interval_ms ? now_ms + interval_ms - (third_ms < most_ms ? third_ms : most_ms) : 0;
}

void sip_refresh_begin(struct sip_refresh *r, const struct sip_msg *invite, const struct sip_refresh_events *events,
                       void *arg)
{
    *r = (struct sip_refresh){.events = events, .arg = arg};
    r->timer = sip_timer_of_request(invite);
    r->can_update = sip_timer_tagged(invite, SIP_HDR_ALLOW, "UPDATE");
    schedule(r);
}

void sip_refresh_begin_answered(struct sip_refresh *r, const struct sip_msg *answer,
                                const struct sip_refresh_events *events, void *arg)
{
    static const struct sip_timer none;
    *r = (struct sip_refresh){.events = events, .arg = arg};
    r->timer = sip_timer_of_answer(&none, answer);
    r->can_update = sip_timer_tagged(answer, SIP_HDR_ALLOW, "UPDATE");
    schedule(r);
}

void sip_refresh_end(struct sip_refresh *r)
{
    r->request = mem_deref(r->request);
}

/* ---- the peer's refreshes ---- */

void sip_refresh_on_offer(struct sip_refresh *r, struct sip_stack *s, const struct sip_msg *request)
{
    char lines[SIP_TIMER_LINES];
    r->timer = sip_timer_of_request(request);
    r->unconfirmed = request->cseq.num;
    schedule(r);
    sip_timer_answer_lines(&r->timer, lines);
    sip_extra_set(s, request, lines);
}

void sip_refresh_on_ack(struct sip_refresh *r, const struct sip_msg *ack)
{
    if (ack->cseq.num == r->unconfirmed)
        r->unconfirmed = 0;
}

/* libre keeps an ended session, and repeats its 200, until the ACK or for 32 s. The reference that it holds for this is
 * the only one besides ours, unless a request of ours is pending; without it the session ends with ours. */
void sip_refresh_on_bye(struct sip_refresh *r, struct sipsess *session)
{
    if (r->unconfirmed && mem_nrefs(session) == 2)
        mem_deref(session);
    r->unconfirmed = 0;
}

static void reply(struct sip_stack *s, const struct sip_msg *msg, uint16_t status, const char *reason)
{
    (void)sip_treply(NULL, s->sip, msg, status, reason);
}

static void accept_update(struct sip_refresh *r, struct sip_stack *s, struct sip_dialog *dialog, const char *contact,
                          const struct sip_msg *msg, struct mbuf *sdp)
{
    struct sip_contact ours;
    char lines[SIP_TIMER_LINES];
    (void)sip_dialog_update(dialog, msg);
    r->timer = sip_timer_of_request(msg);
    schedule(r);
    sip_timer_answer_lines(&r->timer, lines);
    sip_contact_set(&ours, contact, &msg->dst, msg->tp);
    (void)sip_treplyf(NULL, NULL, s->sip, msg, true, 200, "OK",
                      "%HAllow: " SIP_ALLOW "\r\n%s%sContent-Length: %zu\r\n\r\n%b", sip_contact_print, &ours, lines,
                      sdp ? "Content-Type: application/sdp\r\n" : "", sdp ? mbuf_get_left(sdp) : (size_t)0,
                      sdp ? mbuf_buf(sdp) : NULL, sdp ? mbuf_get_left(sdp) : (size_t)0);
}

void sip_refresh_on_update(struct sip_refresh *r, struct sip_stack *s, struct sip_dialog *dialog, const char *contact,
                           bool offered, const struct sip_msg *msg)
{
    struct mbuf *sdp = NULL;
    const bool offer = mbuf_get_left(msg->mb) > 0;
    if (!sip_dialog_rseq_valid(dialog, msg))
        reply(s, msg, 500, "Server Internal Error");
    else if (offer && (offered || (r->busy_ms && tick_now_ms() < r->busy_ms)))
        reply(s, msg, 491, "Request Pending");
    else if (offer && r->events->update(&sdp, msg, r->arg))
        reply(s, msg, 488, "Not Acceptable Here");
    else
        accept_update(r, s, dialog, contact, msg, sdp);
    mem_deref(sdp);
}

/* ---- our refreshes ---- */

void sip_refresh_on_answer(struct sip_refresh *r, const struct sip_msg *answer)
{
    r->busy_ms = 0;
    r->timer = sip_timer_of_answer(&r->timer, answer);
    schedule(r);
}

/* 422: the peer, or a proxy, wants a longer interval. */
static void lengthen(struct sip_refresh *r, const struct sip_msg *msg)
{
    const uint32_t least = sip_timer_least(msg);
    if (least > r->timer.interval_s) {
        r->timer.interval_s = least;
        r->refresh_ms = tick_now_ms();
    }
}

static void on_updated(int error, const struct sip_msg *msg, void *arg)
{
    struct sip_refresh *r = arg;
    const int status = error ? 0 : msg->scode;
    if (status > 0 && status < 200)
        return;
    if (status >= 200 && status < 300) {
        sip_refresh_on_answer(r, msg);
    } else if (error == ETIMEDOUT || status == 408 || status == 481) {
        r->gone = true;
    } else if (status == 422) {
        lengthen(r, msg);
    } else {
        r->can_update = r->can_update && (status == 491 || status == 500 || !status);
        r->refresh_ms = tick_now_ms() + RETRY_MS;
    }
}

static int add_contact(enum sip_transp tp, const struct sa *src, const struct sa *dst, struct mbuf *mb, void *arg)
{
    const struct sip_refresh *r = arg;
    struct sip_contact contact;
    (void)dst;
    sip_contact_set(&contact, r->contact, src, tp);
    return mbuf_printf(mb, "%H", sip_contact_print, &contact);
}

static int send_update(struct sip_refresh *r, struct sip_stack *s, struct sipsess *session, const char *lines)
{
    r->request = mem_deref(r->request);
    return sip_drequestf(&r->request, s->sip, true, "UPDATE", sipsess_dialog(session), 0, NULL, add_contact, on_updated,
                         r, "%sContent-Length: 0\r\n\r\n", lines);
}

static int send_invite(struct sip_refresh *r, struct sip_stack *s, struct sipsess *session,
                       const struct sip_msg *target, const char *lines)
{
    struct mbuf *sdp = NULL;
    int e = r->events->offer(&sdp, r->arg);
    if (e)
        return e;
    r->busy_ms = tick_now_ms() + REINVITE_MS;
    sip_extra_set(s, target, lines);
    e = sipsess_modify(session, sdp);
    sip_extra_clear(s);
    mem_deref(sdp);
    return e;
}

bool sip_refresh_tick(struct sip_refresh *r, struct sip_stack *s, struct sipsess *session, const char *contact,
                      const struct sip_msg *target, int64_t now_ms)
{
    char lines[SIP_TIMER_LINES];
    if (r->gone || (r->expire_ms && now_ms >= r->expire_ms))
        return false;
    if (!r->refresh_ms || now_ms < r->refresh_ms)
        return true;
    r->contact = contact;
    r->refresh_ms = now_ms + (int64_t)r->timer.interval_s * 500; /* until it is answered */
    sip_timer_refresh_lines(&r->timer, lines);
    const int e = r->can_update ? send_update(r, s, session, lines) : send_invite(r, s, session, target, lines);
    if (e)
        r->refresh_ms = now_ms + RETRY_MS;
    return true;
}
