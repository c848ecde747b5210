/* Inside the SIP user agent: refusing a call, and ending it. */
#pragma once
#include "sip/call.h"

/* Sends the final response of a call that is not answered. */
void sip_call_refuse(struct sip_call *c, int status, const char *reason);
/* Ends the call for its peer at once. Frees it later, from the loop, and not before its pending decision has come. */
void sip_call_end(struct sip_call *c);
