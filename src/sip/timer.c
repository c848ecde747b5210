#include "sip/timer.h"

#define INTERVAL_MAX_S 604800

static bool has_tag(const struct sip_hdr *hdr, const struct sip_msg *msg, void *arg)
{
    (void)msg;
    return !pl_strcasecmp(&hdr->val, arg);
}

bool sip_timer_tagged(const struct sip_msg *msg, enum sip_hdrid header, const char *tag)
{
    return sip_msg_hdr_apply(msg, true, header, has_tag, (void *)tag);
}

static bool supports_timer(const struct sip_msg *msg)
{
    return sip_timer_tagged(msg, SIP_HDR_SUPPORTED, "timer") || sip_timer_tagged(msg, SIP_HDR_REQUIRE, "timer");
}

/* The value of a Session-Expires or Min-SE header: its seconds, 0 without one, and its parameters. */
static uint32_t seconds_of(const struct sip_msg *msg, enum sip_hdrid header, struct pl *ret_params)
{
    const struct sip_hdr *hdr = sip_msg_hdr(msg, header);
    size_t n = 0;
    *ret_params = pl_null;
    if (!hdr)
        return 0;
    while (n < hdr->val.l && hdr->val.p[n] >= '0' && hdr->val.p[n] <= '9')
        n++;
    const struct pl digits = {hdr->val.p, n};
    *ret_params = (struct pl){hdr->val.p + n, hdr->val.l - n};
    if (n > 6)
        return INTERVAL_MAX_S;
    const uint32_t seconds = pl_u32(&digits);
    return seconds < INTERVAL_MAX_S ? seconds : INTERVAL_MAX_S;
}

static bool refresher_is(const struct pl *params, const char *role)
{
    struct pl refresher;
    return !msg_param_decode(params, "refresher", &refresher) && !pl_strcasecmp(&refresher, role);
}

bool sip_timer_too_small(const struct sip_msg *request)
{
    struct pl params;
    const uint32_t s = seconds_of(request, SIP_HDR_SESSION_EXPIRES, &params);
    return s && s < SIP_TIMER_MIN_S && supports_timer(request);
}

struct sip_timer sip_timer_of_request(const struct sip_msg *request)
{
    struct pl params;
    const uint32_t s = seconds_of(request, SIP_HDR_SESSION_EXPIRES, &params);
    struct sip_timer t = {.interval_s = s, .known = supports_timer(request)};
    if (s < SIP_TIMER_MIN_S) /* a peer that does not know timers cannot be told a minimum */
        t.interval_s = 0;
    t.ours = t.interval_s && (!t.known || refresher_is(&params, "uas"));
    return t;
}

struct sip_timer sip_timer_of_answer(const struct sip_timer *before, const struct sip_msg *answer)
{
    struct pl params;
    const uint32_t s = seconds_of(answer, SIP_HDR_SESSION_EXPIRES, &params);
    struct sip_timer t = *before;
    if (s >= SIP_TIMER_MIN_S) {
        t.interval_s = s;
        t.ours = !refresher_is(&params, "uas");
    }
    return t;
}

uint32_t sip_timer_least(const struct sip_msg *answer)
{
    struct pl params;
    return seconds_of(answer, SIP_HDR_MIN_SE, &params);
}

void sip_timer_invite_lines(uint32_t least_s, char ret[static SIP_TIMER_LINES])
{
    const uint32_t interval_s = least_s > SIP_TIMER_OURS_S ? least_s : SIP_TIMER_OURS_S;
    const uint32_t min_s = least_s > SIP_TIMER_MIN_S ? least_s : SIP_TIMER_MIN_S;
    (void)re_snprintf(ret, SIP_TIMER_LINES, "Supported: timer\r\nSession-Expires: %u\r\nMin-SE: %u\r\n", interval_s,
                      min_s);
}

void sip_timer_answer_lines(const struct sip_timer *t, char ret[static SIP_TIMER_LINES])
{
    if (t->interval_s)
        (void)re_snprintf(ret, SIP_TIMER_LINES, "Supported: timer\r\n%sSession-Expires: %u;refresher=%s\r\n",
                          t->ours ? "" : "Require: timer\r\n", t->interval_s, t->ours ? "uas" : "uac");
    else
        (void)re_snprintf(ret, SIP_TIMER_LINES, "Supported: timer\r\n");
}

void sip_timer_refresh_lines(const struct sip_timer *t, char ret[static SIP_TIMER_LINES])
{
    (void)re_snprintf(ret, SIP_TIMER_LINES, "Supported: timer\r\nSession-Expires: %u;refresher=uac\r\n", t->interval_s);
}
