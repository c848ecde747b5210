/* A synthetic caller for tests of speech: what a telephone with a little noise delivers. */
#pragma once
#include <re/re.h>
#include <rem/rem.h>

#include "speech/synth.h"
#include "speech/utterance.h"

#define SPEAKER_FRAME 160 /* samples in 20 ms */

static uint32_t speaker_seed = 1;

/* Between -1 and 1. */
static inline double speaker_noise(void)
{
    speaker_seed = speaker_seed * 1664525u + 1013904223u;
    return (double)speaker_seed / 2147483648.0 - 1;
}

/* Half a second of noise, the sentence with noise, `after_ms` of noise. The caller frees it. */
static inline int16_t *speaker_says(const char *text, double noise, uint32_t after_ms, size_t *ret_n)
{
    const uint32_t before = 4000, after = after_ms * 8;
    struct clip *clip = text[0] ? synth_render(str_z(text)) : NULL;
    const uint32_t length = clip ? clip->length : 0;
    int16_t *samples = mem_array(int16_t, before + length + after);
    for (uint32_t i = 0; i < before + length + after; i++) {
        const double said = i >= before && i - before < length ? g711_ulaw2pcm(clip->ulaw[i - before]) : 0;
        samples[i] = (int16_t)(said * 0.9 + noise * speaker_noise());
    }
    clip_unref(clip);
    *ret_n = before + length + after;
    return samples;
}

/* The utterance that is cut out of it; the caller frees it. */
static inline struct utterance *speaker_utterance(const char *text, double noise)
{
    size_t n;
    int16_t *samples = speaker_says(text, noise, 1500, &n);
    struct utterance *u = utterance_new();
    for (size_t i = 0; i + SPEAKER_FRAME <= n; i += SPEAKER_FRAME)
        (void)utterance_take(u, samples + i, SPEAKER_FRAME);
    free(samples);
    return u;
}
