/* The conversation of a visitor and a resident through Twilio, in a conference that hears the resident's keys.
 *
 * Twilio reports no key of a call that <Dial> has placed. So once the two talk, a job moves the resident's call to a
 * document of its own, whose <Dial> leads to a conference: `*` ends that <Dial>, and Twilio asks for the next document,
 * which asks for a key. The conference ends with it, so the visitor's call asks for its next document as well, and
 * waits there for the resident's decision. If the job fails, the two go on as <Dial> has connected them, without keys.
 */
#pragma once
#include "domain/tx.h"
#include "twiml/talk.h"

/* The turns below belong to the visitor's session. */

/* The visitor's <Dial> has ended during the conversation: t->joins, t->waits, or the end. */
enum err twiml_room_visitor(struct twiml_turn *t) CHECKED;

/* The next document for the resident. */
enum twiml_room_next { ROOM_HANG_UP, ROOM_JOIN, ROOM_ASK };

/* Twilio has moved the resident's call. */
enum twiml_room_next twiml_room_moved(struct twiml_turn *t, struct str leg);
/* The resident, who was sent to the room for the time `round`, has left it with `*`. */
enum twiml_room_next twiml_room_left(struct twiml_turn *t, struct str leg, int64_t round);
/* And has then pressed a key, or none. A key that opens or hangs up leads to t->actions, the answer to the visitor's
 * next request. */
enum err twiml_room_pressed(struct twiml_turn *t, struct str leg, int64_t round, struct str digits,
                            enum twiml_room_next *ret) CHECKED;
/* The resident has hung up. */
enum err twiml_room_ended(struct twiml_turn *t, struct str leg) CHECKED;

/* Queues the job that moves the call of the resident who talks. */
enum err twiml_room_expect(struct tx *tx, const struct twiml_session *s) CHECKED;
