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

/* Appends the document that performs these actions for the visitor, which must not contain a CALL_ASK_…, and then, if
 * `joins`, lets the visitor talk in the room. Its addresses name s->step, so that must count this answer already. */
void twiml_visitor(const struct config *c, const struct twiml_session *s, const struct call_actions *actions,
                   bool joins, struct buf *out);
/* The visitor asks for a document again in a second. */
void twiml_wait(const struct twiml_session *s, struct buf *out);
/* The question to the resident who has answered that phone: to talk, or to open the door. */
void twiml_resident(const struct config *c, const struct twiml_session *s, size_t phone, struct buf *out);
/* Values of `answer` in the addresses for a resident; without it, the resident has just answered. */
enum twiml_answer {
    RESIDENT_CHOSE = 1, /* was asked to talk or to open */
    RESIDENT_MOVED,     /* talks, and the call was moved */
    RESIDENT_LEFT,      /* was in the room */
    RESIDENT_PRESSED    /* was asked to open */
};
/* Sends the resident to the room (twiml/room.h), and asks a resident who has left it. */
void twiml_resident_join(const struct twiml_session *s, struct buf *out);
void twiml_resident_ask(const struct config *c, const struct twiml_session *s, struct buf *out);
/* Rings the phones of the call at once, and connects the one that answers without a question: nothing of the call is
 * stored, so no webhook of it can be answered. */
void twiml_forward_alone(const struct twiml_session *s, struct buf *out);
/* Documents that only hang up, and that do nothing: a resident's call is then connected with the visitor. */
void twiml_hang_up(struct buf *out);
void twiml_nothing(struct buf *out);

/* Appends text, escaped for an XML attribute or element. Characters that XML does not have become spaces. */
void twiml_escape(struct str text, struct buf *out);
/* Appends the digits of <Play> that press the release tone: `w` is a pause of half a second. `first`: nothing is played
 * before them, so that a pause comes first in any case. */
void twiml_digits(const char *keys, const struct release *form, bool first, struct buf *out);
