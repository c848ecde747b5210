/* Inside the SIP user agent: the message that a visitor leaves (CALL_TAKE_MESSAGE). */
#pragma once
#include "call/message.h"

struct sip_call;
struct sip_part;

/* A recording in progress. All zero: none. */
struct sip_message {
    int16_t *samples;           /* heap; NULL: none, or the tone that begins it is played */
    size_t room;                /* samples */
    struct message_sound sound; /* of the samples so far */
    int64_t began_ms, heard_ms; /* the start, and the last loud frame */
    int64_t max_ms;
};

/* Records the visitor, and ends the action after a silence or max_s. At the end of the call, keeps the message so far.
 */
extern const struct sip_part sip_message_part;

/* Plays the tone, after which sip_message_listen() must be called. */
void sip_message_begin(struct sip_call *c, int64_t max_s);
/* Begins to record. */
void sip_message_listen(struct sip_call *c);
/* Keeps the message, if there is speech in it, and forgets the recording. Fine without one. */
void sip_message_end(struct sip_call *c);
