/* Inside the SIP user agent: requests within the dialog of a call. */
#pragma once
#include <stdbool.h>

struct sip_agent;
struct sip_msg;
struct sip_stack;

/* Answers an INFO or a BYE to a call that was not acknowledged yet; false if it is none. */
bool sip_call_take_early(struct sip_stack *s, const struct sip_msg *msg);
/* Whether a request with our tag belongs to a call. If the call was not acknowledged yet, this makes it a session,
 * which receives the request. */
bool sip_call_knows(struct sip_agent *a, const struct sip_msg *msg);
/* Answers an UPDATE. */
void sip_call_update(struct sip_stack *s, const struct sip_msg *msg);
