/* Bounds of received SDP, checked before libre reads it, as sip/text.h does with SIP. */
#pragma once
#include <stdbool.h>

#include "base/str.h"

#define SDP_MAX      16384 /* bytes of a body */
#define SDP_LINE_MAX 1024

/* Whether libre may read the SDP. */
bool sdp_text_fits(struct str sdp);
