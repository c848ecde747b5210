/* The SIP user agent, called by the call-box simulator over real sockets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <re/re.h>
#include <rem/rem.h>

#include "call/sound.h"
#include "handset/buzz.h"
#include "sip/fixture.h"

static char tcp[80]; /* the agent, over TCP */

static int set_up(void **state)
{
    agent_set_up(state);
    (void)snprintf(tcp, sizeof tcp, "tcp:%s", sip_address(agent));
    return 0;
}

static int before_each(void **state)
{
    (void)state;
    fake_reset();
    return 0;
}

/* Places a call and compares the simulator's output. */
static void heard(struct buzz_options o, int status, const char *lines)
{
    char *text = NULL, *why = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!o.sip)
        o.sip = sip_address(agent);
    if (!o.handset.delay_ms)
        o.handset.delay_ms = -1;
    int got = buzz_run(&o, out, &why);
    fclose(out);
    if (why)
        fprintf(stderr, "buzz: %s\n", why);
    assert_string_equal(text, lines);
    assert_int_equal(got, status);
    free(text);
    free(why);
}

static void test_a_grant_opens_the_door_at_once(void **state)
{
    (void)state;
    heard((struct buzz_options){.to = FAKE_OPEN}, BUZZ_OPENED, "answered\ntone 9\nhangup\n");
    assert_int_equal(fake.arrived, 1);
}

static void test_the_door_opens_over_tcp(void **state)
{
    (void)state;
    heard((struct buzz_options){.to = FAKE_OPEN, .sip = tcp}, BUZZ_OPENED, "answered\ntone 9\nhangup\n");
}

static void test_the_tone_is_sent_in_band_to_a_peer_without_events(void **state)
{
    (void)state;
    heard((struct buzz_options){.to = FAKE_OPEN, .handset.inband = true}, BUZZ_OPENED, "answered\ntone 9\nhangup\n");
}

static void test_an_unknown_number_is_rejected(void **state)
{
    (void)state;
    heard((struct buzz_options){.to = "+15559999999"}, BUZZ_NOT_OPENED, "rejected 404\n");
    heard((struct buzz_options){.to = "reception"}, BUZZ_NOT_OPENED, "rejected 404\n");
    assert_int_equal(fake.forwarded, 0);
}

static void test_a_code_pressed_as_events_opens(void **state)
{
    (void)state;
    heard((struct buzz_options){.to = FAKE_CODE, .handset.digits = "1234"}, BUZZ_OPENED,
          "answered\ntone 9\ntone #\ntone 0\nhangup\n");
    assert_int_equal(fake.code_count, 1);
    assert_string_equal(fake.codes[0], "1234");
}

static void test_a_code_pressed_in_band_opens(void **state)
{
    (void)state;
    heard((struct buzz_options){.to = FAKE_CODE, .handset.digits = "1234", .handset.inband = true}, BUZZ_OPENED,
          "answered\ntone 9\ntone #\ntone 0\nhangup\n");
    assert_int_equal(fake.code_count, 1);
}

static void test_a_code_pressed_as_info_opens(void **state)
{
    (void)state;
    heard((struct buzz_options){.to = FAKE_CODE, .handset.digits = "1234", .handset.info = true}, BUZZ_OPENED,
          "answered\ntone 9\ntone #\ntone 0\nhangup\n");
    heard((struct buzz_options){.to = FAKE_CODE, .handset.digits = "1234", .handset.info = true, .sip = tcp},
          BUZZ_OPENED, "answered\ntone 9\ntone #\ntone 0\nhangup\n");
    assert_int_equal(fake.code_count, 2);
}

static void test_a_short_code_ends_with_hash_or_silence(void **state)
{
    (void)state;
    heard((struct buzz_options){.to = FAKE_CODE, .handset.digits = "7#"}, BUZZ_OPENED,
          "answered\ntone 9\ntone #\ntone 0\nhangup\n");
    heard((struct buzz_options){.to = FAKE_CODE, .handset.digits = "7"}, BUZZ_OPENED,
          "answered\ntone 9\ntone #\ntone 0\nhangup\n");
    assert_string_equal(fake.codes[0], "7");
    assert_string_equal(fake.codes[1], "7");
}

static void test_a_key_may_be_held_for_longer_than_a_pause(void **state)
{
    (void)state;
    heard((struct buzz_options){.to = FAKE_SILENT, .handset.digits = "1234", .handset.tone_ms = 2200}, BUZZ_OPENED,
          "answered\ntone 9\ntone #\ntone 0\nhangup\n");
    heard(
        (struct buzz_options){
            .to = FAKE_SILENT, .handset.digits = "1234", .handset.tone_ms = 2200, .handset.inband = true},
        BUZZ_OPENED, "answered\ntone 9\ntone #\ntone 0\nhangup\n");
    assert_int_equal(fake.wrong, 0);
}

static void test_three_wrong_codes_forward_the_call(void **state)
{
    (void)state;
    heard(
        (struct buzz_options){.to = FAKE_CODE, .handset.digits = "0000,1111#,2222", .handset.wait_ms = RAW_PATIENCE_MS},
        BUZZ_NOT_OPENED, "answered\nhangup\n");
    assert_int_equal(fake.wrong, 3);
    assert_int_equal(fake.forwarded, 1);
}

static void test_the_second_try_may_be_right(void **state)
{
    (void)state;
    heard((struct buzz_options){.to = FAKE_CODE, .handset.digits = "0000,1234", .handset.wait_ms = RAW_PATIENCE_MS},
          BUZZ_OPENED, "answered\ntone 9\ntone #\ntone 0\nhangup\n");
    assert_int_equal(fake.wrong, 1);
}

static void test_a_forwarded_call_is_recorded_and_ended(void **state)
{
    (void)state;
    heard((struct buzz_options){.to = FAKE_FORWARD}, BUZZ_NOT_OPENED, "answered\nhangup\n");
    assert_int_equal(fake.forwarded, 1);
}

/* CALL-12 */
static void test_the_owner_hears_that_the_line_works(void **state)
{
    (void)state;
    heard((struct buzz_options){.to = FAKE_OWNER, .from = "15551234567"}, BUZZ_NOT_OPENED, "answered\nhangup\n");
    assert_string_equal(fake.from, "+15551234567");
    assert_int_equal(fake.forwarded, 0);
}

static void test_a_failing_store_refuses_the_call(void **state)
{
    (void)state;
    heard((struct buzz_options){.to = FAKE_BROKEN}, BUZZ_NOT_OPENED, "rejected 500\n");
}

static void test_keys_may_interrupt_the_greeting(void **state)
{
    (void)state;
    heard((struct buzz_options){.to = FAKE_CODE, .handset.digits = "1234", .handset.delay_ms = 40}, BUZZ_OPENED,
          "answered\ntone 9\ntone #\ntone 0\nhangup\n");
    assert_string_equal(fake.codes[0], "1234");
}

/* Writes a recording of the keys 1234#. */
static void write_recording(const char *path)
{
    struct aufile *file;
    struct aufile_prm prm = {.srate = SOUND_RATE, .channels = 1, .fmt = AUFMT_S16LE};
    assert_int_equal(aufile_open(&file, &prm, path, AUFILE_WRITE), 0);
    for (const char *key = "1234#"; *key; key++) {
        struct sound s = sound_key(*key, 80);
        static const int16_t silence[640];
        assert_int_equal(aufile_write(file, (const uint8_t *)s.samples, s.length * sizeof(int16_t)), 0);
        assert_int_equal(aufile_write(file, (const uint8_t *)silence, sizeof silence), 0);
    }
    mem_deref(file);
}

static void test_a_recording_opens_the_door(void **state)
{
    (void)state;
    char path[] = "/tmp/portero-buzz-XXXXXX";
    close(mkstemp(path));
    write_recording(path);
    heard((struct buzz_options){.to = FAKE_CODE, .handset.wav = path}, BUZZ_OPENED,
          "answered\ntone 9\ntone #\ntone 0\nhangup\n");
    assert_string_equal(fake.codes[0], "1234");
    assert_int_equal(fake.code_count, 1);
    unlink(path);
}

static void test_lines_may_be_json(void **state)
{
    (void)state;
    heard((struct buzz_options){.to = FAKE_OPEN, .handset.json = true}, BUZZ_OPENED,
          "{\"event\":\"answered\"}\n{\"event\":\"tone\",\"detail\":\"9\"}\n{\"event\":\"hangup\"}\n");
    heard((struct buzz_options){.to = "+15559999999", .handset.json = true}, BUZZ_NOT_OPENED,
          "{\"event\":\"rejected\",\"detail\":\"404\"}\n");
}

static void test_the_simulator_ends_the_call_at_its_time_limit(void **state)
{
    (void)state;
    heard((struct buzz_options){.to = FAKE_CODE, .handset.timeout_ms = 6000}, BUZZ_NOT_OPENED, "answered\ntimeout\n");
}

/* Places a call that must fail with this reason. */
static void fails(struct buzz_options o, const char *why_part)
{
    char *why = NULL;
    FILE *out = tmpfile();
    assert_int_equal(buzz_run(&o, out, &why), BUZZ_FAILED);
    assert_int_equal(ftell(out), 0);
    assert_non_null(strstr(why, why_part));
    fclose(out);
    free(why);
}

static void test_a_call_that_cannot_be_placed_is_explained(void **state)
{
    (void)state;
    fails((struct buzz_options){.to = FAKE_OPEN, .sip = "tcp:127.0.0.1:1", .handset.timeout_ms = 5000}, "no response");
    fails((struct buzz_options){.to = FAKE_OPEN, .sip = "127.0.0.1:1", .handset.timeout_ms = 300}, "no response");
    fails((struct buzz_options){.to = FAKE_OPEN, .sip = "127.0.0.1:99999"}, "HOST:PORT");
    fails((struct buzz_options){.to = FAKE_OPEN, .sip = ""}, "HOST:PORT");
    fails((struct buzz_options){.to = FAKE_OPEN, .sip = "no-such-host.invalid:5060"}, "host not found");
    fails((struct buzz_options){.to = FAKE_OPEN, .sip = tcp, .handset.wav = "/nowhere.wav"}, "WAV");
}

static void test_a_host_name_is_resolved(void **state)
{
    (void)state;
    char by_name[80];
    (void)snprintf(by_name, sizeof by_name, "localhost:%s;transport=tcp", strrchr(sip_address(agent), ':') + 1);
    heard((struct buzz_options){.to = FAKE_OPEN, .sip = by_name}, BUZZ_OPENED, "answered\ntone 9\nhangup\n");
}

static void test_an_address_in_use_is_explained(void **state)
{
    (void)state;
    struct config second = agent_config;
    struct sip_agent *a = NULL;
    char *why = NULL;
    second.listen_sip = sip_address(agent);
    assert_int_equal(sip_start(&second, NULL, NULL, &a, &why), ERR_USAGE);
    assert_non_null(strstr(why, "Address already in use"));
    free(why);
    second.listen_sip = "nowhere";
    assert_int_equal(sip_start(&second, NULL, NULL, &a, &why), ERR_USAGE);
    assert_non_null(strstr(why, "nowhere"));
    free(why);
    second.listen_sip = "127.0.0.1:0";
    second.listen_webrtc = sip_address(agent);
    assert_int_equal(sip_start(&second, NULL, NULL, &a, &why), ERR_USAGE);
    assert_non_null(strstr(why, "listen.webrtc"));
    assert_non_null(strstr(why, "Address already in use"));
    free(why);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(test_##name, before_each)
    const struct CMUnitTest tests[] = {
        T(a_grant_opens_the_door_at_once),
        T(the_door_opens_over_tcp),
        T(the_tone_is_sent_in_band_to_a_peer_without_events),
        T(an_unknown_number_is_rejected),
        T(a_code_pressed_as_events_opens),
        T(a_code_pressed_in_band_opens),
        T(a_code_pressed_as_info_opens),
        T(a_short_code_ends_with_hash_or_silence),
        T(a_key_may_be_held_for_longer_than_a_pause),
        T(three_wrong_codes_forward_the_call),
        T(the_second_try_may_be_right),
        T(a_forwarded_call_is_recorded_and_ended),
        T(the_owner_hears_that_the_line_works),
        T(a_failing_store_refuses_the_call),
        T(keys_may_interrupt_the_greeting),
        T(a_recording_opens_the_door),
        T(lines_may_be_json),
        T(the_simulator_ends_the_call_at_its_time_limit),
        T(a_call_that_cannot_be_placed_is_explained),
        T(a_host_name_is_resolved),
        T(an_address_in_use_is_explained),
    };
    return cmocka_run_group_tests(tests, set_up, agent_tear_down);
}
