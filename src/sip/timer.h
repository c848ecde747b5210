/* The session timer of a call (RFC 4028): its negotiation. Pure. */
#pragma once
#include <re/re.h>

#define SIP_TIMER_MIN_S    90  /* our Min-SE, the least that the RFC allows */
#define SIP_TIMER_OURS_S   600 /* the interval that our INVITEs ask for: the longest call's */
#define SIP_TIMER_LINES    128
#define SIP_TIMER_DEADLINE 32 /* seconds before the end at which a session without a refresh is given up, at most */

struct sip_timer {
    uint32_t interval_s; /* 0: the session does not expire */
    bool ours;           /* we refresh; otherwise the peer does */
    bool known;          /* the peer supports timers */
};

/* Whether a header with option tags, such as Supported or Require, has this one. */
bool sip_timer_tagged(const struct sip_msg *msg, enum sip_hdrid header, const char *tag);
/* Whether the request's interval is too small: 422. */
bool sip_timer_too_small(const struct sip_msg *request);
/* The timer after a request of the peer, INVITE or UPDATE, which must not be too small. */
struct sip_timer sip_timer_of_request(const struct sip_msg *request);
/* The timer after a 2xx to our refresh. */
struct sip_timer sip_timer_of_answer(const struct sip_timer *before, const struct sip_msg *answer);
/* The Min-SE of a 422; 0 without one. */
uint32_t sip_timer_least(const struct sip_msg *answer);
/* The header lines of our INVITE. `least_s`: the Min-SE of a 422 to an earlier one; 0: there was none. */
void sip_timer_invite_lines(uint32_t least_s, char ret[static SIP_TIMER_LINES]);
/* The header lines of our 2xx. */
void sip_timer_answer_lines(const struct sip_timer *t, char ret[static SIP_TIMER_LINES]);
/* The header lines of our refresh. */
void sip_timer_refresh_lines(const struct sip_timer *t, char ret[static SIP_TIMER_LINES]);
