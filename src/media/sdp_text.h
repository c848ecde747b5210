/* Received SDP, before libre reads it: its bounds (for SIP: sip/text.h), and forms that telephones send but
 * libre refuses. */
#pragma once
#include <re/re.h>

#include "base/str.h"

#define SDP_MAX      16384 /* bytes of a body */
#define SDP_LINE_MAX 1024

/* Whether libre may read the SDP. */
bool sdp_text_fits(struct str sdp);
/* A copy for libre, which the caller owns: without a NUL at its end, with an end of its last line, and in lines of
 * media with single spaces and without "/1", the number of ports. NULL if libre may not read it, or memory is short. */
struct mbuf *sdp_text_copy(struct str sdp);
