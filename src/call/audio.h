/* Speech on its way to a clip: linear samples, mono, bounded. */
#pragma once
#include <stdbool.h>

#include "base/err.h"
#include "call/clip.h"

#define AUDIO_RATE_MIN  8000
#define AUDIO_RATE_MAX  48000
#define AUDIO_SECONDS   20 /* the longest clip */
#define AUDIO_CLIP_MAX  (AUDIO_SECONDS * SOUND_RATE)
#define AUDIO_INPUT_MAX (AUDIO_SECONDS * AUDIO_RATE_MAX)

struct audio {
    int16_t *samples; /* heap */
    size_t n;
    unsigned rate; /* Hz */
};

void audio_done(struct audio *a);
/* Converts to SOUND_RATE through a low-pass. ERR_USAGE if the rate is not between the two above. */
enum err audio_resample(struct audio *a) CHECKED;
/* Removes the silence at both ends except for a moment, and sets the level: the speech's mean power is -13 dBm0 unless
 * peaks forbid it. Audio without sound becomes empty. */
void audio_level(struct audio *a);
/* Audio longer than AUDIO_SECONDS ends there, in a fade. At SOUND_RATE. */
void audio_cut(struct audio *a);
/* The audio in mu-law, at SOUND_RATE; NULL if it is empty. */
struct clip *audio_clip(const struct audio *a);
