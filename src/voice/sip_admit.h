/* Inside the SIP user agent: admission of calls, and eviction at the limits. */
#pragma once
#include <re/re.h>
#include <stdbool.h>

struct sip_agent;
struct sip_source;

/* Admits the call of this INVITE: its source. False if a limit is reached or the call cannot be served; the INVITE has
 * then been refused. */
bool sip_admit(struct sip_agent *a, const struct sip_msg *msg, struct sip_source **ret);
