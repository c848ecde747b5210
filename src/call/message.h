/* Is it a message? The rule for what visitors leave when nobody answers, for all front ends: speech shorter than half a
 * second is none, and the silence after the last speech is not kept. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MESSAGE_FIRST_MS 8000 /* silence before the message, after which the front ends with media end it */
#define MESSAGE_PAUSE_MS 3000 /* silence after the last speech */
#define MESSAGE_FRAME    160  /* samples that are judged together, 20 ms; about as many will do */

/* A recording that is heard. All zero at its beginning. */
struct message_sound {
    size_t n;        /* samples */
    size_t loud_end; /* samples up to the end of the last loud frame */
    size_t loud;     /* samples of all loud frames */
};

/* Adds the samples of a frame, at SOUND_RATE. Is it loud? */
bool message_hear(struct message_sound *m, const int16_t *samples, size_t n);
/* The samples to keep, from the first one on; 0: this is no message. */
size_t message_length(const struct message_sound *m);
