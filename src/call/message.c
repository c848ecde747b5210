#include "call/message.h"

#include <math.h>

#include "call/sound.h"

#define LOUD         200           /* root mean square of a frame with speech: -44 dB below full scale */
#define SPEECH       SOUND_MS(500) /* less speech is no message */
#define TAIL_SAMPLES SOUND_MS(300) /* kept after the last speech */

static bool is_loud(const int16_t *samples, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)samples[i] * samples[i];
    return n && sqrt(sum / (double)n) > LOUD;
}

bool message_hear(struct message_sound *m, const int16_t *samples, size_t n)
{
    const bool loud = is_loud(samples, n);
    m->n += n;
    if (loud) {
        m->loud += n;
        m->loud_end = m->n;
    }
    return loud;
}

size_t message_length(const struct message_sound *m)
{
    const size_t end = m->loud_end + TAIL_SAMPLES;
    return m->loud < SPEECH ? 0 : end < m->n ? end : m->n;
}
