/* DTMF keys, received and sent: every press counts once, from any source. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <re/re.h>
#include <rem/rem.h>

#include "call/sound.h"
#include "media/dtmf.h"

static char heard[256];
static size_t heard_count;

static void on_key(char key, void *arg)
{
    (void)arg;
    if (heard_count + 1 < sizeof heard)
        heard[heard_count++] = key;
    heard[heard_count] = '\0';
}

static struct dtmf_in in;

static int before_each(void **state)
{
    (void)state;
    heard[heard_count = 0] = '\0';
    return sound_init() || !dtmf_in_init(&in, on_key, NULL);
}

static int after_each(void **state)
{
    (void)state;
    dtmf_in_done(&in);
    return 0;
}

/* ---- RFC 4733 in ---- */

#define SSRC 0xdecafbad

static uint16_t seq; /* of the last packet */

static void event_at(uint16_t at, int64_t ms, bool marker, uint32_t timestamp, uint8_t code, bool end,
                     uint16_t duration)
{
    const uint8_t p[] = {code, end ? 0x8a : 0x0a, (uint8_t)(duration >> 8), (uint8_t)duration};
    const struct rtp_header h = {.m = marker, .seq = at, .ssrc = SSRC, .ts = timestamp};
    dtmf_in_event(&in, ms, &h, p, sizeof p);
}

static void event(int64_t ms, bool marker, uint32_t timestamp, uint8_t code, bool end, uint16_t duration)
{
    event_at(++seq, ms, marker, timestamp, code, end, duration);
}

/* A well-behaved press of 100 ms, 50 packets a second, from `ms` on. */
static void press(int64_t ms, uint32_t timestamp, uint8_t code)
{
    for (int i = 0; i < 5; i++)
        event(ms + i * 20, i == 0, timestamp, code, false, (uint16_t)((i + 1) * 160));
    for (int i = 0; i < 3; i++)
        event(ms + 100 + i * 20, false, timestamp, code, true, 800);
}

static void test_a_press_counts_once_and_at_its_first_packet(void **state)
{
    (void)state;
    event(0, true, 1000, 5, false, 160);
    assert_string_equal(heard, "5");
    press(0, 1000, 5);
    assert_string_equal(heard, "5");
}

static void test_the_same_key_twice_is_two_presses(void **state)
{
    (void)state;
    press(0, 1000, 5);
    press(200, 2600, 5);
    press(400, 4200, 11);
    press(600, 5800, 10);
    assert_string_equal(heard, "55#*");
}

static void test_any_one_packet_of_a_press_is_enough(void **state)
{
    (void)state;
    event(0, false, 1000, 1, false, 480);  /* the first two were lost */
    event(200, false, 2600, 2, true, 800); /* only an end arrived */
    event(400, true, 4200, 3, false, 160); /* its end was lost, */
    event(600, true, 5800, 3, false, 160); /* and the same key comes again */
    assert_string_equal(heard, "1233");
}

static void test_late_packets_of_an_earlier_press_are_dropped(void **state)
{
    (void)state;
    press(0, 1000, 1);
    press(200, 2600, 2);
    event(300, false, 1000, 1, true, 800);
    event(310, false, 1000, 1, false, 640);
    assert_string_equal(heard, "12");
}

static void test_a_packet_after_the_end_is_the_same_press(void **state)
{
    (void)state;
    press(0, 1000, 1);
    event_at((uint16_t)(seq - 4), 160, false, 1000, 1, false, 640);
    event_at((uint16_t)(seq - 7), 160, true, 1000, 1, false, 160);
    event_at(seq, 160, false, 1000, 1, true, 800);
    assert_string_equal(heard, "1");
}

static void test_a_long_press_in_segments_counts_once(void **state)
{
    (void)state;
    event(0, true, 1000, 7, false, 160);
    event(8180, false, 1000, 7, false, UINT16_MAX);
    event(8200, false, 1000 + UINT16_MAX, 7, false, 160);
    event(9000, false, 1000 + UINT16_MAX, 7, true, 8000);
    assert_string_equal(heard, "7");
}

static void test_a_timestamp_may_move_within_a_press(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++)
        event(i * 20, i == 0, 1000 + (uint32_t)i * 160, 4, i == 5, (uint16_t)((i + 1) * 160));
    event(300, true, 4000, 4, false, 160);
    assert_string_equal(heard, "44");
}

/* PHONE-39 */
static void test_a_timestamp_may_never_move(void **state)
{
    (void)state;
    press(0, 1000, 4);
    press(200, 1000, 4);
    press(400, 1000, 5);
    assert_string_equal(heard, "445");
}

/* A press of 100 ms without the marker, packets 20 ms apart; the packets in `lost`, counted from 0, do not arrive. */
static void press_unmarked(int64_t ms, uint8_t code, unsigned lost)
{
    for (unsigned i = 0; i < 8; i++) {
        seq++;
        if (!(lost >> i & 1))
            event_at(seq, ms + i * 20, false, 1000, code, i > 4, i > 4 ? 800 : (uint16_t)((i + 1) * 160));
    }
}

static void test_a_timestamp_may_never_move_without_a_marker(void **state)
{
    (void)state;
    press_unmarked(0, 5, 0);
    press_unmarked(300, 5, 0);
    press_unmarked(600, 1, 0);
    press_unmarked(900, 2, 0);
    press_unmarked(1200, 2, 0);
    assert_string_equal(heard, "55122");
}

static void test_any_one_packet_tells_presses_of_one_timestamp_apart(void **state)
{
    (void)state;
    press_unmarked(0, 5, 0);
    press_unmarked(300, 5, 0x1f);  /* its ends alone */
    press_unmarked(600, 5, 0xe0);  /* its end was lost */
    press_unmarked(900, 5, 0xe3);  /* and its first packets */
    press_unmarked(1200, 5, 0x7f); /* one end */
    press_unmarked(1500, 5, 0);
    assert_string_equal(heard, "555555");
}

static void test_packets_of_one_timestamp_may_come_late_and_twice(void **state)
{
    (void)state;
    static const uint16_t order[] = {2, 1, 1, 4, 3, 6, 5, 8, 7, 7, 10, 9, 12, 11, 11, 14, 13, 16, 15, 8};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const unsigned at = (order[i] - 1u) % 8;
        event_at((uint16_t)(UINT16_MAX - 9 + order[i]), (int64_t)i * 20, false, 1000, 5, at > 4,
                 at > 4 ? 800 : (uint16_t)((at + 1) * 160));
    }
    assert_string_equal(heard, "55");
}

static void test_a_key_may_be_held_until_its_duration_wraps(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 600; i++)
        event(i * 20, false, 1000, 5, false, (uint16_t)(i * 160));
    assert_string_equal(heard, "5");
}

static void test_timestamps_wrap(void **state)
{
    (void)state;
    press(0, UINT32_MAX - 100, 1);
    press(200, 1500, 1);
    assert_string_equal(heard, "11");
}

static void test_a_new_stream_begins_with_a_new_press(void **state)
{
    (void)state;
    const uint8_t p[] = {1, 0x0a, 0, 160};
    press(0, 90000, 1);
    dtmf_in_event(&in, 200, &(struct rtp_header){.m = true, .ssrc = SSRC + 1, .ts = 10}, p, sizeof p);
    assert_string_equal(heard, "11");
}

static void test_events_that_are_no_key_are_dropped(void **state)
{
    (void)state;
    const uint8_t cut[] = {1, 0x0a, 0};
    dtmf_in_event(&in, 0, &(struct rtp_header){.m = true, .ssrc = SSRC}, cut, sizeof cut);
    dtmf_in_event(&in, 0, &(struct rtp_header){.m = true, .ssrc = SSRC}, NULL, 0);
    event(0, true, 2000, 16, false, 160); /* flash */
    event(0, true, 2000, 255, false, 160);
    assert_string_equal(heard, "");
}

/* ---- in-band ---- */

static double noise(unsigned *seed)
{
    return (double)rand_r(seed) / RAND_MAX * 2 - 1;
}

/* Plays a key through mu-law at a level, with noise, in packets of 20 ms. */
static int64_t play(int64_t at_ms, char key, int64_t ms, double gain, double noise_peak, unsigned *seed)
{
    struct sound s = sound_key(key, ms);
    for (uint32_t i = 0; i < s.length; i += 160) {
        int16_t frame[160];
        for (uint32_t k = 0; k < 160; k++) {
            double v = s.samples ? s.samples[(i + k) % s.loop] * gain : 0;
            frame[k] = g711_ulaw2pcm(g711_pcm2ulaw((int16_t)(v + noise(seed) * noise_peak)));
        }
        dtmf_in_audio(&in, at_ms + i / 8, frame, 160);
    }
    return at_ms + ms;
}

static bool info(int64_t ms, const char *type, const char *body);

static void test_every_key_is_heard_at_every_level(void **state)
{
    (void)state;
    static const char keys[] = "1234567890*#ABCD";
    static const double gains_db[] = {3, 0, -10, -20, -25};
    unsigned seed = 7;
    for (size_t g = 0; g < sizeof gains_db / sizeof *gains_db; g++) {
        double gain = pow(10, gains_db[g] / 20);
        int64_t at = (int64_t)g * 100000;
        heard[heard_count = 0] = '\0';
        for (const char *k = keys; *k; k++) {
            at = play(at, *k, 60, gain, 20, &seed);
            at = play(at, 0, 60, 0, 20, &seed);
        }
        assert_string_equal(heard, keys);
    }
}

/* White noise with a normal distribution. */
static double hiss(unsigned *seed)
{
    const double u = (double)rand_r(seed) / RAND_MAX, v = (double)rand_r(seed) / RAND_MAX;
    return sqrt(-2 * log(u + 1e-12)) * cos(6.283185307179586 * v);
}

#define KEYPAD "123A456B789C*0#D"

/* The keys through mu-law at -15 dBm0, each with a silence as long, both with noise. The high tone is `twist` dB above
 * the low one, and the key `snr` dB above the noise. */
static void play_line(const char *keys, double twist, int ms, double snr, unsigned *seed)
{
    static const double rows[] = {697, 770, 852, 941}, columns[] = {1209, 1336, 1477, 1633};
    const double power = pow(10, -15 / 10.0) * 22300.0 * 22300.0 / 2, ratio = pow(10, twist / 10);
    const double low = sqrt(2 * power / (1 + ratio)), high = sqrt(2 * power * ratio / (1 + ratio));
    const double loud = sqrt(power / pow(10, snr / 10));
    const int length = ms * 8, cycle = 2 * length, first = rand_r(seed) % 160;
    const int all = first + (int)strlen(keys) * cycle + 800;
    heard[heard_count = 0] = '\0';
    for (int at = 0; at < all; at += 160) {
        int16_t frame[160];
        for (int k = 0; k < 160; k++) {
            const int i = at + k - first;
            const bool down = i >= 0 && i / cycle < (int)strlen(keys) && i % cycle < length;
            double v = loud * hiss(seed);
            if (down) {
                const size_t key = (size_t)(strchr(KEYPAD, keys[i / cycle]) - KEYPAD);
                const double t = 6.283185307179586 * i / 8000;
                v += low * sin(t * rows[key / 4]) + high * sin(t * columns[key % 4] + 1);
            }
            frame[k] = g711_ulaw2pcm(g711_pcm2ulaw((int16_t)v));
        }
        dtmf_in_audio(&in, at / 8, frame, 160);
    }
}

/* A copper line attenuates the high tone: receivers take it from 8 dB below the low one to 4 dB above (ITU-T Q.24). */
/* PHONE-41 */
static void test_keys_are_heard_once_at_every_twist_of_a_line(void **state)
{
    (void)state;
    static const int lengths_ms[] = {40, 60, 100, 400};
    static const double snrs[] = {30, 20, 12};
    for (int twist = -8; twist <= 4; twist++) {
        for (size_t k = 0; k < 4 * 3; k++) {
            unsigned seed = 17, right = 0;
            for (int times = 0; times < 4; times++) {
                play_line(KEYPAD, twist, lengths_ms[k / 3], snrs[k % 3], &seed);
                const char *h = heard;
                for (const char *at = KEYPAD; *at; at++) {
                    if (*at == *h) {
                        h++;
                        right++;
                    }
                }
                assert_int_equal(*h, '\0'); /* nothing twice */
            }
            if (right < 63)
                print_error("twist %d dB, %d ms, %g dB: %u\n", twist, lengths_ms[k / 3], snrs[k % 3], right);
            assert_in_range(right, 63, 64);
        }
    }
}

static void test_a_key_that_is_pressed_quickly_again_counts_again(void **state)
{
    (void)state;
    unsigned seed = 5;
    for (int twist = -8; twist <= 4; twist++) {
        for (const char *key = KEYPAD; *key; key++) {
            const char keys[] = {*key, *key, *key, *key, '\0'};
            play_line(keys, twist, 40, 25, &seed);
            assert_string_equal(heard, keys);
            play_line(keys, twist, 100, 15, &seed);
            assert_string_equal(heard, keys);
        }
    }
}

/* ---- how long a key is down ---- */

static void test_a_key_counts_as_down_until_its_last_event(void **state)
{
    (void)state;
    assert_int_equal(in.held_ms, 0);
    for (int i = 0; i < 150; i++)
        event(1000 + i * 20, i == 0, 2000, 5, false, (uint16_t)((i + 1) * 160));
    assert_int_equal(in.held_ms, 3980);
    event(4000, false, 2000, 5, true, 24000);
    assert_int_equal(in.held_ms, 4000);
    assert_true(info(9000, "application/dtmf-relay", "Signal=6\r\nDuration=160\r\n"));
    assert_int_equal(in.held_ms, 9000);
    assert_string_equal(heard, "56");
}

static void test_a_key_counts_as_down_while_its_tones_go_on(void **state)
{
    (void)state;
    static const char keys[] = "1234567890*#ABCD";
    static const double gains_db[] = {3, 0, -10, -20, -25};
    unsigned seed = 5;
    int64_t at = 0;
    for (size_t i = 0; i < 5 * 16; i++) {
        const double gain = pow(10, gains_db[i % 5] / 20);
        const int64_t up = play(at, keys[i / 5], 1000, gain, 20, &seed);
        assert_in_range(in.held_ms, up - 40, up);
        at = play(up, 0, 100, 0, 20, &seed);
        assert_in_range(in.held_ms, up - 40, up);
    }
    assert_int_equal(heard_count, 5 * 16);
}

static void test_other_sounds_hold_no_key_down(void **state)
{
    (void)state;
    unsigned seed = 11;
    const int64_t up = play(0, '5', 100, 1, 20, &seed);
    int64_t at = play(up, '8', 20, 1, 20, &seed); /* another key, too short to count */
    at = play(at, 0, 2000, 0, 8000, &seed);
    at = play(at, '5', 20, 1, 20, &seed);
    assert_in_range(in.held_ms, up - 20, up);
    assert_string_equal(heard, "5");
}

static void test_noise_and_prompts_are_no_keys(void **state)
{
    (void)state;
    unsigned seed = 3;
    int64_t at = play(0, 0, 20000, 0, 8000, &seed);
    for (int p = 0; p < PROMPT_COUNT; p++) {
        struct sound parts[SOUND_PARTS_MAX];
        size_t n = sound_prompt((enum call_prompt)p, parts);
        assert_true(n > 0);
        for (size_t i = 0; i < n; i++) {
            for (uint32_t k = 0; k < parts[i].length; k++) {
                int16_t sample = parts[i].samples ? parts[i].samples[k % parts[i].loop] : 0;
                dtmf_in_audio(&in, at + k / 8, &sample, 1);
            }
        }
    }
    assert_string_equal(heard, "");
}

/* Speech of pocketsphinx-testdata, 16 kHz, to 8 kHz. */
static void listen_to(const char *name)
{
    char path[200];
    (void)snprintf(path, sizeof path,
                   "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-%s", name);
    FILE *f = fopen(path, "rb");
    if (!f)
        skip();
    int16_t wide[320], narrow[160];
    assert_int_equal(fread(wide, 1, 44, f), 44); /* the header of a WAV file */
    for (int64_t at = 0; fread(wide, sizeof *wide, 320, f) == 320; at += 20) {
        for (size_t i = 0; i < 160; i++)
            narrow[i] = g711_ulaw2pcm(g711_pcm2ulaw((int16_t)((wide[2 * i] + wide[2 * i + 1]) / 2)));
        dtmf_in_audio(&in, at, narrow, 160);
    }
    (void)fclose(f);
}

/* bench/keys.c listens to hours of it. */
/* PHONE-41 */
static void test_speech_holds_no_keys(void **state)
{
    (void)state;
    static const char *const names[] = {"0870.wav", "0880.wav", "0890.wav", "0920.wav", "0930.wav"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        listen_to(names[i]);
    assert_string_equal(heard, "");
}

static void test_prompts_differ(void **state)
{
    (void)state;
    for (int p = 0; p < PROMPT_COUNT; p++) {
        for (int q = p + 1; q < PROMPT_COUNT; q++) {
            struct sound a[SOUND_PARTS_MAX] = {0}, b[SOUND_PARTS_MAX] = {0};
            sound_prompt((enum call_prompt)p, a);
            sound_prompt((enum call_prompt)q, b);
            assert_memory_not_equal(a, b, sizeof a);
        }
    }
}

static void test_an_unknown_key_is_silence(void **state)
{
    (void)state;
    assert_null(sound_key('x', 10).samples);
    assert_null(sound_key('\0', 10).samples);
    assert_int_equal(sound_key('x', 10).length, 80);
}

/* ---- INFO ---- */

static bool info(int64_t ms, const char *type, const char *body)
{
    return dtmf_in_info(&in, ms, str_z(type), str_z(body));
}

static void test_info_bodies_are_understood(void **state)
{
    (void)state;
    assert_true(info(0, "application/dtmf-relay", "Signal=5\r\nDuration=160\r\n"));
    assert_true(info(1000, "application/dtmf-relay", "Signal= 6 \nDuration= 160"));
    assert_true(info(2000, "Application/DTMF-Relay", "duration=100\r\nsignal=*"));
    assert_true(info(3000, "application/dtmf-relay", "Signal=11\r\n"));
    assert_true(info(4000, "application/dtmf", "7"));
    assert_true(info(5000, "application/dtmf", " # \r\n"));
    assert_true(info(6000, "application/dtmf", "10"));
    assert_true(info(7000, "application/dtmf", "d"));
    assert_true(info(8000, "application/dtmf", "Signal=1\r\nDuration=100\r\n"));
    assert_true(info(9000, "application/dtmf-info", "Signal=\"2\"\r\n"));
    assert_true(info(10000, "audio/telephone-event", "3\r\n"));
    assert_true(info(11000, "Audio/Telephone-Event", "Signal=4"));
    assert_true(info(12000, "application/dtmf-relay", "5"));
    assert_string_equal(heard, "56*#7#*D12345");
}

static void test_info_bodies_without_a_key_are_refused(void **state)
{
    (void)state;
    assert_false(info(0, "application/dtmf-relay", ""));
    assert_false(info(0, "application/dtmf-relay", "Signal=\r\n"));
    assert_false(info(0, "application/dtmf-relay", "Signal=16\r\n"));
    assert_false(info(0, "application/dtmf-relay", "Signal=55\r\n"));
    assert_false(info(0, "application/dtmf-relay", "55"));
    assert_false(info(0, "application/dtmf-relay", "Signal=\"\"\r\n"));
    assert_false(info(0, "audio/telephone-event", "16"));
    assert_false(info(0, "application/dtmf", "flash"));
    assert_false(info(0, "application/dtmf", ""));
    assert_false(info(0, "application/media_control+xml", "5"));
    assert_string_equal(heard, "");
}

/* ---- several sources at once ---- */

static void test_one_press_from_three_sources_counts_once(void **state)
{
    (void)state;
    unsigned seed = 1;
    for (int i = 0; i < 4; i++) { /* the same key four times, quickly */
        int64_t at = i * 240;
        event(at, true, 1000 + (uint32_t)i * 2000, 5, false, 160);
        play(at, '5', 80, 1, 0, &seed);
        event(at + 100, false, 1000 + (uint32_t)i * 2000, 5, true, 800);
        info(at + 130, "application/dtmf-relay", "Signal=5\r\nDuration=100\r\n");
        play(at + 140, 0, 80, 0, 0, &seed);
    }
    assert_string_equal(heard, "5555");
}

static void test_a_held_key_that_is_reported_at_its_end_counts_once(void **state)
{
    (void)state;
    unsigned seed = 1;
    play(0, '5', 1500, 1, 0, &seed);
    info(1600, "application/dtmf-relay", "Signal=5\r\nDuration=1500\r\n");
    assert_string_equal(heard, "5");
    for (int i = 0; i < 100; i++)
        event(5000 + i * 20, i == 0, 1000, 6, false, (uint16_t)((i + 1) * 160));
    info(7100, "application/dtmf-relay", "Signal=6\r\n");
    assert_string_equal(heard, "56");
}

static void test_different_keys_from_different_sources_all_count(void **state)
{
    (void)state;
    event(0, true, 1000, 1, false, 160);
    info(50, "application/dtmf", "2");
    event(100, true, 3000, 3, false, 160);
    assert_string_equal(heard, "123");
}

static void test_the_same_key_later_from_another_source_is_another_press(void **state)
{
    (void)state;
    press(0, 1000, 1);
    info(1000, "application/dtmf", "1");
    assert_string_equal(heard, "11");
}

static void test_two_presses_by_info_alone_are_two(void **state)
{
    (void)state;
    info(0, "application/dtmf", "1");
    info(10, "application/dtmf", "1");
    assert_string_equal(heard, "11");
}

/* ---- out ---- */

/* Steps through a sequence, one letter a step: M (marker), - (continued), E (end), . (silence). */
static void run_out(struct dtmf_out *out, char *ret, size_t size)
{
    size_t n = 0;
    for (uint32_t ts = 0; dtmf_out_active(out) && n + 1 < size; ts += 160) {
        struct dtmf_packet p;
        bool sent = dtmf_out_next(out, ts, &p);
        ret[n++] = !sent ? '.' : p.payload[1] & 0x80 ? 'E' : p.marker ? 'M' : '-';
    }
    ret[n] = '\0';
}

static void test_events_go_out_with_marker_growth_and_three_ends(void **state)
{
    (void)state;
    struct dtmf_out out;
    char steps[100];
    dtmf_out_start(&out, "9", 100, 100, 0);
    run_out(&out, steps, sizeof steps);
    assert_string_equal(steps, "M----EEE..");
    dtmf_out_start(&out, "9#", 40, 20, 0); /* room for the ends is kept */
    run_out(&out, steps, sizeof steps);
    assert_string_equal(steps, "M-EEEM-EEE");
    dtmf_out_start(&out, "x9y", 41, 79, 0);
    run_out(&out, steps, sizeof steps);
    assert_string_equal(steps, "M--EEE.");
    dtmf_out_start(&out, "9", 40, 60, 50); /* after a pause */
    run_out(&out, steps, sizeof steps);
    assert_string_equal(steps, "...M-EEE");
    dtmf_out_start(&out, "", 100, 100, 0);
    assert_false(dtmf_out_active(&out));
}

static void test_an_event_keeps_its_timestamp_and_grows(void **state)
{
    (void)state;
    struct dtmf_out out;
    struct dtmf_packet p;
    dtmf_out_start(&out, "*", 60, 60, 0);
    for (uint32_t i = 0; i < 6; i++) {
        assert_true(dtmf_out_next(&out, 5000 + i * 160, &p));
        assert_int_equal(p.timestamp, 5000);
        assert_int_equal(p.payload[0], 10);
        assert_int_equal(p.payload[2] << 8 | p.payload[3], i < 3 ? (i + 1) * 160 : 480);
    }
    assert_false(dtmf_out_active(&out));
}

static void test_sent_events_are_received_as_the_same_keys(void **state)
{
    (void)state;
    struct dtmf_out out;
    dtmf_out_start(&out, "11*##0", 40, 40, 0);
    uint32_t ts = UINT32_MAX - 1000;
    for (int64_t ms = 0; dtmf_out_active(&out); ms += 20, ts += 160) {
        struct dtmf_packet p;
        if (dtmf_out_next(&out, ts, &p))
            dtmf_in_event(&in, ms, &(struct rtp_header){.m = p.marker, .ssrc = 1, .ts = p.timestamp}, p.payload,
                          sizeof p.payload);
    }
    assert_string_equal(heard, "11*##0");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, before_each, after_each)
    const struct CMUnitTest tests[] = {
        T(a_press_counts_once_and_at_its_first_packet),
        T(the_same_key_twice_is_two_presses),
        T(any_one_packet_of_a_press_is_enough),
        T(late_packets_of_an_earlier_press_are_dropped),
        T(a_packet_after_the_end_is_the_same_press),
        T(a_long_press_in_segments_counts_once),
        T(a_timestamp_may_move_within_a_press),
        T(a_timestamp_may_never_move),
        T(a_timestamp_may_never_move_without_a_marker),
        T(any_one_packet_tells_presses_of_one_timestamp_apart),
        T(packets_of_one_timestamp_may_come_late_and_twice),
        T(a_key_may_be_held_until_its_duration_wraps),
        T(timestamps_wrap),
        T(a_new_stream_begins_with_a_new_press),
        T(events_that_are_no_key_are_dropped),
        T(every_key_is_heard_at_every_level),
        T(keys_are_heard_once_at_every_twist_of_a_line),
        T(a_key_that_is_pressed_quickly_again_counts_again),
        T(a_key_counts_as_down_until_its_last_event),
        T(a_key_counts_as_down_while_its_tones_go_on),
        T(other_sounds_hold_no_key_down),
        T(noise_and_prompts_are_no_keys),
        T(speech_holds_no_keys),
        T(prompts_differ),
        T(an_unknown_key_is_silence),
        T(info_bodies_are_understood),
        T(info_bodies_without_a_key_are_refused),
        T(one_press_from_three_sources_counts_once),
        T(a_held_key_that_is_reported_at_its_end_counts_once),
        T(different_keys_from_different_sources_all_count),
        T(the_same_key_later_from_another_source_is_another_press),
        T(two_presses_by_info_alone_are_two),
        T(events_go_out_with_marker_growth_and_three_ends),
        T(an_event_keeps_its_timestamp_and_grows),
        T(sent_events_are_received_as_the_same_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
