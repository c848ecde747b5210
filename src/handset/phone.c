#include "handset/phone.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

#define CALLER_MAX 65

struct phone {
    struct handset hand;
    const struct phone_options *o;
    struct sa local;
    int64_t rang_ms;  /* the call came in; 0: none yet */
    bool picked_up;   /* the 200 was sent */
    struct mbuf *sdp; /* our answer, or our offer */
};

/* ---- events of the call ---- */

/* The user part of From. Characters that a terminal or JSON could take for something else become `?`. */
static void caller_text(const struct sip_msg *msg, char ret[static CALLER_MAX])
{
    static const char plain[] = "+-._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const struct pl *user = &msg->from.uri.user;
    if (!pl_isset(user) || pl_strcpy(user, ret, CALLER_MAX)) {
        memcpy(ret, "unknown", sizeof "unknown");
        return;
    }
    for (char *c = ret; *c; c++)
        if (!strchr(plain, *c))
            *c = '?';
}

static int phone_on_offer(struct mbuf **ret, const struct sip_msg *msg, void *arg)
{
    struct phone *p = arg;
    const bool offered = mbuf_get_left(msg->mb);
    if (offered && media_take_sdp(p->hand.media, true, msg->mb))
        return EPROTO;
    return media_make_sdp(p->hand.media, !offered, ret) ? ENOMEM : 0;
}

static int phone_on_sdp_answer(const struct sip_msg *msg, void *arg)
{
    struct phone *p = arg;
    return media_take_sdp(p->hand.media, false, msg->mb) ? EPROTO : 0;
}

static void phone_on_established(const struct sip_msg *msg, void *arg)
{
    struct phone *p = arg;
    handset_answered(&p->hand, &msg->src);
}

static void phone_on_info(struct sip *sip, const struct sip_msg *msg, void *arg)
{
    struct phone *p = arg;
    char type[80];
    const int n = re_snprintf(type, sizeof type, "%r/%r", &msg->ctyp.type, &msg->ctyp.subtype);
    const struct str body = {(const char *)mbuf_buf(msg->mb), mbuf_get_left(msg->mb)};
    const bool taken = n > 0 && p->hand.answered && media_take_info(p->hand.media, str_n(type, (size_t)n), body);
    (void)sip_reply(sip, msg, taken ? 200 : 415, taken ? "OK" : "Unsupported Media Type");
}

static void phone_on_close(int err, const struct sip_msg *msg, void *arg)
{
    struct phone *p = arg;
    (void)err, (void)msg;
    if (p->hand.closed)
        return;
    if (p->picked_up) {
        handset_hung_up(&p->hand);
        return;
    }
    handset_report(&p->hand, "canceled", NULL);
    handset_finish(&p->hand);
}

static void phone_on_call(const struct sip_msg *msg, void *arg)
{
    struct phone *p = arg;
    struct mbuf *sdp = NULL;
    char caller[CALLER_MAX], line[CALLER_MAX + 8];
    if (p->rang_ms || p->hand.closed) {
        (void)sip_treply(NULL, p->hand.sip, msg, 486, "Busy Here");
        return;
    }
    int e = handset_media(&p->hand, &p->local);
    if (!e)
        e = phone_on_offer(&sdp, msg, p);
    if (!e)
        e = sipsess_accept(&p->hand.session, p->hand.sessions, msg, 180, "Ringing", "phone", "application/sdp", NULL,
                           NULL, NULL, false, phone_on_offer, phone_on_sdp_answer, phone_on_established, phone_on_info,
                           NULL, phone_on_close, p, NULL);
    if (e) {
        media_free(p->hand.media);
        p->hand.media = NULL;
        mem_deref(sdp);
        (void)sip_treply(NULL, p->hand.sip, msg, 488, "Not Acceptable Here");
        return;
    }
    p->sdp = sdp;
    p->rang_ms = tick_now_ms();
    caller_text(msg, caller);
    (void)snprintf(line, sizeof line, "from %s", caller);
    handset_report(&p->hand, "ringing", line);
}

/* ---- the resident ---- */

static void refuse(struct phone *p, int64_t status)
{
    (void)sipsess_reject(p->hand.session, (uint16_t)status, status == 486 ? "Busy Here" : "Refused", NULL);
}

static void pick_up(struct phone *p)
{
    if (p->o->refuse) {
        char code[16];
        (void)snprintf(code, sizeof code, "%u", (unsigned)p->o->refuse);
        refuse(p, p->o->refuse);
        handset_report(&p->hand, "refused", code);
        handset_finish(&p->hand);
        return;
    }
    p->picked_up = true;
    if (sipsess_answer(p->hand.session, 200, "OK", p->sdp, NULL)) {
        handset_fail(&p->hand, "cannot answer the call", 0);
        handset_finish(&p->hand);
    }
}

static void phone_on_tick(void *arg, int64_t now_ms)
{
    struct phone *p = arg;
    struct handset *h = &p->hand;
    if (handset_timed_out(h, now_ms)) {
        if (p->rang_ms && !p->picked_up)
            refuse(p, 480);
        handset_report(h, "timeout", NULL);
        handset_finish(h);
    } else if (p->rang_ms && !p->picked_up && now_ms - p->rang_ms >= p->o->answer_ms) {
        pick_up(p);
    } else if (h->answered && p->o->hangup_ms >= 0 && handset_idle(h, now_ms, p->o->hangup_ms)) {
        handset_report(h, "hangup", NULL);
        handset_finish(h);
    } else if (h->answered) {
        handset_act(h, now_ms);
    }
}

/* ---- setting up ---- */

static bool read_address(const char *text, struct sa *ret)
{
    struct sa sa;
    uint64_t port;
    const char *colon = strrchr(text, ':');
    if (!colon || !str_to_u64(str_z(colon + 1), UINT16_MAX, &port))
        return false;
    if (sa_decode(&sa, text, strlen(text)) || sa_is_any(&sa))
        return false;
    *ret = sa;
    return true;
}

bool phone_is_address(const char *text)
{
    struct sa unused;
    return read_address(text, &unused);
}

static int phone_open(struct phone *p)
{
    char at[80];
    int e = handset_open(&p->hand, &p->local, SIP_TRANSP_UDP, "portero-phone/" PORTERO_VERSION, phone_on_call, p);
    if (!e)
        e = sip_transp_laddr(p->hand.sip, &p->local, SIP_TRANSP_UDP, NULL);
    if (e)
        return e;
    (void)re_snprintf(at, sizeof at, "sip:%J", &p->local);
    handset_report(&p->hand, "listening", at);
    return 0;
}

static void phone_wait(struct phone *p)
{
    int e = phone_open(p);
    if (!e)
        e = handset_loop(&p->hand, phone_on_tick, p);
    if (e)
        handset_fail(&p->hand, "cannot listen", e);
    handset_done(&p->hand);
    mem_deref(p->sdp);
}

int phone_run(const struct phone_options *o, FILE *out, char **ret_why)
{
    struct phone p = {.o = o};
    if (re_thread_init())
        handset_fail(&p.hand, "no memory", 0);
    else if (!read_address(o->listen, &p.local))
        handset_fail(&p.hand, "--listen is not ADDRESS:PORT", 0);
    else if (handset_init(&p.hand, &o->handset, out))
        phone_wait(&p);
    re_thread_close();
    if (p.hand.failed) {
        *ret_why = mem_strdup(p.hand.why);
        return PHONE_FAILED;
    }
    return p.hand.answered ? PHONE_TALKED : PHONE_NOT_ANSWERED;
}
