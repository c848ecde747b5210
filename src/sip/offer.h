/* Inside the SIP user agent: offers and answers within a call, and its session timer. */
#pragma once
#include "sip/call.h"
#include "sip/part.h"

/* Refreshes the session, and ends the call if it has expired. */
extern const struct sip_part sip_offer_part;
/* Begins the session timer of a call that is about to be answered. */
void sip_offer_begin(struct sip_call *c);
/* libre's session calls these; `arg` is the call. A new offer, or the request for one: hold, resume, another address, a
 * refresh. */
int sip_offer_take(struct mbuf **ret, const struct sip_msg *msg, void *arg);
/* The answer to our offer, in an ACK or in the 200 of our re-INVITE. */
int sip_offer_answered(const struct sip_msg *msg, void *arg);
/* Answers an UPDATE within the dialog. `contact` is ours. */
void sip_offer_update(struct sip_call *c, struct sip_dialog *dialog, const char *contact, const struct sip_msg *msg);
