#include "media/player.h"

#include <assert.h>
#include <re/re.h>
#include <rem/rem.h>

#define QUIET_ULAW 0xff
#define QUIET_ALAW 0xd5

static_assert(PLAYER_PARTS_MAX >= SOUND_PARTS_MAX, "a prompt fits");

int16_t player_decode(uint8_t pt, uint8_t byte)
{
    return pt == PT_PCMU ? g711_ulaw2pcm(byte) : g711_alaw2pcm(byte);
}

/* The table of g711_pcm2alaw() ends before -32768. */
uint8_t player_encode(uint8_t pt, int16_t sample)
{
    if (sample < -INT16_MAX)
        sample = -INT16_MAX;
    return pt == PT_PCMU ? g711_pcm2ulaw(sample) : g711_pcm2alaw(sample);
}

size_t player_decode_all(uint8_t pt, const uint8_t *payload, size_t n, int16_t *ret, size_t room)
{
    if (n > room)
        n = room;
    for (size_t i = 0; i < n; i++)
        ret[i] = player_decode(pt, payload[i]);
    return n;
}

void player_clear(struct player *p)
{
    p->count = p->part = 0;
    p->at = 0;
}

void player_add(struct player *p, struct sound part)
{
    if (p->count < PLAYER_PARTS_MAX)
        p->parts[p->count++] = part;
}

bool player_ended(const struct player *p)
{
    return p->part == p->count;
}

/* Copies n encoded samples. */
static void copy_ulaw(uint8_t pt, uint8_t *to, const uint8_t *ulaw, size_t n)
{
    if (pt == PT_PCMU) {
        memcpy(to, ulaw, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        to[i] = g711_pcm2alaw(g711_ulaw2pcm(ulaw[i]));
}

void player_fill(struct player *p, uint8_t pt, uint8_t frame[static PLAYER_FRAME])
{
    memset(frame, pt == PT_PCMU ? QUIET_ULAW : QUIET_ALAW, PLAYER_FRAME);
    size_t i = 0;
    while (i < PLAYER_FRAME && !player_ended(p)) {
        const struct sound *s = &p->parts[p->part];
        if (s->ulaw) {
            const size_t left = s->length - p->at, n = left < PLAYER_FRAME - i ? left : PLAYER_FRAME - i;
            copy_ulaw(pt, frame + i, s->ulaw + p->at, n);
            i += n;
            p->at += (uint32_t)n;
        }
        for (; i < PLAYER_FRAME && p->at < s->length; i++, p->at++) {
            if (s->samples)
                frame[i] = player_encode(pt, s->samples[p->at % s->loop]);
        }
        if (p->at == s->length) {
            p->part++;
            p->at = 0;
        }
    }
}
