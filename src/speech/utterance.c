#include "speech/utterance.h"

#include <math.h>
#include <stdlib.h>

#include "base/crypto.h"
#include "base/mem.h"

#define FRAME        160 /* samples in 20 ms */
#define BEFORE       20  /* frames that are kept before the speech */
#define AFTER        20  /* and after it */
#define ONSET        4   /* of the last ONSET_WINDOW frames that must be loud for speech to begin */
#define ONSET_WINDOW 6
#define PAUSE        50   /* quiet frames that end the speech: 1 s */
#define LOUD_DB      8.0  /* a loud frame is that much above the noise */
#define DEPTH_DB     25.0 /* and at most that much below the loudest: talk in the background does not count */
#define LOWEST_DB    24.0 /* the noise is taken to be at least this (1 is the square of the least step) */
#define CLIMB_DB     0.04 /* the estimate of the noise rises by this in each frame */
#define CLEAR_DB     13.0 /* estimated: speech at 10 dB is not understood well enough */
#define FRAMES_MAX   (UTTERANCE_MAX / FRAME)

struct utterance {
    enum utterance_state state;
    size_t n;   /* samples kept */
    size_t end; /* samples up to the last loud frame */
    double noise_db, loudest_db;
    bool begun;
    unsigned recent; /* a bit for each of the last frames: loud */
    int quiet;       /* frames since the last loud one */
    int16_t samples[UTTERANCE_MAX];
};

struct utterance *utterance_new(void)
{
    return mem_new(struct utterance);
}

void utterance_free(struct utterance *u)
{
    if (!u)
        return;
    crypto_wipe(u, sizeof *u);
    free(u);
}

static double power_of(const int16_t *samples, size_t n)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += samples[i];
        squares += (double)samples[i] * samples[i];
    }
    const double mean = sum / (double)n;
    return squares / (double)n - mean * mean;
}

static double decibel(double power)
{
    return 10 * log10(power < 1 ? 1 : power);
}

/* Falls at once and rises slowly, so that it follows the pauses. */
static void follow_noise(struct utterance *u, double db)
{
    if (!u->begun || db < u->noise_db)
        u->noise_db = u->begun ? u->noise_db + 0.5 * (db - u->noise_db) : db;
    else
        u->noise_db += CLIMB_DB;
    u->begun = true;
    if (u->noise_db < LOWEST_DB)
        u->noise_db = LOWEST_DB;
}

/* Judges the last frame. */
static void judge_frame(struct utterance *u)
{
    const double db = decibel(power_of(u->samples + u->n - FRAME, FRAME));
    follow_noise(u, db);
    const bool loud = db > u->noise_db + LOUD_DB && db > u->loudest_db - DEPTH_DB;
    if (loud)
        u->loudest_db = fmax(u->loudest_db, db);
    u->recent = (u->recent << 1 | loud) & ((1u << ONSET_WINDOW) - 1);
    u->quiet = loud ? 0 : u->quiet + 1;
    if (u->state == UTTERANCE_NONE && __builtin_popcount(u->recent) >= ONSET)
        u->state = UTTERANCE_SPEAKING;
    if (u->state == UTTERANCE_NONE && u->n > BEFORE * FRAME) {
        u->n -= FRAME;
        memmove(u->samples, u->samples + FRAME, u->n * sizeof *u->samples);
    }
    if (u->state != UTTERANCE_SPEAKING)
        return;
    if (loud)
        u->end = u->n;
    if (u->quiet == PAUSE || u->n + FRAME > UTTERANCE_MAX) {
        u->state = UTTERANCE_COMPLETE;
        if (u->end + AFTER * FRAME < u->n)
            u->n = u->end + AFTER * FRAME;
    }
}

enum utterance_state utterance_take(struct utterance *u, const int16_t *samples, size_t n)
{
    for (size_t i = 0; i < n && u->state != UTTERANCE_COMPLETE; i++) {
        u->samples[u->n++] = samples[i];
        if (u->n % FRAME == 0)
            judge_frame(u);
    }
    return u->state;
}

enum utterance_state utterance_state(const struct utterance *u)
{
    return u->state;
}

const int16_t *utterance_samples(const struct utterance *u, size_t *ret_n)
{
    *ret_n = u->n;
    return u->samples;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double mean_of(const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return n ? sum / (double)n : 0;
}

/* The quietest third of the frames is taken for noise: there is some before and after the speech. The loudest half is
 * speech. */
double utterance_snr(const struct utterance *u)
{
    double power[FRAMES_MAX] = {0};
    const size_t frames = u->n / FRAME;
    for (size_t i = 0; i < frames; i++)
        power[i] = power_of(u->samples + i * FRAME, FRAME);
    qsort(power, frames, sizeof *power, by_value);
    const double noise = mean_of(power, frames / 3), both = mean_of(power + frames / 2, frames - frames / 2);
    return decibel(both > noise ? both - noise : 0) - decibel(noise);
}

bool utterance_clear(const struct utterance *u)
{
    return u->quiet == PAUSE && utterance_snr(u) >= CLEAR_DB;
}
