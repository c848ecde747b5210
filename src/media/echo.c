#include "media/echo.h"

#include <math.h>

#define WINDOW    204 /* samples: as many as a decoder needs to hear a key */
#define STEP      51  /* between the windows that are judged */
#define GAIN_MAX  4   /* of an echo's power: 6 dB, since its level is measured at another place */
#define SHARE_MIN 0.5 /* of both tones in the power of a window */

void echo_take(struct echo *e, int64_t now_ms, const int16_t *samples, size_t n)
{
    if (now_ms - e->taken_ms > ECHO_MS)
        memset(e->samples, 0, sizeof e->samples);
    e->taken_ms = now_ms;
    for (size_t at = 0, part; at < n; at += part) {
        part = ECHO_SAMPLES - e->next < n - at ? ECHO_SAMPLES - e->next : n - at;
        memcpy(e->samples + e->next, samples + at, part * sizeof *samples);
        e->next = (e->next + part) % ECHO_SAMPLES;
    }
}

/* The power of the window through a filter that takes away sounds below and above the audio of a telephone line: two
 * zeros each at 0 and at 4,000 Hz. */
static double line_power(const int16_t *samples)
{
    double energy = 0;
    for (size_t i = 4; i < WINDOW; i++) {
        const double v = samples[i] - 2.0 * samples[i - 2] + samples[i - 4];
        energy += v * v;
    }
    return energy / (WINDOW - 4);
}

/* The factor by which that filter changes the power of a frequency. */
static double line_gain(double frequency)
{
    return pow(2 * sin(2 * M_PI * frequency / 8000), 4);
}

/* Whether the two tones are loud enough, most of the power that a line carries, and the loudest of all tones of keys.
 */
static bool carries(const int16_t *samples, char key, const struct tones *heard)
{
    const struct tones at = tones_frequencies(key), power = tones_power(key, samples, WINDOW);
    if (power.low * GAIN_MAX < heard->low || power.high * GAIN_MAX < heard->high)
        return false;
    if (power.low * line_gain(at.low) + power.high * line_gain(at.high) < SHARE_MIN * line_power(samples))
        return false;
    for (const char *other = "159D"; *other; other++) { /* each tone once */
        const struct tones others = tones_power(*other, samples, WINDOW);
        if (others.low > power.low || others.high > power.high)
            return false;
    }
    return true;
}

bool echo_has(const struct echo *e, int64_t now_ms, char key, const struct tones *heard)
{
    int16_t all[ECHO_SAMPLES]; /* oldest first */
    if (now_ms - e->taken_ms > ECHO_MS)
        return false;
    memcpy(all, e->samples + e->next, (ECHO_SAMPLES - e->next) * sizeof *all);
    memcpy(all + ECHO_SAMPLES - e->next, e->samples, e->next * sizeof *all);
    for (size_t end = ECHO_SAMPLES; end >= WINDOW; end -= STEP)
        if (carries(all + end - WINDOW, key, heard))
            return true;
    return false;
}
