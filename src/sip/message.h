/* Inside the SIP user agent: the message that a visitor leaves (CALL_TAKE_MESSAGE). */
#pragma once
#include "call/message.h"

struct sip_call;

/* A recording in progress. All zero: none. */
struct sip_message {
    int16_t *samples;           /* heap; NULL: none, or the tone that begins it is played */
    size_t room;                /* samples */
    struct message_sound sound; /* of the samples so far */
    int64_t began_ms, heard_ms; /* the start, and the last loud frame */
    int64_t max_ms;
};

/* Plays the tone, after which sip_message_listen() must be called. */
void sip_message_begin(struct sip_call *c, int64_t max_s);
/* Begins to record. */
void sip_message_listen(struct sip_call *c);
/* Audio of the visitor, decoded. Ignored unless a message is being recorded. */
void sip_message_audio(struct sip_call *c, const int16_t *samples, size_t n);
/* Whether the recording is over: a silence, or its time. */
bool sip_message_over(const struct sip_call *c, int64_t now_ms);
/* Keeps the message, if there is speech in it, and forgets the recording. Fine without one. */
void sip_message_end(struct sip_call *c);
