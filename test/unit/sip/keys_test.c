/* Keys as call boxes send them, through a whole call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "sip/fixture.h"

static struct raw r;

static int set_up(void **state)
{
    agent_config.voice_any_events = *state;
    agent_set_up(state);
    raw_open(&r, sip_address(agent));
    return 0;
}

static int tear_down(void **state)
{
    raw_close(&r);
    return agent_tear_down(state);
}

/* Our RTP stream. */
static struct {
    int port;
    uint16_t seq;
    uint8_t pt;
} stream;

static void begin(void)
{
    raw_invite(&r, FAKE_SILENT);
    assert_int_equal(raw_final(&r), 200);
    stream.port = raw_media_port(&r);
    stream.seq = UINT16_MAX - 3;
    stream.pt = 96;
}

static void acknowledge(void)
{
    raw_request(&r, "ACK", FAKE_SILENT, 1, "", "");
}

static void event_at(uint16_t seq, uint32_t timestamp, uint8_t code, bool end, unsigned duration)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    at.sin_port = htons((uint16_t)stream.port);
    const uint8_t packet[] = {0x80,
                              stream.pt,
                              (uint8_t)(seq >> 8),
                              (uint8_t)seq,
                              (uint8_t)(timestamp >> 24),
                              (uint8_t)(timestamp >> 16),
                              (uint8_t)(timestamp >> 8),
                              (uint8_t)timestamp,
                              1,
                              2,
                              3,
                              4,
                              code,
                              end ? 0x8a : 0x0a,
                              (uint8_t)(duration >> 8),
                              (uint8_t)duration};
    assert_int_equal(sendto(r.rtp, packet, sizeof packet, 0, (struct sockaddr *)&at, sizeof at), sizeof packet);
}

static void event(uint32_t timestamp, uint8_t code, bool end, unsigned duration)
{
    event_at(++stream.seq, timestamp, code, end, duration);
}

/* Holds a key down, packets 50 ms apart, without the marker. */
static void hold(uint32_t timestamp, uint8_t code, int ms)
{
    for (int at = 0; at < ms; at += 50) {
        event(timestamp, code, false, (unsigned)at * 8);
        usleep(50000);
    }
    for (int i = 0; i < 3; i++)
        event(timestamp, code, true, (unsigned)ms * 8);
    usleep(50000);
}

static void test_a_key_that_is_held_for_3_s_is_one_key(void **state)
{
    (void)state;
    begin();
    acknowledge();
    hold(1000, 1, 3000);
    for (uint8_t key = 2; key <= 4; key++)
        hold(1000 + 30000u * key, key, 100);
    wait_for_codes(1);
    assert_string_equal(fake.codes[0], "1234");
}

/* PHONE-39 */
static void test_keys_may_all_have_one_timestamp(void **state)
{
    (void)state;
    begin();
    acknowledge();
    hold(1000, 5, 100);
    hold(1000, 5, 100);
    hold(1000, 1, 100);
    hold(1000, 1, 100);
    wait_for_codes(1);
    assert_string_equal(fake.codes[0], "5511");
}

/* PHONE-38 */
static void test_keys_that_overtake_each_other_are_the_code_that_was_pressed(void **state)
{
    (void)state;
    begin();
    acknowledge();
    hold(30000, 1, 100);
    for (uint8_t key = 4; key >= 2; key--) /* a packet of each key, before the packets that were sent before it */
        event_at((uint16_t)(stream.seq + key), 30000u * key, key, true, 800);
    event_at((uint16_t)(stream.seq + 1), 30000, 1, true, 800);
    wait_for_codes(1);
    assert_string_equal(fake.codes[0], "1234");
}

static void test_a_key_after_a_packet_that_never_comes_counts(void **state)
{
    (void)state;
    begin();
    acknowledge();
    for (uint8_t key = 1; key <= 4; key++) {
        stream.seq++;
        hold(30000u * key, key, 100);
    }
    stream.seq++;
    wait_for_codes(1);
    assert_string_equal(fake.codes[0], "1234");
}

/* PHONE-14 */
static void test_keys_before_the_acknowledgement_count_once_it_came(void **state)
{
    (void)state;
    begin();
    for (uint8_t key = 1; key <= 4; key++)
        hold(30000u * key, key, 100);
    assert_int_equal(fake_count(&fake.code_count), 0);
    assert_int_equal(raw_count_rtp(&r, 200), 0); /* nothing opens, nothing is sent */
    acknowledge();
    wait_for_codes(1);
    assert_string_equal(fake.codes[0], "1234");
}

/* PHONE-40 */
static void test_events_of_a_type_that_was_not_negotiated_are_a_setting(void **state)
{
    begin();
    acknowledge();
    stream.pt = 101;
    hold(30000, 7, 100);
    stream.pt = 96;
    for (uint8_t key = 1; key <= 4; key++)
        hold(60000u * (key + 1), key, 100);
    wait_for_codes(1);
    assert_string_equal(fake.codes[0], *state ? "7123" : "1234");
}

int main(void)
{
#define T(name, ...)                                                                                                   \
    {                                                                                                                  \
#name, test_##name, set_up, tear_down, __VA_ARGS__                                                             \
    }
    static bool on = true;
    const struct CMUnitTest tests[] = {
        T(a_key_that_is_held_for_3_s_is_one_key, NULL),
        T(keys_may_all_have_one_timestamp, NULL),
        T(keys_that_overtake_each_other_are_the_code_that_was_pressed, NULL),
        T(a_key_after_a_packet_that_never_comes_counts, NULL),
        T(keys_before_the_acknowledgement_count_once_it_came, NULL),
        T(events_of_a_type_that_was_not_negotiated_are_a_setting, NULL),
        T(events_of_a_type_that_was_not_negotiated_are_a_setting, &on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
