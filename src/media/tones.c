#include "media/tones.h"

#include <re/re.h>
#include <rem/rem.h>
#include <string.h>

static double power_at(double frequency, const int16_t *samples, size_t n)
{
    struct goertzel g;
    goertzel_init(&g, frequency, 8000);
    for (size_t i = 0; i < n; i++)
        goertzel_update(&g, samples[i]);
    return goertzel_result(&g) / ((double)n * (double)n);
}

struct tones tones_frequencies(char key)
{
    static const char keys[] = "123A456B789C*0#D";
    static const double rows[] = {697, 770, 852, 941}, columns[] = {1209, 1336, 1477, 1633};
    const size_t at = (size_t)(strchr(keys, key) - keys);
    return (struct tones){rows[at / 4], columns[at % 4]};
}

struct tones tones_power(char key, const int16_t *samples, size_t n)
{
    const struct tones at = tones_frequencies(key);
    return (struct tones){power_at(at.low, samples, n), power_at(at.high, samples, n)};
}
