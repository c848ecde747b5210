/* The last second of one end's audio, to tell a key that the other end pressed from the echo of this end's. No I/O and
 * no clock here: the caller passes the time. */
#pragma once
#include "base/str.h"
#include "media/tones.h"

#define ECHO_MS      1000 /* the oldest echo */
#define ECHO_SAMPLES (8 * ECHO_MS)

struct echo {
    int16_t samples[ECHO_SAMPLES]; /* a ring */
    size_t next;
    int64_t taken_ms; /* the newest sample */
};

/* Decoded audio, 8 kHz, as it came. `e` is all zero before. */
void echo_take(struct echo *e, int64_t now_ms, const int16_t *samples, size_t n);
/* Whether the audio had the tones of the key, at least nearly as loud as `heard` at the other end, which hears them
 * now. An echo is weaker than its origin: a key that is pressed there is not void because its own echo came here.
 * Sounds that a telephone line does not carry hide no tone. */
bool echo_has(const struct echo *e, int64_t now_ms, char key, const struct tones *heard);
