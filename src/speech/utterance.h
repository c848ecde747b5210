/* One stretch of speech in a call's audio, found by its energy. 8 kHz. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTTERANCE_MAX (7 * 8000) /* samples: 7 s */

enum utterance_state {
    UTTERANCE_NONE, /* no speech yet */
    UTTERANCE_SPEAKING,
    UTTERANCE_COMPLETE /* the speech has ended, or is as long as may be; more audio is dropped */
};

struct utterance;

struct utterance *utterance_new(void);
/* Wipes the audio. */
void utterance_free(struct utterance *u);
enum utterance_state utterance_take(struct utterance *u, const int16_t *samples, size_t n);
enum utterance_state utterance_state(const struct utterance *u);
/* The speech, with a little of what came before and after. */
const int16_t *utterance_samples(const struct utterance *u, size_t *ret_n);
/* Whether the complete speech stands out from the noise well enough to be judged. The ratio tells steady noise. Other
 * voices leave gaps that pass for the silence between words, but hardly a pause that ends the speech, which is then cut
 * at UTTERANCE_MAX. */
bool utterance_clear(const struct utterance *u);
/* Estimated signal-to-noise ratio of the speech in dB. */
double utterance_snr(const struct utterance *u);
