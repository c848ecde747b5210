/* The destination of a call's audio: the caller, never a third party that is only named in SDP. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "sip/fixture.h"

#define OTHER "127.0.0.9"

static struct raw r, other; /* the caller; another host with the same RTP port */

static int rtp_at(const char *host, int port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = inet_addr(host)};
    at.sin_port = htons((uint16_t)port);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

static int set_up(void **state)
{
    agent_set_up(state);
    raw_open(&r, sip_address(agent));
    raw_open_at(&other, OTHER, sip_address(agent));
    close(other.rtp);
    other.rtp_port = r.rtp_port;
    other.rtp = rtp_at(OTHER, other.rtp_port);
    return 0;
}

/* One port for audio. */
static int set_up_one_port(void **state)
{
    int port;
    do
        port = 20000 + 2 * (rand_u16() % 10000);
    while (!raw_ports_are_free(port, 2));
    agent_config.voice_rtp_port_low = port;
    agent_config.voice_rtp_port_high = port + 1;
    return set_up(state);
}

static int tear_down(void **state)
{
    raw_close(&r);
    raw_close(&other);
    return agent_tear_down(state);
}

/* Places a call whose SDP names that host. Returns our RTP port. */
static int establish(const char *number, const char *host)
{
    raw_request(&r, "INVITE", number, 1, RAW_SDP, raw_offer_at(&r, host, "sendrecv"));
    assert_int_equal(raw_final(&r), 200);
    int port = raw_media_port(&r);
    raw_request(&r, "ACK", number, 1, "", "");
    return port;
}

static void info(unsigned cseq, const char *body)
{
    raw_request(&r, "INFO", FAKE_CODE, cseq, "Content-Type: application/dtmf-relay\r\n", body);
    assert_int_equal(raw_final(&r), 200);
}

/* PHONE-33 */
static void test_a_host_that_is_only_named_gets_nothing(void **state)
{
    (void)state;
    establish(FAKE_CODE, OTHER);
    assert_true(raw_hears_rtp(&r)); /* as a call box behind NAT would */
    raw_request(&r, "INVITE", FAKE_CODE, 2, RAW_SDP, raw_offer_at(&r, "127.0.0.10", "sendrecv"));
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "ACK", FAKE_CODE, 2, "", "");
    raw_request(&r, "INVITE", FAKE_CODE, 3, RAW_SDP, raw_offer_at(&r, OTHER, "sendrecv"));
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "ACK", FAKE_CODE, 3, "", "");
    info(4, "Signal=7\r\n");
    assert_true(raw_hears_rtp(&r));
    assert_int_equal(raw_count_rtp(&other, 300), 0);
}

/* PHONE-33 */
static void test_a_named_host_that_sends_audio_gets_ours(void **state)
{
    (void)state;
    int port = establish(FAKE_CODE, OTHER);
    raw_press(other.rtp, port, 1000, 7);
    assert_true(raw_hears_rtp(&other));
    assert_true(raw_falls_silent(&r, 150));
    raw_press(r.rtp, port, 2000, 9); /* another source is too late */
    raw_press(other.rtp, port, 3000, 11);
    wait_for_codes(1);
    assert_string_equal(fake.codes[0], "7");
}

static enum access_audio decided_audio(void)
{
    pthread_mutex_lock(&fake.lock);
    const enum access_audio audio = fake.audio;
    pthread_mutex_unlock(&fake.lock);
    return audio;
}

static const struct {
    const char *host, *direction;
    enum access_audio audio;
} boxes[] = {{"127.0.0.1", "sendonly", AUDIO_REFUSED}, {"127.0.0.1", "inactive", AUDIO_REFUSED},
             {"0.0.0.0", "sendrecv", AUDIO_REFUSED},   {"doorbell.invalid", "sendrecv", AUDIO_REFUSED},
             {"127.0.0.1", "recvonly", AUDIO_TAKEN},   {"127.0.0.1", "sendrecv", AUDIO_TAKEN}};

static void end_call(void)
{
    raw_request(&r, "BYE", FAKE_CODE, 2, "", "");
    assert_int_equal(raw_final(&r), 200);
    wait_for_calls(0);
    raw_close(&r);
    raw_open(&r, sip_address(agent));
}

static void test_a_call_that_takes_no_audio_is_decided_as_such(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(boxes); i++) {
        raw_request(&r, "INVITE", FAKE_CODE, 1, RAW_SDP, raw_offer_at(&r, boxes[i].host, boxes[i].direction));
        assert_int_equal(raw_final(&r), 200);
        assert_int_equal(decided_audio(), boxes[i].audio);
        raw_request(&r, "ACK", FAKE_CODE, 1, "", "");
        end_call();
    }
}

/* PHONE-17 */
static void test_a_call_whose_sdp_comes_in_its_ack_opens_only_if_it_takes_audio(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(boxes); i++) {
        fake_reset();
        raw_request(&r, "INVITE", FAKE_OPEN, 1, "", "");
        assert_int_equal(raw_final(&r), 200);
        assert_int_equal(fake_count(&fake.opened), 0);
        raw_request(&r, "ACK", FAKE_OPEN, 1, RAW_SDP, raw_offer_at(&r, boxes[i].host, boxes[i].direction));
        wait_for_decisions(2);
        assert_int_equal(fake_count(&fake.opened), boxes[i].audio == AUDIO_TAKEN);
        if (boxes[i].audio == AUDIO_TAKEN)
            assert_true(raw_hears_rtp(&r));
        end_call();
    }
}

/* PHONE-17 */
static void test_a_call_without_sdp_in_its_ack_opens_nothing(void **state)
{
    (void)state;
    raw_request(&r, "INVITE", FAKE_OPEN, 1, "", "");
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "ACK", FAKE_OPEN, 1, "", "");
    wait_for_calls(0);
    assert_int_equal(fake_count(&fake.opened), 0);
}

/* CALL-14 */
static void test_a_code_of_a_call_on_hold_is_decided_as_one_way(void **state)
{
    (void)state;
    establish(FAKE_CODE, r.host);
    assert_true(raw_hears_rtp(&r));
    raw_request(&r, "INVITE", FAKE_CODE, 2, RAW_SDP, raw_offer(&r, "sendonly"));
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "ACK", FAKE_CODE, 2, "", "");
    assert_int_equal(decided_audio(), AUDIO_TAKEN);
    info(3, "Signal=7\r\n");
    info(4, "Signal=11\r\n");
    wait_for_codes(1);
    assert_int_equal(decided_audio(), AUDIO_REFUSED);
}

static void test_a_host_that_was_not_named_cannot_take_the_audio(void **state)
{
    (void)state;
    int port = establish(FAKE_CODE, r.host);
    assert_true(raw_hears_rtp(&r));
    raw_press(other.rtp, port, 1000, 9);
    assert_int_equal(raw_count_rtp(&other, 300), 0);
    assert_true(raw_hears_rtp(&r));
}

/* The first box did not hear that its call is over, and sends on. The next one only listens. */
/* PHONE-34 */
static void test_audio_of_a_call_that_is_over_does_not_take_the_next_one(void **state)
{
    (void)state;
    struct raw next;
    const int port = establish(FAKE_CODE, r.host);
    assert_true(raw_hears_rtp(&r));
    raw_request(&r, "BYE", FAKE_CODE, 2, "", "");
    assert_int_equal(raw_final(&r), 200);
    wait_for_calls(0);
    for (uint32_t i = 0; i < 10; i++, usleep(20000))
        raw_press(r.rtp, port, 1000 * i, 9);
    raw_open(&next, sip_address(agent));
    raw_invite(&next, FAKE_CODE);
    assert_int_equal(raw_final(&next), 200);
    assert_int_equal(raw_media_port(&next), port);
    raw_request(&next, "ACK", FAKE_CODE, 1, "", "");
    assert_true(raw_hears_rtp(&next));
    assert_true(raw_falls_silent(&r, 150));
    raw_press(r.rtp, port, 20000, 9);
    raw_press(r.rtp, port, 21000, 11);
    assert_int_equal(raw_count_rtp(&r, 300), 0);
    raw_press(next.rtp, port, 1000, 7);
    raw_press(next.rtp, port, 2000, 11);
    wait_for_codes(1);
    assert_string_equal(fake.codes[0], "7");
    raw_close(&next);
}

/* PHONE-34 */
static void test_the_address_of_the_sdp_takes_the_call_back(void **state)
{
    (void)state;
    struct raw late;
    const int port = establish(FAKE_CODE, r.host);
    raw_open(&late, sip_address(agent));
    raw_press(late.rtp, port, 9000, 16); /* no key */
    assert_true(raw_hears_rtp(&late));
    raw_press(r.rtp, port, 1000, 7);
    assert_true(raw_falls_silent(&late, 150));
    assert_true(raw_hears_rtp(&r));
    raw_press(late.rtp, port, 10000, 9);
    raw_press(r.rtp, port, 2000, 11);
    wait_for_codes(1);
    assert_string_equal(fake.codes[0], "7");
    raw_close(&late);
}

/* Whether a packet of an event arrives. */
static bool hears_event(struct raw *caller)
{
    uint8_t packet[2048];
    struct pollfd p = {.fd = caller->rtp, .events = POLLIN};
    while (poll(&p, 1, RAW_PATIENCE_MS) > 0)
        if (recv(caller->rtp, packet, sizeof packet, 0) > 12 && (packet[1] & 0x7f) == 96)
            return true;
    return false;
}

/* PHONE-33 */
static void test_a_box_that_sends_no_audio_hears_the_release_tone(void **state)
{
    (void)state;
    establish(FAKE_CODE, "192.0.2.7"); /* behind NAT, and silent */
    assert_true(raw_falls_silent(&r, 500));
    info(2, "Signal=7\r\n");
    info(3, "Signal=#\r\n");
    assert_true(hears_event(&r));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_host_that_is_only_named_gets_nothing),
        T(a_named_host_that_sends_audio_gets_ours),
        T(a_host_that_was_not_named_cannot_take_the_audio),
        T(a_call_that_takes_no_audio_is_decided_as_such),
        T(a_call_whose_sdp_comes_in_its_ack_opens_only_if_it_takes_audio),
        T(a_call_without_sdp_in_its_ack_opens_nothing),
        T(a_code_of_a_call_on_hold_is_decided_as_one_way),
        T(the_address_of_the_sdp_takes_the_call_back),
        T(a_box_that_sends_no_audio_hears_the_release_tone),
        cmocka_unit_test_setup_teardown(test_audio_of_a_call_that_is_over_does_not_take_the_next_one, set_up_one_port,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
