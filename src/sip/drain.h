/* Inside the SIP user agent: the last seconds of its calls, when it stops. Until shortly before the end, calls go on as
 * always, and new ones are taken while any goes on. Then those who talk hear that the call will end, and no telephone
 * rings any more. */
#pragma once
#include "sip/agent.h"

/* Begins: the calls that are left in wait_ms end then. Calls a->settled if there is none. */
void sip_drain_begin(struct sip_agent *a, int64_t wait_ms);
