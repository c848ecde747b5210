/* TwiML, the XML that tells Twilio what to do next in a call. */
#pragma once
#include "base/buf.h"
#include "base/config.h"
#include "twiml/session.h"

/* The addresses of this room. */
#define TWIML_VOICE     "/hooks/twilio/voice"
#define TWIML_RESIDENT  "/hooks/twilio/resident"
#define TWIML_STATUS    "/hooks/twilio/status"
#define TWIML_RECORDING "/hooks/twilio/recording"

/* Appends the document that performs these actions for the visitor, which must not contain a CALL_ASK_…. Its addresses
 * name s->step, so that must count this answer already. */
void twiml_visitor(const struct config *c, const struct twiml_session *s, const struct call_actions *actions,
                   struct buf *out);
/* The question to the resident who has answered that phone: to talk, or to open the door. */
void twiml_resident(const struct config *c, const struct twiml_session *s, size_t phone, struct buf *out);
/* Documents that only hang up, and that do nothing: a resident's call is then connected with the visitor. */
void twiml_hang_up(struct buf *out);
void twiml_nothing(struct buf *out);

/* Appends text, escaped for an XML attribute or element. Characters that XML does not have become spaces. */
void twiml_escape(struct str text, struct buf *out);
/* Appends the digits of <Play> that press the release tone: `w` is a pause of half a second. `first`: nothing is played
 * before them, so that a pause comes first in any case. */
void twiml_digits(const char *keys, const struct release *form, bool first, struct buf *out);
