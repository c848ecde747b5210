#include "media/dtmf.h"

#include <re/re.h>
#include <rem/rem.h>

#include "media/echo.h"
#include "media/tones.h"

/* Time after the last report of a press in which another source may report the same press. */
#define SAME_PRESS_MS 500
#define HELD_MAX_MS   5000 /* a longer Duration in a SIP INFO is ignored */

#define TONE_SHARE_MIN  0.05   /* least share of each tone in the energy of a packet */
#define TONES_SHARE_MIN 0.6    /* least share of both */
#define HEARD_SHARE_MIN 0.7    /* least share of both in two blocks, for the second decoder and a strict one */
#define JUDGED_MIN      80     /* samples: fewer do not separate two tones */
#define BLOCK           102    /* samples that a decoder judges at once */
#define CHUNK           160    /* samples judged at once: less than the gap between two keys */
#define SAME_TONE       320    /* samples: a key is not heard again so soon after it was released */
#define OWN_MIN         221600 /* mean square of a tone at -30 dBm0, less half a dB for the block */

#define PAYLOAD_LEN  4
#define END_BIT      0x80
#define VOLUME       10  /* -10 dBm0 */
#define STEP_SAMPLES 160 /* 20 ms */
#define END_PACKETS  3

#define RESTART        8000 /* a second; a later packet whose timestamp is earlier by more is of a stream that began again */
#define DURATION_WRAPS 0xf000 /* a duration that falls from here began again at 0 */

enum source { EVENT = 1, TONE = 2, INFO = 4 };

/* ---- in: one press from several sources ---- */

/* Each source tells its own presses apart. A report is the same press as a recent report of the same key by another
 * source if this source has not claimed that press. `began_ms`: when the key went down. */
static void report_press(struct dtmf_in *in, enum source source, int64_t now_ms, int64_t began_ms, char key)
{
    in->held_ms = now_ms;
    ++*(source == EVENT ? &in->events : source == TONE ? &in->tones : &in->infos);
    for (unsigned i = DTMF_PRESSES; i > 0; i--) { /* oldest first: reports of one source come in order */
        unsigned p = (in->next + DTMF_PRESSES - i) % DTMF_PRESSES;
        if (in->presses[p].key == key && !(in->presses[p].sources & source) &&
            began_ms - in->presses[p].at_ms <= SAME_PRESS_MS) {
            in->presses[p].sources |= source;
            return;
        }
    }
    in->presses[in->next].key = key;
    in->presses[in->next].sources = source;
    in->presses[in->next].at_ms = now_ms;
    in->next = (in->next + 1) % DTMF_PRESSES;
    in->on_key(key, in->arg);
}

const char *dtmf_in_way(const struct dtmf_in *in)
{
    const unsigned source = in->presses[(in->next + DTMF_PRESSES - 1) % DTMF_PRESSES].sources;
    return source & EVENT ? "event" : source & TONE ? "tone" : "info";
}

/* The last press that `source` reported continues. */
static void extend_press(struct dtmf_in *in, enum source source, int64_t now_ms)
{
    in->held_ms = now_ms;
    for (unsigned i = 1; i <= DTMF_PRESSES; i++) {
        unsigned p = (in->next + DTMF_PRESSES - i) % DTMF_PRESSES;
        if (in->presses[p].sources & source) {
            in->presses[p].at_ms = now_ms;
            return;
        }
    }
}

/* ---- in: tones ---- */

/* Whether the key's two tones have at least that share of the energy. */
static bool has_tones(char key, const int16_t *samples, size_t n, double least)
{
    double energy = 0;
    for (size_t i = 0; i < n; i++)
        energy += (double)samples[i] * samples[i];
    if (energy == 0)
        return false;
    const struct tones power = tones_power(key, samples, n);
    const double low = power.low * (double)n / energy, high = power.high * (double)n / energy;
    return low > TONE_SHARE_MIN && high > TONE_SHARE_MIN && low + high > least;
}

/* Whether this end pressed the key whose tones a decoder heard in it. */
static bool is_own(const struct dtmf_in *in, char key)
{
    const struct tones power = tones_power(key, in->last + DTMF_LAST - BLOCK, BLOCK);
    return power.low >= OWN_MIN && power.high >= OWN_MIN && has_tones(key, in->last, DTMF_LAST, HEARD_SHARE_MIN) &&
           !(in->other && echo_has(in->other, in->now_ms, key, &power));
}

enum ear { PLAIN, TILTED };

/* A decoder heard the key: a new press, or one that was heard. At the limits of what a decoder hears, it hears one
 * press several times. */
static void dtmf_on_tone(char key, void *arg)
{
    struct dtmf_in *in = arg;
    const bool same = key == in->told && in->samples < in->down + SAME_TONE;
    if (in->strict && !is_own(in, key))
        return;
    in->tone = in->told = key;
    if (same)
        return;
    in->down = in->samples;
    report_press(in, TONE, in->now_ms, in->now_ms, key);
}

/* The filter hides from its decoder what is beyond the tones of keys, as in music and speech. */
static void on_tilted_tone(char key, void *arg)
{
    struct dtmf_in *in = arg;
    if (has_tones(key, in->last, DTMF_LAST, HEARD_SHARE_MIN))
        dtmf_on_tone(key, in);
}

/* librem's decoder hears a key whose high tone is -3 to +7 dB above the low one. A copper line attenuates the high
 * tone, so a second decoder hears the audio through this filter: low tones 7 to 10 dB below the high ones, and little
 * beyond them, where noise would be louder than the tones. Two sections: a shelf at 1,070 Hz, a low pass at 1,900 Hz.
 */
static void tilt(struct dtmf_in *in, const int16_t *samples, size_t n, int16_t *ret)
{
    static const struct section {
        double b[3], a[2];
    } sections[] = {
        {{0.64556, -0.79577, 0.39524}, {-0.8219, 0.522}},
        {{0.29654, 0.59307, 0.29654}, {-0.10099, 0.28713}},
    };
    for (size_t i = 0; i < n; i++) {
        double v = samples[i] + 1e-9; /* in silence, the state must not become subnormal, which is slow */
        for (size_t k = 0; k < 2; k++) {
            const struct section *s = &sections[k];
            double *z = in->tilt[k];
            const double out = s->b[0] * v + z[0];
            z[0] = s->b[1] * v - s->a[0] * out + z[1];
            z[1] = s->b[2] * v - s->a[1] * out;
            v = out;
        }
        ret[i] = (int16_t)(v > INT16_MAX ? INT16_MAX : v < -INT16_MAX ? -INT16_MAX : v);
    }
}

bool dtmf_in_init(struct dtmf_in *in, dtmf_key_h on_key, void *arg)
{
    *in = (struct dtmf_in){.on_key = on_key, .arg = arg};
    return !dtmf_dec_alloc(&in->decoders[PLAIN], 8000, 1, dtmf_on_tone, in) &&
           !dtmf_dec_alloc(&in->decoders[TILTED], 8000, 1, on_tilted_tone, in);
}

void dtmf_in_done(struct dtmf_in *in)
{
    for (size_t i = 0; i < DTMF_EARS; i++)
        in->decoders[i] = mem_deref(in->decoders[i]);
    memset(in->presses, 0, sizeof in->presses);
    in->tone = in->told = 0;
}

static void take_chunk(struct dtmf_in *in, const int16_t *samples, size_t n)
{
    int16_t tilted[CHUNK];
    if (in->tone && n >= JUDGED_MIN) {
        if (has_tones(in->tone, samples, n, TONES_SHARE_MIN)) {
            extend_press(in, TONE, in->now_ms);
            in->down = in->samples + n;
        } else {
            in->tone = 0;
        }
    }
    tilt(in, samples, n, tilted);
    /* In pieces that end with the blocks of the decoders, so that in->last holds what they heard. */
    for (size_t at = 0, piece; at < n; at += piece) {
        piece = BLOCK - in->samples % BLOCK;
        if (piece > n - at)
            piece = n - at;
        in->samples += piece;
        memmove(in->last, in->last + piece, (DTMF_LAST - piece) * sizeof *in->last);
        memcpy(in->last + DTMF_LAST - piece, samples + at, piece * sizeof *samples);
        dtmf_dec_probe(in->decoders[PLAIN], samples + at, piece);
        dtmf_dec_probe(in->decoders[TILTED], tilted + at, piece);
    }
}

void dtmf_in_audio(struct dtmf_in *in, int64_t now_ms, const int16_t *samples, size_t n)
{
    in->now_ms = now_ms;
    for (size_t at = 0; at < n; at += CHUNK)
        take_chunk(in, samples + at, n - at < CHUNK ? n - at : CHUNK);
}

bool dtmf_is_tone(const int16_t *samples, size_t n)
{
    for (const char *key = "0123456789*#ABCD"; *key && n >= JUDGED_MIN; key++)
        if (has_tones(*key, samples, n, TONES_SHARE_MIN))
            return true;
    return false;
}

bool dtmf_in_tone(const struct dtmf_in *in)
{
    return in->told && in->samples < in->down + SAME_TONE;
}

/* ---- in: RFC 4733 ---- */

static uint16_t be16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

/* The relation of a packet to the last one: a new press, the same press, or a late packet of an earlier press. */
enum relation { NEW, SAME, LATE };

/* The relation of a packet at the timestamp of the last one. Some senders never move it: a new press is a later packet
 * that has the marker, a shorter duration, or an end that is no repetition of the last one. */
static enum relation relate_same_time(const struct dtmf_in *in, const struct rtp_header *h, uint8_t code, bool end,
                                      uint16_t duration)
{
    const int16_t later = (int16_t)(h->seq - in->event.seq);
    if (later <= 0)
        return code == in->event.code ? SAME : LATE;
    if (code != in->event.code || (h->m && in->event.ended))
        return NEW;
    if (duration == in->event.duration) /* a repetition of the end follows at once */
        return end && later > END_PACKETS ? NEW : SAME;
    if (duration < in->event.duration)
        return in->event.duration < DURATION_WRAPS ? NEW : SAME;
    return in->event.ended ? NEW : SAME;
}

static enum relation relate(const struct dtmf_in *in, const struct rtp_header *h, uint8_t code, bool end,
                            uint16_t duration)
{
    if (!in->event.any || h->ssrc != in->event.ssrc)
        return NEW;
    const int32_t later = (int32_t)(h->ts - in->event.timestamp);
    if (later < 0)
        return later < -RESTART && (int16_t)(h->seq - in->event.seq) > 0 ? NEW : LATE;
    if (later == 0)
        return relate_same_time(in, h, code, end, duration);
    if (code != in->event.code)
        return NEW;
    /* A timestamp that moves within one press: a segment of a long one (RFC 4733, 2.5.1.3), or a sender's bug. */
    return !in->event.ended && !h->m && (duration > in->event.duration || in->event.duration == UINT16_MAX) ? SAME
                                                                                                            : NEW;
}

void dtmf_in_event(struct dtmf_in *in, int64_t now_ms, const struct rtp_header *h, const uint8_t *payload, size_t n)
{
    if (n < PAYLOAD_LEN)
        return;
    int key = telev_code2digit(payload[0]);
    if (key < 0)
        return;
    bool end = payload[1] & END_BIT;
    uint16_t duration = be16(payload + 2);
    enum relation r = relate(in, h, payload[0], end, duration);
    if (r == LATE)
        return;
    const bool late = r == SAME && (int16_t)(h->seq - in->event.seq) < 0;
    in->event.ended = end || (r == SAME && in->event.ended);
    if (!late) {
        in->event.any = true;
        in->event.code = payload[0];
        in->event.duration = duration;
        in->event.seq = h->seq;
        in->event.ssrc = h->ssrc;
        in->event.timestamp = h->ts;
    }
    if (r == NEW)
        report_press(in, EVENT, now_ms, now_ms, (char)key);
    else
        extend_press(in, EVENT, now_ms);
}

void dtmf_in_new_stream(struct dtmf_in *in)
{
    in->event.any = false;
}

/* ---- in: SIP INFO ---- */

/* "5", "*", or the event codes "10" and "11". */
static char info_key(struct str s)
{
    s = str_trim(s);
    if (s.n > 2 && s.p[0] == '"' && s.p[s.n - 1] == '"')
        s = str_n(s.p + 1, s.n - 2);
    if (str_eq(s, STR("10")))
        return '*';
    if (str_eq(s, STR("11")))
        return '#';
    if (s.n != 1)
        return 0;
    int code = telev_digit2code(s.p[0]);
    return code < 0 ? 0 : (char)telev_code2digit(code);
}

static struct str line(struct str *rest)
{
    struct str l = str_cut(*rest, '\n', rest);
    if (l.n && l.p[l.n - 1] == '\r')
        l.n--;
    return l;
}

static char relay_key(struct str body, int64_t *ret_held_ms)
{
    char key = 0;
    while (body.n) {
        struct str value;
        uint64_t ms;
        struct str name = str_trim(str_cut(line(&body), '=', &value));
        if (!value.p)
            continue;
        if (!key && str_eqi(name, STR("signal")))
            key = info_key(value);
        else if (str_eqi(name, STR("duration")) && str_to_u64(str_trim(value), HELD_MAX_MS, &ms))
            *ret_held_ms = (int64_t)ms;
    }
    return key;
}

/* No RFC says which type has the body of which: telephones send both bodies with each. */
static bool has_keys(struct str type)
{
    static const char *const types[] = {"application/dtmf-relay", "application/dtmf", "application/dtmf-info",
                                        "audio/telephone-event"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (str_eqi(type, str_z(types[i])))
            return true;
    return false;
}

bool dtmf_in_info(struct dtmf_in *in, int64_t now_ms, struct str type, struct str body)
{
    int64_t held_ms = 0; /* many telephones report a press after its end */
    char key = has_keys(type) ? relay_key(body, &held_ms) : 0;
    if (!key && has_keys(type))
        key = info_key(line(&body));
    if (!key)
        return false;
    report_press(in, INFO, now_ms, now_ms - held_ms, key);
    return true;
}

/* ---- out ---- */

void dtmf_repeat(const char *keys, int64_t times, char ret[static DTMF_KEYS_MAX + 1])
{
    size_t n = 0;
    do
        for (const char *key = keys; *key && n < DTMF_KEYS_MAX; key++)
            ret[n++] = *key;
    while (--times > 0 && *keys);
    ret[n] = '\0';
}

static unsigned steps_of(int64_t ms)
{
    return (unsigned)((ms + 19) / 20);
}

void dtmf_out_start(struct dtmf_out *out, const char *keys, int64_t tone_ms, int64_t gap_ms, int64_t delay_ms)
{
    *out = (struct dtmf_out){.tone_steps = steps_of(tone_ms), .wait = steps_of(delay_ms)};
    if (!out->tone_steps)
        out->tone_steps = 1;
    unsigned gap = steps_of(gap_ms);
    out->steps = out->tone_steps + (gap < END_PACKETS ? END_PACKETS : gap);
    unsigned n = 0;
    for (; *keys && n < DTMF_KEYS_MAX; keys++) {
        if (telev_digit2code(*keys) >= 0)
            out->keys[n++] = *keys;
    }
}

bool dtmf_out_active(const struct dtmf_out *out)
{
    return out->keys[out->at] != '\0';
}

/* After the wait, steps 0 to tone_steps-1 hold the key down, the next three send its end, the others are silence. */
bool dtmf_out_next(struct dtmf_out *out, uint32_t timestamp, struct dtmf_packet *ret)
{
    char key = out->keys[out->at];
    if (!key)
        return false;
    if (out->wait) {
        out->wait--;
        return false;
    }
    unsigned step = out->step++;
    if (out->step == out->steps) {
        out->step = 0;
        out->at++;
    }
    if (step == 0)
        out->timestamp = timestamp;
    if (step >= out->tone_steps + END_PACKETS)
        return false;
    bool end = step >= out->tone_steps;
    unsigned duration = (end ? out->tone_steps : step + 1) * STEP_SAMPLES;
    *ret = (struct dtmf_packet){
        .marker = step == 0,
        .timestamp = out->timestamp,
        .payload = {(uint8_t)telev_digit2code(key), (uint8_t)((end ? END_BIT : 0) | VOLUME), (uint8_t)(duration >> 8),
                    (uint8_t)duration},
    };
    return true;
}
