/* Inside the SIP user agent: a browser in a call goes when the key by which it came has ended. */
#pragma once
#include "sip/agent.h"

/* Begins to ask the store for the keys of listeners, every second while there are any. */
void sip_listener_keys_start(struct sip_agent *a);
/* After the last answer. */
void sip_listener_keys_stop(struct sip_agent *a);
