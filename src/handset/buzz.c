#include "handset/buzz.h"

#include <errno.h>

#include "base/mem.h"
#include "handset/reach.h"

#define SILENT_MS  3000  /* without any answer: print advice */
#define GIVE_UP_MS 10000 /* without any answer: end the call */

struct buzz {
    struct handset hand;
    const struct buzz_options *o;
    struct sa server;
    bool tcp;
    bool reached; /* some message came back */
    bool advised; /* the advice was printed */
};

/* ---- events of the call ---- */

/* No message came back, not even 100 Trying (RFC 3261, 17.2.1). The first report includes advice. */
static void tell_unanswered(struct buzz *b, int64_t waited_ms)
{
    static const char advice[] = ": is the service running, is --sip right, does a firewall drop ";
    (void)re_snprintf(b->hand.why, sizeof b->hand.why, "no response from %J after %u s%s%s", &b->server,
                      (unsigned)(waited_ms / 1000), b->advised ? "" : advice,
                      b->advised ? ""
                      : b->tcp   ? "it?"
                                 : "UDP?");
}

static void advise(struct buzz *b, int64_t waited_ms)
{
    tell_unanswered(b, waited_ms);
    b->advised = true;
    if (b->o->note)
        b->o->note("%s", b->hand.why);
}

/* Sees every message. Any that comes in shows that the service is there. */
static void buzz_on_trace(bool sent, enum sip_transp tp, const struct sa *src, const struct sa *dst,
                          const uint8_t *packet, size_t n, void *arg)
{
    struct buzz *b = arg;
    (void)tp, (void)src, (void)dst, (void)packet, (void)n;
    b->reached = b->reached || !sent;
}

/* The call took longer than --timeout. */
static void time_out(struct buzz *b, int64_t waited_ms)
{
    const unsigned s = (unsigned)(waited_ms / 1000);
    if (b->hand.answered) {
        handset_report(&b->hand, "timeout", NULL);
        if (b->o->note)
            b->o->note("hung up after %u s, the limit of --timeout", s);
        return;
    }
    if (b->reached)
        (void)re_snprintf(b->hand.why, sizeof b->hand.why,
                          "%J responded but did not answer the call within %u s, the limit of --timeout", &b->server,
                          s);
    else
        tell_unanswered(b, waited_ms);
    b->hand.failed = true;
}

static void buzz_on_tick(void *arg, int64_t now_ms)
{
    struct buzz *b = arg;
    const int64_t waited_ms = now_ms - b->hand.began_ms;
    if (handset_timed_out(&b->hand, now_ms) || (!b->reached && waited_ms > GIVE_UP_MS)) {
        time_out(b, waited_ms);
        handset_finish(&b->hand);
    } else if (!b->reached && !b->advised && waited_ms >= SILENT_MS) {
        advise(b, waited_ms);
    } else if (b->hand.answered) {
        handset_act(&b->hand, now_ms);
    }
}

static void buzz_on_established(const struct sip_msg *msg, void *arg)
{
    struct buzz *b = arg;
    handset_answered(&b->hand, &msg->src);
}

static void buzz_on_close(int err, const struct sip_msg *msg, void *arg)
{
    struct buzz *b = arg;
    if (b->hand.closed)
        return;
    if (b->hand.answered) {
        handset_hung_up(&b->hand);
        return;
    }
    if (msg && msg->scode >= 300) {
        char code[16];
        (void)snprintf(code, sizeof code, "%u", msg->scode);
        handset_report(&b->hand, "rejected", code);
    } else {
        char what[80];
        (void)re_snprintf(what, sizeof what, "no response from %J", &b->server);
        handset_fail(&b->hand, what, err);
    }
    handset_leave(&b->hand, 0);
}

static int buzz_on_sdp_answer(const struct sip_msg *msg, void *arg)
{
    struct buzz *b = arg;
    return media_take_sdp(b->hand.media, false, msg->mb) ? EPROTO : 0;
}

/* ---- setting up ---- */

struct service {
    struct str host;
    uint16_t port;
    bool tcp;
};

static bool take_prefix(struct str *s, struct str prefix)
{
    if (!str_starts(*s, prefix))
        return false;
    *s = str_from(*s, prefix.n);
    return true;
}

static bool read_service(const char *text, struct service *ret)
{
    struct str host, port, parameters, at = str_cut(str_z(text), ';', &parameters);
    bool tcp = take_prefix(&at, STR("tcp:"));
    if (!tcp && !take_prefix(&at, STR("udp:")))
        (void)take_prefix(&at, STR("sip:"));
    if (parameters.p && !str_eqi(parameters, STR("transport=tcp")))
        return false;
    if (take_prefix(&at, STR("["))) {
        host = str_cut(at, ']', &port);
        if (!take_prefix(&port, STR(":")))
            return false;
    } else {
        host = str_cut(at, ':', &port);
    }
    uint64_t number;
    if (!host.n || !str_to_u64(port, UINT16_MAX, &number) || number == 0)
        return false;
    *ret = (struct service){.host = host, .port = (uint16_t)number, .tcp = tcp || parameters.p};
    return true;
}

bool buzz_is_service(const char *text)
{
    struct service unused;
    return read_service(text, &unused);
}

static bool find_server(struct buzz *b)
{
    struct service at;
    char host[256], what[300];
    if (!read_service(b->o->sip, &at)) {
        handset_fail(&b->hand, "--sip is not HOST:PORT", 0);
        return false;
    }
    (void)snprintf(host, sizeof host, "%.*s", STR_ARG(at.host));
    b->tcp = at.tcp;
    int e = at.host.n < sizeof host ? reach_find(host, at.port, at.tcp, REACH_PATIENCE_MS, &b->server) : ENOENT;
    if (e == ENOENT)
        handset_fail(&b->hand, "--sip: host not found", 0);
    else if (e) {
        (void)snprintf(what, sizeof what, "no response from any address of %s", host);
        handset_fail(&b->hand, what, e);
    }
    return !e;
}

static int buzz_place(struct buzz *b, const struct sa *local)
{
    char to[128], from[160];
    (void)re_snprintf(to, sizeof to, "sip:%s@%J%s", b->o->to, &b->server, b->tcp ? ";transport=tcp" : "");
    (void)re_snprintf(from, sizeof from, "sip:%s@%j", b->o->from ? b->o->from : "callbox", local);
    struct mbuf *sdp;
    if (media_make_sdp(b->hand.media, true, &sdp))
        return ENOMEM;
    int e = sipsess_connect(&b->hand.session, b->hand.sessions, to, NULL, from, "callbox", NULL, 0, "application/sdp",
                            sdp, NULL, NULL, false, NULL, buzz_on_sdp_answer, NULL, buzz_on_established, NULL, NULL,
                            buzz_on_close, b, NULL);
    mem_deref(sdp);
    return e;
}

static int buzz_start(struct buzz *b)
{
    struct sa local;
    int e = reach_local(&b->server, &local);
    if (!e)
        e = handset_open(&b->hand, &local, b->tcp ? SIP_TRANSP_TCP : SIP_TRANSP_UDP, "portero-buzz/" PORTERO_VERSION,
                         NULL, b);
    if (!e)
        sip_set_trace_handler(b->hand.sip, buzz_on_trace);
    if (!e)
        e = handset_media(&b->hand, &local);
    return e ? e : buzz_place(b, &local);
}

static void buzz_call(struct buzz *b)
{
    int e = buzz_start(b);
    if (!e)
        e = handset_loop(&b->hand, buzz_on_tick, b);
    if (e)
        handset_fail(&b->hand, "cannot place the call", e);
    handset_done(&b->hand);
}

int buzz_run(const struct buzz_options *o, FILE *out, char **ret_why)
{
    struct buzz b = {.o = o};
    if (re_thread_init())
        handset_fail(&b.hand, "no memory", 0);
    else if (find_server(&b) && handset_init(&b.hand, &o->handset, out))
        buzz_call(&b);
    re_thread_close();
    if (b.hand.failed) {
        *ret_why = mem_strdup(b.hand.why);
        return BUZZ_FAILED;
    }
    return b.hand.heard_key ? BUZZ_OPENED : BUZZ_NOT_OPENED;
}
