/* Inside the SIP user agent: the beginning of a call. */
#pragma once

struct sip_call;
struct sip_msg;
struct sip_stack;

/* Begins the call of an admitted INVITE. `caller`: the number of a caller that signed in, "" if it has none: then the
 * INVITE has it; NULL: the caller did not sign in. */
void sip_call_invite(struct sip_stack *s, const struct sip_msg *msg, const char *caller);
/* The caller gave up before the answer: refuses the call with 487 and ends it. */
void sip_call_cancel(struct sip_call *c);
