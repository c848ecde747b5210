/* Masks the secrets in the text of a SIP message. Pure. */
#pragma once
#include <stddef.h>

/* Replaces in place by `x`: the credentials of digest authentication, the keys in the body of an INFO, and the keys of
 * SRTP and ICE in SDP. Replaces control characters, which a terminal could obey, by `.`. */
void sip_mask(char *text, size_t n);
