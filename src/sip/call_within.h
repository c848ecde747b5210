/* Inside the SIP user agent: requests within the dialog of a call. */
#pragma once
#include <stdbool.h>

struct sip_agent;
struct sip_msg;
struct sip_stack;

/* Answers a request within a call that was not acknowledged yet; false if it is an ACK, or of no such call. */
bool sip_call_take_early(struct sip_stack *s, const struct sip_msg *msg);
/* Whether a request with our tag belongs to a call. The ACK of the call's answer makes it a session, which receives the
 * ACK. */
bool sip_call_knows(struct sip_agent *a, const struct sip_msg *msg);
/* Answers an UPDATE. */
void sip_call_update(struct sip_stack *s, const struct sip_msg *msg);
