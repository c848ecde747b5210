#include "call/sound.h"

#include <pthread.h>
#include <re/re.h>
#include <rem/rem.h>
#include <stdlib.h>

/* Per cent of full scale for autone_sine: -9 dBm0 and -7 dBm0, where 0 dBm0 peaks at 22,300 of 32,767 (G.711). */
#define LEVEL_LOW  24
#define LEVEL_HIGH 30

static const char KEYS[] = "123A456B789C*0#D";
static const uint16_t LOW_HZ[] = {697, 770, 852, 941};
static const uint16_t HIGH_HZ[] = {1209, 1336, 1477, 1633};

/* The notes of the prompts: single tones, away from the DTMF frequencies. */
enum note { PAUSE, LOW, MIDDLE, BRIGHT, NOTE_COUNT };
static const uint16_t NOTE_HZ[] = {[LOW] = 330, [MIDDLE] = 440, [BRIGHT] = 587};
#define LEVEL_NOTE 20
#define LEVEL_RING 8 /* -19 dBm0 each */

struct step {
    uint16_t ms;
    enum note note;
};

static const struct step PROMPTS[PROMPT_COUNT][SOUND_PARTS_MAX] = {
    [PROMPT_WELCOME] = {{120, MIDDLE}, {60, PAUSE}, {200, BRIGHT}}, /* rising */
    [PROMPT_GRANTED] = {{100, LOW}, {100, MIDDLE}, {200, BRIGHT}},  /* rising by three */
    [PROMPT_DENIED] = {{150, BRIGHT}, {60, PAUSE}, {300, LOW}},     /* falling */
    [PROMPT_FORWARDING] = {{120, MIDDLE}, {120, PAUSE}, {120, MIDDLE}, {120, PAUSE}, {120, MIDDLE}}, /* repeated */
    [PROMPT_NOBODY] = {{250, LOW}, {150, PAUSE}, {250, LOW}, {150, PAUSE}, {250, LOW}},              /* like busy */
    [PROMPT_BUSY] = {{250, LOW}, {250, PAUSE}, {250, LOW}, {250, PAUSE}, {250, LOW}, {250, PAUSE}, {250, LOW}},
    [PROMPT_DECLINED] = {{250, LOW}, {150, PAUSE}, {500, LOW}},
    [PROMPT_UNREACHABLE] = {{150, BRIGHT}, {150, MIDDLE}, {300, LOW}}, /* falling by three */
    [PROMPT_MESSAGE] = {{120, MIDDLE}, {60, PAUSE}, {500, BRIGHT}},
    [PROMPT_KEYPAD] = {{150, BRIGHT}, {60, PAUSE}, {200, MIDDLE}},
    [PROMPT_ACCEPT] = {{120, MIDDLE}, {60, PAUSE}, {120, BRIGHT}, {60, PAUSE}, {120, BRIGHT}},
    [PROMPT_LINE_WORKS] = {{150, MIDDLE}, {150, BRIGHT}, {150, MIDDLE}, {300, BRIGHT}}, /* up and down */
    [PROMPT_CLOSING] = {{120, BRIGHT}, {60, PAUSE}, {120, BRIGHT}, {60, PAUSE}, {300, LOW}},
    [PROMPT_OPENS] = {{150, BRIGHT}, {60, PAUSE}, {150, LOW}, {60, PAUSE}, {300, MIDDLE}},
    [PROMPT_INCOMPLETE] = {{150, BRIGHT}, {60, PAUSE}, {120, MIDDLE}, {60, PAUSE}, {200, BRIGHT}},
};

/* One second of each, so that whole cycles loop without a click. Never freed. */
static int16_t keys[sizeof KEYS - 1][SOUND_RATE];
static int16_t notes[NOTE_COUNT][SOUND_RATE];
static int16_t ring_back[SOUND_RATE];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum err made;

static enum err make(int16_t to[static SOUND_RATE], uint16_t hz1, int level1, uint16_t hz2, int level2)
{
    struct mbuf *mb = mbuf_alloc(SOUND_RATE * sizeof *to);
    if (!mb)
        return ERR_IO;
    enum err e = ERR_IO;
    if (!autone_sine(mb, SOUND_RATE, hz1, level1, hz2, level2) && mb->end == SOUND_RATE * sizeof *to) {
        memcpy(to, mb->buf, mb->end);
        e = ERR_NONE;
    }
    mem_deref(mb);
    return e;
}

static void make_all(void)
{
    for (size_t i = 0; i < sizeof KEYS - 1 && !made; i++)
        made = make(keys[i], LOW_HZ[i / 4], LEVEL_LOW, HIGH_HZ[i % 4], LEVEL_HIGH);
    for (size_t i = LOW; i < NOTE_COUNT && !made; i++)
        made = make(notes[i], NOTE_HZ[i], LEVEL_NOTE, NOTE_HZ[i], 0);
    if (!made)
        made = make(ring_back, 440, LEVEL_RING, 480, LEVEL_RING);
}

enum err sound_init(void)
{
    pthread_once(&once, make_all);
    return made;
}

struct sound sound_silence(int64_t ms)
{
    return (struct sound){.length = SOUND_MS(ms)};
}

size_t sound_ring_back(struct sound ret[static SOUND_PARTS_MAX])
{
    ret[0] = (struct sound){.samples = ring_back, .loop = SOUND_RATE, .length = SOUND_MS(2000)};
    ret[1] = sound_silence(4000);
    return 2;
}

struct sound sound_key(char key, int64_t ms)
{
    const char *at = key ? strchr(KEYS, key) : NULL;
    if (!at)
        return sound_silence(ms);
    return (struct sound){.samples = keys[at - KEYS], .loop = SOUND_RATE, .length = SOUND_MS(ms)};
}

static size_t sound_notes(const struct step *steps, struct sound ret[static SOUND_PARTS_MAX])
{
    size_t n = 0;
    for (const struct step *s = steps; n < SOUND_PARTS_MAX && s->ms; s++) {
        ret[n] = sound_silence(s->ms);
        if (s->note != PAUSE) {
            ret[n].samples = notes[s->note];
            ret[n].loop = SOUND_RATE;
        }
        n++;
    }
    return n;
}

size_t sound_prompt(enum call_prompt prompt, struct sound ret[static SOUND_PARTS_MAX])
{
    return sound_notes(PROMPTS[prompt], ret);
}

size_t sound_joined(struct sound ret[static SOUND_PARTS_MAX])
{
    static const struct step joined[SOUND_PARTS_MAX] = {{120, BRIGHT}, {80, PAUSE}, {120, BRIGHT}};
    return sound_notes(joined, ret);
}
