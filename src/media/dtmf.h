/* DTMF keys, received and sent.
 *
 * In: a press may arrive as RFC 4733 events, as tones in the audio and as SIP INFO, in any combination, and counts
 * once. Out: RFC 4733 events, packet by packet. No I/O and no clock here: the caller passes the time and sends. */
#pragma once
#include "base/str.h"

/* ---- in ---- */

struct dtmf_dec;
struct echo;
struct rtp_header;

/* Called with one key, 0-9 * # A-D, at the first report of the press. */
typedef void (*dtmf_key_h)(char key, void *arg);

#define DTMF_PRESSES 8
#define DTMF_EARS    2
#define DTMF_LAST    204 /* samples: the two blocks in which a decoder hears a key */

struct dtmf_in {
    dtmf_key_h on_key;
    void *arg;
    bool strict;              /* tones below -30 dBm0, in much noise, or of `other` are no key */
    const struct echo *other; /* audio that this end hears; NULL: none */
    struct dtmf_dec *decoders[DTMF_EARS];
    int16_t last[DTMF_LAST];
    double tilt[2][2]; /* state of the filter before the second decoder */
    int64_t now_ms;    /* of the audio being decoded */
    uint64_t samples;  /* of audio so far */
    char tone;         /* the key whose tones are in the audio; 0: no key */
    char told;         /* the last key that was heard, */
    uint64_t down;     /* and when it was last known to be down, as `samples` */
    struct {           /* the last RFC 4733 event */
        bool any, ended;
        uint8_t code;
        uint16_t duration, seq;
        uint32_t ssrc, timestamp;
    } event;
    struct { /* the last presses, newest at (next - 1) */
        char key;
        unsigned sources; /* the sources that have reported it */
        int64_t at_ms;    /* the last report */
    } presses[DTMF_PRESSES];
    unsigned next;
    unsigned events, tones, infos; /* presses reported by each source */
    int64_t held_ms;               /* the last time a key was known to be down; 0: never */
};

/* False if memory is short. */
bool dtmf_in_init(struct dtmf_in *in, dtmf_key_h on_key, void *arg);
void dtmf_in_done(struct dtmf_in *in);

/* An RTP packet of the negotiated telephone-event type. A press counts at its first packet. Malformed, repeated and
 * late packets, and events that are no key, are dropped. */
void dtmf_in_event(struct dtmf_in *in, int64_t now_ms, const struct rtp_header *h, const uint8_t *payload, size_t n);
/* The next event is of another stream: its numbers and times have no relation to the last one's. */
void dtmf_in_new_stream(struct dtmf_in *in);
/* Decoded audio, 8 kHz. Leave out the gaps of lost packets. */
void dtmf_in_audio(struct dtmf_in *in, int64_t now_ms, const int16_t *samples, size_t n);
/* Whether two tones of a key are most of the audio, by itself. */
bool dtmf_is_tone(const int16_t *samples, size_t n);
/* Whether the tones of a key are in the audio, or were 40 ms ago. */
bool dtmf_in_tone(const struct dtmf_in *in);
/* A SIP INFO body: application/dtmf-relay ("Signal=5\r\nDuration=160") or application/dtmf ("5"). False for
 * another type or a body without a key. */
bool dtmf_in_info(struct dtmf_in *in, int64_t now_ms, struct str type, struct str body);

/* The way in which the newest press was first reported: "event", "tone" or "info". */
const char *dtmf_in_way(const struct dtmf_in *in);

/* ---- out ---- */

#define DTMF_KEYS_MAX 32

/* The keys `times` times, at least once, cut at DTMF_KEYS_MAX. */
void dtmf_repeat(const char *keys, int64_t times, char ret[static DTMF_KEYS_MAX + 1]);

/* The events of a sequence of keys, one step every 20 ms. */
struct dtmf_out {
    char keys[DTMF_KEYS_MAX + 1];
    unsigned wait;              /* steps before the first key */
    unsigned at;                /* which key */
    unsigned step;              /* of this key: tone, then gap */
    unsigned tone_steps, steps; /* of the tone; of tone and gap together */
    uint32_t timestamp;         /* of the current event */
};

struct dtmf_packet {
    bool marker;
    uint32_t timestamp;
    uint8_t payload[4];
};

/* Begins after `delay_ms`. Skips keys that have no event. Rounds durations up to whole packets; the gap is at least
 * three of them, for the three end packets. */
void dtmf_out_start(struct dtmf_out *out, const char *keys, int64_t tone_ms, int64_t gap_ms, int64_t delay_ms);
bool dtmf_out_active(const struct dtmf_out *out);
/* The next step; `timestamp` is the stream's current one. False if this step sends no packet. */
bool dtmf_out_next(struct dtmf_out *out, uint32_t timestamp, struct dtmf_packet *ret);
