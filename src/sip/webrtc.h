/* Inside the SIP user agent: the port of residents' browsers (listen.webrtc). */
#pragma once
#include <stddef.h>

#include "base/err.h"

struct sip_agent;

/* Opens a->webrtc. Without listen.webrtc it is on the address of listen.sip, and a port that cannot be bound leaves it
 * NULL with a warning. A configured one that cannot be bound is an error. The reason is written to `why`. */
enum err sip_webrtc_open(struct sip_agent *a, char *why, size_t why_size) CHECKED;
