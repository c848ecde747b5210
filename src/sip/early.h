/* Inside the SIP user agent: provisional responses to a visitor's call that is not answered yet. */
#pragma once
#include "sip/call.h"

/* Sends 180, so that the visitor's telephone makes a ring-back tone. */
void sip_early_ring(struct sip_call *c);
/* Sends 183 with our SDP and starts the media, unless that was done. Returns false, and does nothing, if the INVITE has
 * no offer, or if any address may call: packets before the ACK could then reach a third party. */
bool sip_early_describe(struct sip_call *c);
/* Whether the call got early media. */
bool sip_early_media(const struct sip_call *c);
/* Every tick: repeats the last response every minute, as RFC 3261, section 13.3.1.1 asks for. */
void sip_early_tick(struct sip_call *c, int64_t now_ms);
