/* Inside the SIP user agent: admission of calls, and eviction at the limits. */
#pragma once
#include <re/re.h>
#include <stdbool.h>

struct sip_agent;
struct sip_call;
struct sip_source;

/* Admits the call of this INVITE: its source. False if a limit is reached or the call cannot be served; the INVITE has
 * then been refused. */
bool sip_admit(struct sip_agent *a, const struct sip_msg *msg, struct sip_source **ret);
/* The call of a caller that is listed or signed in begins to ring residents, which takes long and needs no message of
 * the caller: it is no longer evicted. Over UDP its address may be forged, so this holds for at most half of all calls,
 * and for half of those of its source. */
void sip_admit_ringing(struct sip_call *c);
