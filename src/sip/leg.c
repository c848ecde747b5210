#include "sip/leg.h"

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "sip/guard.h"
#include "sip/stack.h"

#define PAUSE_MS        2000 /* after a prompt, before it is repeated */
#define LENGTHENED_MAX  3    /* how often the session interval of one call is made longer */
#define UNRESPONSIVE_MS 6000 /* without any response, which is four transmissions over UDP, the next trunk is tried */

static void report(struct sip_leg *l, enum hunt_event_kind kind, int status)
{
    l->events->report(&(struct hunt_event){.kind = kind, .leg = l->n, .status = status}, l->arg);
}

/* ---- media ---- */

static void on_leg_key(char key, void *arg)
{
    struct sip_leg *l = arg;
    if (l->answered)
        l->events->report(&(struct hunt_event){.kind = HUNT_KEY, .leg = l->n, .key = key}, l->arg);
}

static void on_leg_played(void *arg)
{
    struct sip_leg *l = arg;
    if (!l->asking)
        return;
    if (l->pausing) {
        l->pausing = false;
        report(l, HUNT_PROMPTED, 0);
    } else {
        const struct sound pause = sound_silence(PAUSE_MS);
        l->pausing = true;
        media_play(l->media, &pause, 1);
    }
}

void sip_leg_ask(struct sip_leg *l, const char *text)
{
    l->asking = true;
    greeting_say(&l->saying, l->agent, l->media, &(struct greeting_words){.prompt = PROMPT_ACCEPT, .text = text});
}

void sip_leg_play(struct sip_leg *l, const struct sound *parts, size_t n)
{
    l->asking = l->pausing = true;
    media_play(l->media, parts, n);
}

void sip_leg_quiet(struct sip_leg *l)
{
    l->asking = l->pausing = false;
    media_quiet(l->media);
}

static void on_leg_packet(const struct media_packet *p, void *arg)
{
    struct sip_leg *l = arg;
    l->events->packet(l, p, l->arg);
}

static const struct media_events leg_media_events = {
    .key = on_leg_key, .played = on_leg_played, .packet = on_leg_packet};

static int make_leg_media(struct sip_leg *l, const struct sip_route *r)
{
    media_free(l->media);
    l->media = NULL;
    struct media_options options = {.laddr = &r->stack->bound,
                                    .peer = &r->trunk->targets[r->trunk->target].addr,
                                    .config = l->agent->config,
                                    .ports = r->stack->ports,
                                    .events = true,
                                    .resident = true,
                                    .srtp = r->srtp};
    return media_new(&l->media, &options, &leg_media_events, l) ? ENOMEM : 0;
}

static bool take_answer(struct sip_leg *l, const struct sip_msg *msg)
{
    if (!mbuf_get_left(msg->mb) || !sip_body_is_sdp(msg) || media_take_sdp(l->media, false, msg->mb))
        return false;
    l->described = true;
    return true;
}

static void start_media(struct sip_leg *l, const struct sip_msg *msg)
{
    if (!l->started)
        media_start(l->media, l->agent->tick, &msg->src);
    l->started = true;
}

/* ---- the session ---- */

static void place(struct sip_leg *l, int status);

/* Ends the session, which cancels the call or hangs up. */
static void close_session(struct sip_leg *l)
{
    hash_unlink(&l->dialog);
    sip_refresh_end(&l->refresh);
    l->session = mem_deref(l->session);
    l->target = mem_deref((void *)l->target);
    if (l->trunk)
        sip_trunk_leave(l->trunk);
    l->trunk = NULL;
    l->asking = l->pausing = false;
    if (l->media)
        media_stop(l->media);
}

static void on_progress(const struct sip_msg *msg, void *arg)
{
    struct sip_leg *l = arg;
    l->responded = true;
    if (msg->scode > 100 && take_answer(l, msg)) {
        start_media(l, msg);
        report(l, HUNT_EARLY, 0);
    } else if (msg->scode == 180) {
        report(l, HUNT_RINGING, 0);
    }
}

/* The answer to our offer: in the 200 of an INVITE, or in an ACK. A body may be missing where a provisional response
 * had it. */
static int on_sdp_answer(const struct sip_msg *msg, void *arg)
{
    struct sip_leg *l = arg;
    l->offering = false;
    if (l->answered && !msg->req)
        sip_refresh_on_answer(&l->refresh, msg);
    return take_answer(l, msg) || (!l->answered && !mbuf_get_left(msg->mb) && l->described) ? 0 : EPROTO;
}

static int take_offer(struct mbuf **ret, const struct sip_msg *msg, void *arg)
{
    const struct sip_leg *l = arg;
    const bool offer = mbuf_get_left(msg->mb) > 0;
    if (offer && (!sip_body_is_sdp(msg) || media_take_sdp(l->media, true, msg->mb)))
        return EPROTO;
    return media_make_sdp(l->media, !offer, ret) ? ENOMEM : 0;
}

static int make_offer(struct mbuf **ret, void *arg)
{
    const struct sip_leg *l = arg;
    return media_make_sdp(l->media, true, ret) ? ENOMEM : 0;
}

static const struct sip_refresh_events refresh_events = {.offer = make_offer, .update = take_offer};

/* Our requests go along the way of the phone's last message that has its Contact. */
static void aim(struct sip_leg *l, const struct sip_msg *msg)
{
    mem_deref((void *)l->target);
    l->target = mem_ref((void *)msg);
}

/* A re-INVITE: hold, resume, another address, a refresh. */
static int on_leg_offer(struct mbuf **ret, const struct sip_msg *msg, void *arg)
{
    struct sip_leg *l = arg;
    const bool offered = mbuf_get_left(msg->mb) > 0;
    const int e = take_offer(ret, msg, l);
    if (e)
        return e;
    l->offering = !offered;
    media_alive(l->media, &msg->src);
    aim(l, msg);
    sip_refresh_on_offer(&l->refresh, l->stack, msg);
    return 0;
}

static void on_leg_established(const struct sip_msg *msg, void *arg)
{
    struct sip_leg *l = arg;
    l->answered = true;
    aim(l, msg);
    sip_refresh_begin_answered(&l->refresh, msg, &refresh_events, l);
    (void)sip_trunk_result(l->agent, l->trunk, 0, 200);
    start_media(l, msg);
    report(l, HUNT_ANSWERED, 0);
}

static void on_leg_info(struct sip *sip, const struct sip_msg *msg, void *arg)
{
    struct sip_leg *l = arg;
    struct str body = {(const char *)mbuf_buf(msg->mb), mbuf_get_left(msg->mb)};
    char type[64];
    const int n = re_snprintf(type, sizeof type, "%r/%r", &msg->ctyp.type, &msg->ctyp.subtype);
    /* First, because the key may end the call. */
    (void)sip_treply(NULL, sip, msg, 200, "OK");
    media_alive(l->media, &msg->src);
    if (body.n && n > 0)
        (void)media_take_info(l->media, str_n(type, (size_t)n), body);
}

/* The trunk refused the session interval: the same call with a longer one. */
static bool lengthen(struct sip_leg *l, struct sip_trunk *trunk, const struct sip_msg *msg)
{
    const uint32_t least_s = sip_timer_least(msg);
    if (least_s <= SIP_TIMER_OURS_S || least_s <= l->least_s || ++l->lengthened > LENGTHENED_MAX)
        return false;
    l->least_s = least_s;
    sip_trunk_again(l->agent, &l->route, trunk);
    return true;
}

static void on_leg_close(int error, const struct sip_msg *msg, void *arg)
{
    struct sip_leg *l = arg;
    const int status = msg && !msg->req && msg->scode >= 300 ? msg->scode : 0;
    struct sip_trunk *trunk = l->trunk;
    const bool answered = l->answered;
    log_debug("leg %zu closed status=%d errno=%d", l->n, status, error);
    if (error == ECONNRESET)
        sip_refresh_on_bye(&l->refresh, l->session);
    close_session(l);
    if (answered)
        report(l, HUNT_HUNG_UP, 0);
    else if (status == 422 && lengthen(l, trunk, msg))
        place(l, status);
    else if (sip_trunk_result(l->agent, trunk, status ? 0 : error ? error : EPROTO, status))
        place(l, status);
    else
        report(l, HUNT_FAILED, status);
}

/* ---- placing the call ---- */

/* Counts a session for as long as libre keeps it, and has the password of its trunk. */
struct outgoing {
    struct sip_agent *agent;
    sip_auth_h *auth;
    void *auth_arg;
};

static void outgoing_destructor(void *arg)
{
    const struct outgoing *o = arg;
    o->agent->drain.outgoing--;
    sip_agent_settled(o->agent);
}

static int outgoing_password(char **user, char **password, const char *realm, void *arg)
{
    const struct outgoing *o = arg;
    return o->auth(user, password, realm, o->auth_arg);
}

static struct outgoing *new_outgoing(struct sip_agent *a, const struct sip_route *r)
{
    struct outgoing *o = mem_zalloc(sizeof *o, outgoing_destructor);
    if (!o)
        return NULL;
    *o = (struct outgoing){a, r->auth, r->auth_arg};
    a->drain.outgoing++;
    return o;
}

static int connect_route(struct sip_leg *l, const struct sip_route *r)
{
    struct mbuf *sdp = NULL;
    const char *hops[] = {r->outbound};
    char timer[SIP_TIMER_LINES];
    sip_timer_invite_lines(l->least_s, timer);
    l->responded = l->described = l->started = false;
    l->stack = r->stack;
    (void)snprintf(l->contact, sizeof l->contact, "%s", r->cuser);
    struct outgoing *outgoing = new_outgoing(l->agent, r);
    int e = outgoing ? make_leg_media(l, r) : ENOMEM;
    if (!e && media_make_sdp(l->media, true, &sdp))
        e = ENOMEM;
    if (!e)
        e = sipsess_connect(&l->session, r->stack->sessions, r->uri, NULL, r->from, r->cuser, hops,
                            *r->outbound != '\0', "application/sdp", sdp, outgoing_password, outgoing, true,
                            on_leg_offer, on_sdp_answer, on_progress, on_leg_established, on_leg_info, NULL,
                            on_leg_close, l, "%sAllow: " SIP_ALLOW "\r\n%s", r->headers, timer);
    mem_deref(sdp);
    mem_deref(outgoing);
    return e;
}

/* Calls over the next trunk that takes the call. `status` came from the last one. */
static void place(struct sip_leg *l, int status)
{
    struct sip_route r;
    while (sip_trunk_route(l->agent, &l->route, l->number, l->as, l->original, &r)) {
        const int e = connect_route(l, &r);
        if (e) {
            (void)sip_trunk_result(l->agent, r.trunk, e, 0);
            continue;
        }
        l->trunk = r.trunk;
        sip_trunk_enter(l->trunk);
        l->dialled_ms = tick_now_ms();
        hash_append(l->agent->dialogs.legs, hash_joaat_str(sip_dialog_callid(sipsess_dialog(l->session))), &l->dialog,
                    l);
        return;
    }
    report(l, HUNT_FAILED, status);
}

void sip_leg_dial(struct sip_leg *l, struct sip_agent *a, size_t n, const char *number, const char *as,
                  const char *original, const struct sip_leg_events *events, void *arg)
{
    *l = (struct sip_leg){
        .agent = a, .n = n, .number = number, .as = as, .original = original, .events = events, .arg = arg};
    place(l, 0);
}

/* False: the session has expired. */
static bool keep_session(struct sip_leg *l, int64_t now_ms)
{
    return sip_refresh_tick(&l->refresh, l->stack, l->session, l->contact, l->target, now_ms);
}

void sip_leg_tick(struct sip_leg *l, int64_t now_ms)
{
    if (l->asking && !l->pausing)
        greeting_tick(&l->saying, now_ms);
    if (l->session && l->answered && !keep_session(l, now_ms)) {
        log_debug("leg %zu was not refreshed", l->n);
        close_session(l);
        report(l, HUNT_HUNG_UP, 0);
        return;
    }
    if (!l->session || l->responded || l->answered || now_ms - l->dialled_ms < UNRESPONSIVE_MS)
        return;
    struct sip_trunk *trunk = l->trunk;
    close_session(l);
    if (sip_trunk_result(l->agent, trunk, ETIMEDOUT, 0))
        place(l, 0);
    else
        report(l, HUNT_FAILED, 0);
}

void sip_leg_drop(struct sip_leg *l)
{
    close_session(l);
}

void sip_leg_done(struct sip_leg *l)
{
    close_session(l);
    media_free(l->media);
    l->media = NULL;
    greeting_done(&l->saying);
}

/* ---- requests within a call ---- */

static bool is_leg(struct le *le, void *arg)
{
    const struct sip_leg *l = le->data;
    return sip_dialog_cmp(sipsess_dialog(l->session), arg);
}

static struct sip_leg *find_leg(const struct sip_agent *a, const struct sip_msg *msg)
{
    return list_ledata(hash_lookup(a->dialogs.legs, hash_joaat_pl(&msg->callid), is_leg, (void *)msg));
}

bool sip_leg_knows(struct sip_agent *a, const struct sip_msg *msg)
{
    struct sip_leg *l = find_leg(a, msg);
    if (l && !pl_strcmp(&msg->met, "ACK"))
        sip_refresh_on_ack(&l->refresh, msg);
    return l;
}

bool sip_leg_update(struct sip_agent *a, const struct sip_msg *msg)
{
    struct sip_leg *l = find_leg(a, msg);
    if (!l || !l->answered)
        return false;
    media_alive(l->media, &msg->src);
    if (sip_msg_hdr(msg, SIP_HDR_CONTACT))
        aim(l, msg);
    sip_refresh_on_update(&l->refresh, l->stack, sipsess_dialog(l->session), l->contact, l->offering, msg);
    return true;
}
