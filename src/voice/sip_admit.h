/* Inside the SIP user agent: whether there is a place for one more call, and which one gives way to it. */
#pragma once
#include <re/re.h>

#include "voice/call_log.h"

struct sip_agent;
struct sip_source;

/* A place for the call of this INVITE, and its source. False if there is none or it cannot be served: then the caller
 * has been told at once, and the building never hears of it. */
bool sip_admit(struct sip_agent *a, const struct sip_msg *msg, struct sip_source **ret);
/* Nothing is kept of a request that is refused so: when it is repeated, it is looked at again. `header` may be "", or
 * ends with CRLF. */
void sip_refuse(struct sip_agent *a, const struct sip_msg *msg, uint16_t status, const char *reason,
                const char *header);
/* The facts about a call from before it began, for its line in the log. */
void sip_admit_record(struct call_record *r, const struct sip_msg *msg, const struct uri *dialled);
/* Whether one more line may be written about a call that did not come about: anybody can have the service write them.
 */
bool sip_admit_may_tell(struct sip_agent *a);
