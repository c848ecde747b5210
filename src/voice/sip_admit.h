/* Inside the SIP user agent: admission of calls, and eviction at the limits. */
#pragma once
#include <re/re.h>

#include "voice/call_log.h"

struct sip_agent;
struct sip_source;

/* Admits the call of this INVITE: its source. False if a limit is reached or the call cannot be served; the INVITE has
 * then been refused. */
bool sip_admit(struct sip_agent *a, const struct sip_msg *msg, struct sip_source **ret);
/* Refuses a request without state: a repetition is handled as a new request. `header` is "" or ends with CRLF. */
void sip_refuse(struct sip_agent *a, const struct sip_msg *msg, uint16_t status, const char *reason,
                const char *header);
/* Fills the record of a call from its INVITE. */
void sip_admit_record(struct call_record *r, const struct sip_msg *msg, const struct uri *dialled);
/* Limits the log lines of calls that were never established: anybody can cause them. False: suppress the line. */
bool sip_admit_may_tell(struct sip_agent *a);
