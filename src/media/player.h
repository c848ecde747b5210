/* A sequence of sounds as G.711, frame by frame. Pure. */
#pragma once
#include "call/sound.h"
#include "media/dtmf.h"

#define PT_PCMU 0
#define PT_PCMA 8

#define PLAYER_FRAME     160                     /* samples in 20 ms */
#define PLAYER_PARTS_MAX (1 + 2 * DTMF_KEYS_MAX) /* a delay, then keys and gaps */

struct player {
    struct sound parts[PLAYER_PARTS_MAX];
    size_t count, part;
    uint32_t at; /* sample of the part */
};

/* Forgets all parts. */
void player_clear(struct player *p);
/* Beyond PLAYER_PARTS_MAX a part is dropped. Its samples must live until it is played. */
void player_add(struct player *p, struct sound part);
bool player_ended(const struct player *p);
/* The next frame in that format, filled up with silence. */
void player_fill(struct player *p, uint8_t pt, uint8_t frame[static PLAYER_FRAME]);

int16_t player_decode(uint8_t pt, uint8_t byte);
uint8_t player_encode(uint8_t pt, int16_t sample);
/* Decodes at most `room` samples; returns their number. */
size_t player_decode_all(uint8_t pt, const uint8_t *payload, size_t n, int16_t *ret, size_t room);
