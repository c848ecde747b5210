#include "call/audio.h"

#include <math.h>
#include <rem/rem.h>
#include <speex/speex_resampler.h>
#include <string.h>

#define QUALITY      8 /* of 10: a stop band below -80 dB */
#define FRAME        SOUND_MS(10)
#define BEFORE       SOUND_MS(60) /* silence that remains before the sound */
#define AFTER        SOUND_MS(100)
#define FADE         SOUND_MS(300)
#define PEAK_MAX     28000.0 /* of 32,767 */
#define TARGET_RMS   3530.0  /* -13 dBm0, where 0 dBm0 is an RMS of 15,768 */
#define GAIN_MAX     8.0     /* the noise of a quiet recording must stay below speech */
#define SILENT       30.0    /* a frame whose RMS is below this, */
#define SILENT_RATIO 0.02    /* or below this part of the loudest frame's, is silent */

void audio_done(struct audio *a)
{
    free(a->samples);
    *a = (struct audio){0};
}

/* ---- rate ---- */

/* Feeds the samples, then silence until the filter has given all of them back. Returns the number of samples in `to`.
 */
static size_t convert(SpeexResamplerState *state, const struct audio *a, int16_t *to, size_t room)
{
    static const int16_t silence[AUDIO_RATE_MAX / 100];
    size_t taken = 0, made = 0, left = room;
    while (left) {
        spx_uint32_t in = (spx_uint32_t)(taken < a->n ? a->n - taken : sizeof silence / sizeof *silence);
        spx_uint32_t out = (spx_uint32_t)left;
        if (speex_resampler_process_int(state, 0, taken < a->n ? a->samples + taken : silence, &in, to + made, &out))
            break;
        if (!in && !out)
            break;
        taken += in;
        made += out;
        left -= out;
    }
    return made;
}

enum err audio_resample(struct audio *a)
{
    if (a->rate < AUDIO_RATE_MIN || a->rate > AUDIO_RATE_MAX || a->n > AUDIO_INPUT_MAX)
        return ERR_USAGE;
    if (a->rate == SOUND_RATE || !a->n)
        return ERR_NONE;
    int failed = 0;
    SpeexResamplerState *state = speex_resampler_init(1, a->rate, SOUND_RATE, QUALITY, &failed);
    if (!state || failed)
        return ERR_IO;
    speex_resampler_skip_zeros(state);
    const size_t room = (a->n * SOUND_RATE + a->rate - 1) / a->rate;
    int16_t *to = mem_array(int16_t, room);
    const size_t n = convert(state, a, to, room);
    speex_resampler_destroy(state);
    free(a->samples);
    *a = (struct audio){.samples = to, .n = n, .rate = SOUND_RATE};
    return ERR_NONE;
}

/* ---- level ---- */

static double frame_rms(const struct audio *a, size_t frame)
{
    const size_t from = frame * FRAME, to = from + FRAME < a->n ? from + FRAME : a->n;
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += (double)a->samples[i] * a->samples[i];
    return sqrt(sum / (double)(to - from));
}

struct loudness {
    double rms, peak;
    size_t begin, end; /* of the sound; equal: there is none */
};

static struct loudness measure(const struct audio *a)
{
    struct loudness l = {0};
    const size_t frames = (a->n + FRAME - 1) / FRAME;
    double loudest = 0, sum = 0;
    size_t heard = 0;
    for (size_t i = 0; i < frames; i++)
        loudest = fmax(loudest, frame_rms(a, i));
    const double limit = fmax(SILENT, loudest * SILENT_RATIO);
    for (size_t i = 0; i < frames; i++) {
        const double rms = frame_rms(a, i);
        if (rms < limit)
            continue;
        if (!heard++)
            l.begin = i * FRAME;
        l.end = (i + 1) * FRAME;
        sum += rms * rms;
    }
    for (size_t i = 0; i < a->n; i++)
        l.peak = fmax(l.peak, fabs((double)a->samples[i]));
    l.rms = heard ? sqrt(sum / (double)heard) : 0;
    return l;
}

void audio_level(struct audio *a)
{
    const struct loudness l = measure(a);
    if (l.begin == l.end) {
        a->n = 0;
        return;
    }
    const size_t begin = l.begin > BEFORE ? l.begin - BEFORE : 0, end = l.end + AFTER < a->n ? l.end + AFTER : a->n;
    const double gain = fmin(fmin(TARGET_RMS / l.rms, PEAK_MAX / l.peak), GAIN_MAX);
    for (size_t i = begin; i < end; i++)
        a->samples[i - begin] = (int16_t)lrint(a->samples[i] * gain);
    a->n = end - begin;
}

void audio_cut(struct audio *a)
{
    if (a->n <= AUDIO_CLIP_MAX)
        return;
    a->n = AUDIO_CLIP_MAX;
    for (size_t i = 0; i < FADE; i++) {
        int16_t *sample = &a->samples[a->n - 1 - i];
        *sample = (int16_t)(*sample * (int)i / (int)FADE);
    }
}

struct clip *audio_clip(const struct audio *a)
{
    if (!a->n)
        return NULL;
    struct clip *c = clip_new((uint32_t)a->n);
    for (size_t i = 0; i < a->n; i++) /* the table of g711_pcm2ulaw() ends before -32768 */
        c->ulaw[i] = g711_pcm2ulaw(a->samples[i] < -INT16_MAX ? -INT16_MAX : a->samples[i]);
    return c;
}
