/* Keys in a conversation: what the visitor presses comes back as an echo of the resident's line, and is no key of the
 * resident; what the resident presses is one. Audio passes as in media/media.c, packet by packet. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "media/echo.h"
#include "media/player.h"
#include "speech/speaker.h"

#define FRAME    160
#define PEAK_0   22300.0 /* of a tone at 0 dBm0 */
#define LINE_MAX 4000    /* samples of delay */
#define QUIET_MS 200

static double level(double dbm0)
{
    return PEAK_0 * pow(10, dbm0 / 20);
}

/* ---- sources ---- */

/* A key that is down from `from` for `n` samples; `burst` and `pause`: it is switched on and off. */
struct pressed {
    char key;
    double low_dbm0, high_dbm0;
    int from, n, burst, pause;
    double mask_hz, mask_dbm0; /* another tone with it */
};

static double press_at(const struct pressed *p, int i)
{
    const int at = i - p->from;
    if (!p->key || at < 0 || at >= p->n || (p->burst && at % (p->burst + p->pause) >= p->burst))
        return 0;
    const struct tones f = tones_frequencies(p->key);
    const double t = 2 * M_PI * i / 8000;
    return level(p->low_dbm0) * sin(t * f.low) + level(p->high_dbm0) * sin(t * f.high + 1) +
           (p->mask_hz > 0 ? level(p->mask_dbm0) * sin(t * p->mask_hz) : 0);
}

static int16_t clip16(double v)
{
    return (int16_t)(v > 32000 ? 32000 : v < -32000 ? -32000 : v);
}

/* ---- a conversation ---- */

struct line {
    double gain; /* of the echo */
    int delay;   /* samples */
    bool narrow; /* the telephone carries no tones beyond speech */
};

struct talk {
    uint8_t visitor_pt, resident_pt;
    struct line line;
    bool unmuted; /* the line returns all, as if nothing had been muted */
    struct pressed visitor, resident;
    const int16_t *speech; /* of the visitor, over and over; NULL: none */
    size_t speech_n;
    double speech_gain;
};

static char opened[64];

static void on_own_key(char key, void *arg)
{
    (void)arg;
    const size_t n = strlen(opened);
    if (n + 1 < sizeof opened) {
        opened[n] = key;
        opened[n + 1] = '\0';
    }
}

static void on_visitors_key(char key, void *arg)
{
    (void)key;
    (void)arg;
}

static int16_t coded(uint8_t pt, int16_t sample)
{
    return player_decode(pt, player_encode(pt, sample));
}

/* Two poles and two zeros: 300 to 3,400 Hz, about. */
static double narrowed(double v, double z[static 4])
{
    const double high = v - z[0] + 0.8 * z[1];
    z[0] = v;
    z[1] = high;
    const double low = 0.35 * high + 0.35 * z[2] + 0.3 * z[3];
    z[2] = high;
    z[3] = low;
    return low;
}

/* The keys of the resident that count. `frames` of 20 ms. */
static const char *keys_of(const struct talk *t, int frames)
{
    struct dtmf_in visitor, resident;
    struct echo heard = {.next = 0};
    double line[LINE_MAX] = {0}, z[4] = {0};
    opened[0] = '\0';
    assert_true(dtmf_in_init(&visitor, on_visitors_key, NULL) && dtmf_in_init(&resident, on_own_key, NULL));
    resident.strict = true;
    resident.other = &heard;
    for (int f = 0; f < frames; f++) {
        const int64_t now_ms = 1000000 + f * 20;
        int16_t out[FRAME], in[FRAME];
        for (int k = 0; k < FRAME; k++) {
            const int i = f * FRAME + k;
            const double said = t->speech ? t->speech[(size_t)i % t->speech_n] * t->speech_gain : 0;
            out[k] = coded(t->visitor_pt, clip16(press_at(&t->visitor, i) + said));
        }
        echo_take(&heard, now_ms, out, FRAME);
        dtmf_in_audio(&visitor, now_ms, out, FRAME);
        const bool muted = !t->unmuted && dtmf_in_tone(&visitor);
        for (int k = 0; k < FRAME; k++) {
            const int i = f * FRAME + k;
            const double back = line[i % t->line.delay] * t->line.gain;
            const double sent = muted ? 0 : coded(t->resident_pt, out[k]);
            line[i % t->line.delay] = t->line.narrow ? narrowed(sent, z) : sent;
            in[k] = coded(t->resident_pt, clip16(back + press_at(&t->resident, i)));
        }
        dtmf_in_audio(&resident, now_ms, in, FRAME);
    }
    dtmf_in_done(&visitor);
    dtmf_in_done(&resident);
    return opened;
}

static const uint8_t codecs[] = {PT_PCMU, PT_PCMA};
static const int lengths_ms[] = {50, 80, 120, 300, 1000};
static const int delays_ms[] = {20, 45, 110, 200, 333, 400};
static const char keys[] = "1234567890*#";

#define COUNT(a)   (int)(sizeof(a) / sizeof *(a))
#define EACH(i, a) for (int i = 0; i < COUNT(a); i++)

static struct talk talk_of(int codec_pair, double echo_db, int delay_ms)
{
    return (struct talk){.visitor_pt = codecs[codec_pair & 1],
                         .resident_pt = codecs[codec_pair >> 1],
                         .line = {.gain = pow(10, echo_db / 20), .delay = delay_ms * 8}};
}

static int frames_for(int key_ms, int delay_ms)
{
    return (2 * QUIET_MS + key_ms + delay_ms) / 20;
}

/* ---- the visitor's keys ---- */

static void echoes(bool unmuted)
{
    int n = 0;
    for (int pair = 0; pair < 4; pair++)
        for (int echo_db = 0; echo_db >= -36; echo_db -= 3)
            EACH(d, delays_ms)
    EACH(l, lengths_ms)
    {
        struct talk t = talk_of(pair, echo_db, delays_ms[d]);
        const double dbm0 = -3 - n % 8;
        t.unmuted = unmuted;
        t.visitor = (struct pressed){.key = keys[n % 12],
                                     .low_dbm0 = dbm0 - 2,
                                     .high_dbm0 = dbm0,
                                     .from = QUIET_MS * 8 + n % 160,
                                     .n = lengths_ms[l] * 8};
        if (*keys_of(&t, frames_for(lengths_ms[l], delays_ms[d])))
            fail_msg("key %c of %d ms, echo %d dB, %d ms late: %s", t.visitor.key, lengths_ms[l], echo_db, delays_ms[d],
                     opened);
        n++;
    }
    assert_true(n >= 500);
}

/* PHONE-42 */
static void test_the_echo_of_a_visitors_key_is_no_key(void **state)
{
    (void)state;
    echoes(false);
}

/* The other half of the protection alone. */
static void test_the_echo_of_a_key_that_was_not_muted_is_no_key(void **state)
{
    (void)state;
    echoes(true);
}

/* A decoder hears a tone of less than 38 ms or not, depending on where its blocks begin. */
static void test_the_echo_of_a_tone_too_short_for_a_key_is_no_key(void **state)
{
    (void)state;
    for (int n = 200; n <= 320; n += 4)
        EACH(d, delays_ms)
        {
            struct talk t = talk_of(n / 4 % 4, -3, delays_ms[d]);
            t.visitor = (struct pressed){.key = '9', .low_dbm0 = -6, .high_dbm0 = -6, .from = 1600 + n, .n = 9000};
            t.visitor.burst = n;
            t.visitor.pause = 700 + n;
            if (*keys_of(&t, frames_for(1200, delays_ms[d])))
                fail_msg("bursts of %d samples, %d ms late: %s", n, delays_ms[d], opened);
        }
}

/* The line takes away the sound that hid the key, or the difference of its tones. */
static void test_the_echo_of_a_hidden_key_is_no_key(void **state)
{
    (void)state;
    static const double masks_hz[] = {60, 120, 180, 3500, 3650, 3800};
    static const double masks_dbm0[] = {-12, -6, -3, 0};
    static const int twists[] = {-8, -4, 0, 4, 8, 12};
    for (int pair = 0; pair < 4; pair++)
        EACH(m, masks_hz)
    EACH(l, masks_dbm0)
    EACH(w, twists)
    {
        const int twist = twists[w];
        struct talk t = talk_of(pair, -3, 120);
        t.line.narrow = true;
        t.visitor = (struct pressed){.key = '9',
                                     .low_dbm0 = twist > 0 ? -10 - twist : -10,
                                     .high_dbm0 = twist > 0 ? -10 : -10 + twist,
                                     .from = 1600,
                                     .n = 1600,
                                     .mask_hz = masks_hz[m],
                                     .mask_dbm0 = masks_dbm0[l]};
        if (*keys_of(&t, frames_for(200, 120)))
            fail_msg("%g Hz at %g dBm0, twist %d: %s", masks_hz[m], masks_dbm0[l], twist, opened);
    }
}

/* ---- the resident's keys ---- */

static void own_keys(const struct talk *talk, const char *while_what, int *n, int *lost)
{
    EACH(l, lengths_ms)
    for (const char *key = keys; *key; key++) {
        struct talk t = *talk;
        const double dbm0 = -7 - *n % 13;
        if (t.visitor.key == *key)
            continue;
        t.resident = (struct pressed){
            .key = *key, .low_dbm0 = dbm0 - 2, .high_dbm0 = dbm0, .from = 2400 + *n % 160, .n = lengths_ms[l] * 8};
        const char all[] = {*key, '\0'};
        ++*n;
        if (strcmp(keys_of(&t, frames_for(lengths_ms[l], 300)), all) == 0)
            continue;
        ++*lost;
        print_error("%s: key %c of %d ms at %g dBm0, echo of %g: \"%s\"\n", while_what, *key, lengths_ms[l], dbm0,
                    t.line.gain, opened);
    }
}

/* PHONE-42 */
static void test_a_residents_key_counts(void **state)
{
    (void)state;
    int n = 0, lost = 0;
    for (int pair = 0; pair < 4; pair++)
        for (int echo_db = -3; echo_db >= -36; echo_db -= 11) {
            const struct talk t = talk_of(pair, echo_db, 120);
            own_keys(&t, "silence", &n, &lost);
        }
    assert_true(n >= 500);
    assert_int_equal(lost, 0);
}

static void test_a_residents_key_counts_while_the_visitor_talks(void **state)
{
    (void)state;
    static const char text[] =
        "Hello, it is the parcel service. I have a parcel for you, shall I leave it at the door?";
    size_t speech_n;
    int16_t *speech = speaker_says(text, 20, 300, &speech_n);
    int n = 0, lost = 0;
    for (int pair = 0; pair < 4; pair++)
        for (int echo_db = -15; echo_db >= -36; echo_db -= 7) {
            struct talk t = talk_of(pair, echo_db, 120);
            const size_t from = (size_t)n * 997 % (speech_n - 20000);
            t.speech = speech + from;
            t.speech_n = speech_n - from;
            t.speech_gain = 1.5;
            own_keys(&t, "speech", &n, &lost);
        }
    free(speech);
    assert_true(n >= 500);
    assert_int_equal(lost, 0);
}

static void test_a_residents_key_counts_while_the_visitor_presses_another(void **state)
{
    (void)state;
    int n = 0, lost = 0;
    for (int pair = 0; pair < 4; pair++)
        for (const char *key = keys; *key; key++) {
            struct talk t = talk_of(pair, -25, 120);
            t.visitor = (struct pressed){.key = *key, .low_dbm0 = -9, .high_dbm0 = -7, .from = 1600, .n = 8000};
            own_keys(&t, "another key", &n, &lost);
        }
    assert_true(n >= 500);
    assert_int_equal(lost, 0);
}

/* The call box repeats what it hears: an echo of the resident's key. */
static void test_a_resident_presses_the_same_key_again(void **state)
{
    (void)state;
    struct talk t = talk_of(0, -25, 120);
    t.resident = (struct pressed){.key = '9', .low_dbm0 = -9, .high_dbm0 = -7, .from = 800, .n = 8000};
    t.resident.burst = t.resident.pause = 1600;
    t.visitor = t.resident;
    t.visitor.low_dbm0 = -19;
    t.visitor.high_dbm0 = -17;
    t.visitor.from += 800;
    assert_string_equal(keys_of(&t, 70), "999");
}

static void test_a_tone_below_30_dbm0_is_no_key_of_a_resident(void **state)
{
    (void)state;
    for (int pair = 0; pair < 4; pair++)
        for (const char *key = keys; *key; key++) {
            struct talk t = talk_of(pair, -36, 120);
            const char all[] = {*key, '\0'};
            t.resident = (struct pressed){.key = *key, .low_dbm0 = -30, .high_dbm0 = -30, .from = 1700, .n = 800};
            assert_string_equal(keys_of(&t, 40), all);
            t.resident.high_dbm0 = -31.5;
            assert_string_equal(keys_of(&t, 40), "");
            t.resident.high_dbm0 = -30;
            t.resident.low_dbm0 = -31.5;
            assert_string_equal(keys_of(&t, 40), "");
        }
}

/* ---- the time ---- */

static void test_an_echo_may_come_for_a_second(void **state)
{
    (void)state;
    struct echo e = {.next = 0};
    int16_t samples[FRAME], silence[FRAME] = {0};
    const struct pressed p = {.key = '9', .low_dbm0 = -9, .high_dbm0 = -7, .n = 1600};
    const struct tones heard = {1e6, 1e6};
    assert_false(echo_has(&e, 0, '9', &heard));
    for (int f = 0; f < 10; f++) {
        for (int k = 0; k < FRAME; k++)
            samples[k] = clip16(press_at(&p, f * FRAME + k));
        echo_take(&e, f * 20, samples, FRAME);
    }
    assert_true(echo_has(&e, 200, '9', &heard));
    assert_false(echo_has(&e, 200, '6', &heard));
    assert_true(echo_has(&e, 1180, '9', &heard)); /* nothing came since */
    assert_false(echo_has(&e, 1181, '9', &heard));
    for (int f = 10; f < 58; f++)
        echo_take(&e, f * 20, silence, FRAME);
    assert_true(echo_has(&e, 1160, '9', &heard));
    for (int f = 58; f < 60; f++)
        echo_take(&e, f * 20, silence, FRAME);
    assert_false(echo_has(&e, 1200, '9', &heard));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_echo_of_a_visitors_key_is_no_key),
        cmocka_unit_test(test_the_echo_of_a_key_that_was_not_muted_is_no_key),
        cmocka_unit_test(test_the_echo_of_a_tone_too_short_for_a_key_is_no_key),
        cmocka_unit_test(test_the_echo_of_a_hidden_key_is_no_key),
        cmocka_unit_test(test_a_residents_key_counts),
        cmocka_unit_test(test_a_residents_key_counts_while_the_visitor_talks),
        cmocka_unit_test(test_a_residents_key_counts_while_the_visitor_presses_another),
        cmocka_unit_test(test_a_resident_presses_the_same_key_again),
        cmocka_unit_test(test_a_tone_below_30_dbm0_is_no_key_of_a_resident),
        cmocka_unit_test(test_an_echo_may_come_for_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
