/* Forwarded calls whose telephone returns what it hears: no key of the visitor's acts as one of the resident's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <re/re.h>
#include <rem/rem.h>

#include "call/sound.h"
#include "sip/forward_scene.h"

#define FRAME_MS  20
#define TONE_MS   200
#define LOUD      1000 /* a sample of a key's tone, as no silence has */
#define LEAKED_MS 60   /* until a decoder has heard a key: three packets */

static const char EVENTS[] = " 97\r\na=rtpmap:97 telephone-event/8000";

static struct raw_phone phone;
static unsigned sequence = 5000; /* of the last packet */
static int box_port;             /* of the service's RTP for the visitor */

/* The phone's SDP, with or without events, in this codec. */
static const char *sdp_of(int codec, bool events)
{
    static char text[512];
    (void)snprintf(
        text, sizeof text,
        "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio %d RTP/AVP %d%s\r\n",
        trunk.rtp_port, codec, events ? EVENTS : "");
    return text;
}

static void begin_conversation(int codec, bool events)
{
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, &phone, FIRST));
    trunk_respond(&trunk, phone.invite, 200, "", sdp_of(codec, events));
    box_port = visitor_answered();
    audio_passes(r.rtp, box_port, 0, 0xfe, trunk.rtp, (uint8_t)codec,
                 codec ? g711_pcm2alaw(g711_ulaw2pcm(0xfe)) : 0xfe);
}

/* The frame of a key's tone, or of silence, at a place in a stream. */
static void frame_of(char key, unsigned at, int codec, uint8_t ret[static 160])
{
    const struct sound s = sound_key(key, TONE_MS);
    for (unsigned i = 0; i < 160; i++) {
        const int16_t v = s.samples ? s.samples[(at * 160 + i) % s.loop] : 0;
        ret[i] = codec ? g711_pcm2alaw(v) : g711_pcm2ulaw(v);
    }
}

static bool is_loud(const uint8_t *payload, int codec)
{
    int peak = 0;
    for (int i = 0; i < 160; i++) {
        const int v = codec ? g711_alaw2pcm(payload[i]) : g711_ulaw2pcm(payload[i]);
        peak = abs(v) > peak ? abs(v) : peak;
    }
    return peak > LOUD;
}

/* For `ms` the visitor presses `key`, in packets of 20 ms; the phone sends each packet back that it hears, or if it
 * presses `own`, that. Returns for how many ms it heard a loud sound. */
static int converse(char key, char own, int ms, int codec)
{
    int loud = 0;
    for (int at = 0; at < ms; at += FRAME_MS) {
        uint8_t frame[160], packet[2048];
        frame_of(key, (unsigned)at / FRAME_MS, 0, frame);
        raw_rtp(r.rtp, box_port, ++sequence, 0, frame);
        struct pollfd p = {.fd = trunk.rtp, .events = POLLIN};
        while (poll(&p, 1, FRAME_MS) > 0 && recv(trunk.rtp, packet, sizeof packet, 0) == 172) {
            loud += FRAME_MS * is_loud(packet + 12, codec);
            if (own)
                frame_of(own, (unsigned)at / FRAME_MS, codec, packet + 12);
            raw_rtp(trunk.rtp, phone_media_port(&phone), ++sequence, (uint8_t)codec, packet + 12);
            if (own)
                break;
        }
    }
    return loud;
}

static bool opens(int wait_ms)
{
    return raw_heard_key(r.rtp, 96, wait_ms) == '5';
}

static void other_sounds_pass(int codec)
{
    uint8_t frame[160];
    memset(frame, 0x10, sizeof frame);
    raw_rtp(r.rtp, box_port, ++sequence, 0, frame);
    assert_true(
        raw_hears(trunk.rtp, (uint8_t)codec, codec ? g711_pcm2alaw(g711_ulaw2pcm(0x10)) : 0x10, RAW_PATIENCE_MS));
}

/* PHONE-43 */
static void test_the_tone_of_a_visitors_key_is_muted(void **state)
{
    (void)state;
    for (int codec = 0; codec <= 8; codec += 8) {
        begin_conversation(codec, true);
        const int loud = converse('9', 0, 1000, codec);
        assert_in_range(loud, FRAME_MS, LEAKED_MS);
        (void)converse(0, 0, 100, codec);
        other_sounds_pass(codec);
        hang_up_and_end(&phone);
        next_visitor();
    }
}

static void test_a_visitors_key_that_comes_back_does_not_open(void **state)
{
    (void)state;
    for (int n = 0; n < 4; n++) {
        const int codec = n % 2 ? 8 : 0;
        begin_conversation(codec, n > 1);
        for (int times = 0; times < 3; times++) {
            (void)converse('9', 0, TONE_MS, codec);
            (void)converse(0, 0, 200, codec);
        }
        (void)converse('*', 0, TONE_MS, codec); /* does not end the call */
        assert_false(opens(300));
        usleep(1100 * 1000);
        if (n > 1)
            phone_presses(&phone, 9);
        else
            (void)converse(0, '9', TONE_MS, codec);
        assert_true(opens(RAW_PATIENCE_MS));
        hang_up_and_end(&phone);
        next_visitor();
    }
}

/* PHONE-42 */
static void test_the_residents_event_opens_while_the_visitor_presses_the_same_key(void **state)
{
    (void)state;
    begin_conversation(0, true);
    (void)converse('9', 0, TONE_MS, 0);
    phone_presses(&phone, 9);
    assert_true(opens(RAW_PATIENCE_MS));
    hang_up_and_end(&phone);
}

static void test_tones_are_no_keys_where_events_were_negotiated(void **state)
{
    (void)state;
    begin_conversation(0, true);
    (void)converse(0, '9', TONE_MS, 0);
    assert_false(opens(300));
    hang_up_and_end(&phone);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_the_tone_of_a_visitors_key_is_muted),
        TEST(test_a_visitors_key_that_comes_back_does_not_open),
        TEST(test_the_residents_event_opens_while_the_visitor_presses_the_same_key),
        TEST(test_tones_are_no_keys_where_events_were_negotiated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
