/* Sound for the media session: a sequence of parts, 8 kHz, 16 bit, mono. */
#pragma once
#include "base/err.h"
#include "call/call.h"

#define SOUND_RATE      8000 /* samples a second */
#define SOUND_PARTS_MAX 16

/* `length` samples: sample i is ulaw[i], or samples[i % loop]; silence if both are NULL. */
struct sound {
    const int16_t *samples;
    uint32_t loop;
    uint32_t length;
    const uint8_t *ulaw; /* mu-law */
};

#define SOUND_MS(ms) ((uint32_t)((ms) * (SOUND_RATE / 1000)))

/* Makes the tones below, once per process; any thread. */
enum err sound_init(void) CHECKED;
/* One key's tone pair (ITU-T Q.23) at -9 and -7 dBm0; silence for a character that is no key. */
struct sound sound_key(char key, int64_t ms);
struct sound sound_silence(int64_t ms);
/* The North American ring-back tone: 440 and 480 Hz, 2 s, then 4 s of silence. Returns the number of parts. */
size_t sound_ring_back(struct sound ret[static SOUND_PARTS_MAX]);
/* Two short notes: someone joins a conversation. Returns the number of parts. */
size_t sound_joined(struct sound ret[static SOUND_PARTS_MAX]);
/* The signal for a prompt, in place of speech: a short, distinct sequence of tones that no DTMF decoder mistakes for a
 * key. Returns the number of parts. */
size_t sound_prompt(enum call_prompt prompt, struct sound ret[static SOUND_PARTS_MAX]);
