/* The two tones of a key (ITU-T Q.23) in audio of 8 kHz. Pure. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Of the low and the high tone: frequencies in Hz, or the power of each as the mean square of its samples. */
struct tones {
    double low, high;
};

/* `key` is one of 0-9 * # A-D. */
struct tones tones_frequencies(char key);
struct tones tones_power(char key, const int16_t *samples, size_t n);
