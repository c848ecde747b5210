/* Inside the SIP user agent: admission of calls. At the limits, new calls are refused; no call ends for another.
 *
 * An INVITE over UDP may have a forged source, and its call then holds its place for 32 s. So a call is unproven until
 * its caller's next message, if it came over UDP, did not sign in, and its source has never acknowledged a call. Limits
 * for unproven calls leave places to the others. */
#pragma once
#include <re/re.h>
#include <stdbool.h>

struct sip_agent;
struct sip_call;
struct sip_part;

/* Whether this INVITE may become a call now. If not, it has been refused. */
bool sip_admit(struct sip_agent *a, const struct sip_msg *msg, bool signed_in);
/* The source of the call has answered to ours: it is not forged. */
void sip_admit_prove(struct sip_call *c);
/* Counts the calls that are unproven. */
extern const struct sip_part sip_admit_part;
