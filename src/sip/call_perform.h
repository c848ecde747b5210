/* Inside the SIP user agent: performs the actions of the call machine with a SIP session, an RTP session and the store.
 */
#pragma once
#include "sip/call.h"

/* Reports the event to the machine, and performs the actions that it leads to. May end the call. */
void sip_call_step(struct sip_call *c, const struct call_event *e);
/* Of the visitor's media; the argument is the call. */
extern const struct media_events sip_call_media_events;
/* A resident opens the door by a request, as with key 9. While the tone is sent, a second request has no effect. Fails
 * with ERR_CALL_NOT_FORWARDED, ERR_CALL_ENDED or ERR_SETUP_REQUIRED. May end the call. */
enum err sip_call_open(struct sip_call *c) CHECKED;
/* Answers the visitor's call if nobody did, so that the visitor is heard. May end the call. */
void sip_call_pick_up(struct sip_call *c);
/* Answers an INFO, which may have a key. `arg` is the call. */
void sip_call_info(struct sip *sip, const struct sip_msg *msg, void *arg);
/* The ACK came, so the caller's address is not forged: makes the session. */
void sip_call_confirm(struct sip_call *c);
