/* SRTP of a browser's session, between two streams with each other's keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "media/player.h"
#include "webrtc/stream.h"

#define GOOD 500

static struct webrtc_stream ours, theirs;
static _Alignas(16) uint8_t p[WEBRTC_PACKET_MAX];

static void start(bool gcm)
{
    struct webrtc_keys mine = {.gcm = gcm}, other = {.gcm = gcm};
    for (size_t i = 0; i < sizeof mine.mine; i++) {
        mine.mine[i] = other.theirs[i] = (uint8_t)i;
        mine.theirs[i] = other.mine[i] = (uint8_t)(100 + i);
    }
    webrtc_stream_done(&ours);
    webrtc_stream_done(&theirs);
    webrtc_stream_init(&ours, PT_PCMU);
    webrtc_stream_init(&theirs, PT_PCMU);
    assert_true(webrtc_stream_start(&ours, &mine));
    assert_true(webrtc_stream_start(&theirs, &other));
}

static size_t make(struct webrtc_stream *s, uint16_t seq)
{
    static const uint8_t payload[160] = {1, 2, 3};
    const size_t n = webrtc_stream_make(
        s,
        &(struct media_packet){.seq = seq, .ssrc = 1, .timestamp = seq * 160u, .payload = payload, .n = sizeof payload},
        1000, p);
    assert_true(n > RTP_HEADER_SIZE + sizeof payload);
    return n;
}

static struct media_packet taken;

static enum webrtc_taken take(size_t n)
{
    return webrtc_stream_take(&ours, p, n, &taken);
}

/* libre's SRTP would count a wrap of the sequence numbers for a forged packet, and lose all that follow. */
/* PHONE-53 */
static void test_a_forged_packet_loses_none_of_the_later_ones(void **state)
{
    (void)state;
    for (int gcm = 0; gcm < 2; gcm++) {
        start(gcm);
        theirs.mine.relay.newest = 40000;
        size_t n = make(&theirs, 1);
        uint8_t forged[WEBRTC_PACKET_MAX];
        memcpy(forged, p, n);
        assert_int_equal(take(n), WEBRTC_AUDIO);
        forged[2] = 0; /* the sequence number: 5 */
        forged[3] = 5;
        memcpy(p, forged, n);
        assert_int_equal(take(n), WEBRTC_FORGED);
        for (uint16_t i = 0; i < GOOD; i++) {
            n = make(&theirs, (uint16_t)(2 + i));
            assert_int_equal(take(n), WEBRTC_AUDIO);
        }
    }
}

static void test_forged_sources_do_not_shut_out_the_true_one(void **state)
{
    (void)state;
    for (int gcm = 0; gcm < 2; gcm++) {
        start(gcm);
        for (uint32_t i = 0; i < 100; i++) {
            memset(p, 0, sizeof p);
            p[0] = 0x80;
            memcpy(p + 8, &i, sizeof i);
            assert_int_equal(take(200), WEBRTC_FORGED);
        }
        assert_int_equal(take(make(&theirs, 1)), WEBRTC_AUDIO);
    }
}

static void test_a_packet_is_taken_once(void **state)
{
    (void)state;
    start(true);
    const size_t n = make(&theirs, 1);
    uint8_t again[WEBRTC_PACKET_MAX];
    memcpy(again, p, n);
    assert_int_equal(take(n), WEBRTC_AUDIO);
    memcpy(p, again, n);
    assert_int_equal(take(n), WEBRTC_FORGED);
}

/* PHONE-53 */
static void test_the_sources_of_a_browser_are_bounded(void **state)
{
    (void)state;
    start(true);
    for (unsigned i = 0; i < WEBRTC_SOURCES_MAX; i++) {
        theirs.mine.ssrc++;
        assert_int_equal(take(make(&theirs, (uint16_t)(1 + i))), WEBRTC_AUDIO);
    }
    theirs.mine.ssrc++;
    assert_int_equal(take(make(&theirs, 100)), WEBRTC_FORGED);
}

static void test_reports_are_authentic_and_of_no_use(void **state)
{
    (void)state;
    start(false);
    const size_t early = webrtc_stream_report(&theirs, 1000, p); /* before the first packet */
    assert_true(early > 0);
    assert_int_equal(p[1], 201);
    assert_int_equal(take(early), WEBRTC_OTHER);
    (void)make(&theirs, 1);
    const size_t n = webrtc_stream_report(&theirs, 1000, p);
    assert_int_equal(p[1], 200);
    p[n - 1] ^= 1;
    assert_int_equal(take(n), WEBRTC_FORGED);
    assert_int_equal(take(webrtc_stream_report(&theirs, 1000, p)), WEBRTC_OTHER);
}

static void test_packets_out_of_order_are_taken_as_late(void **state)
{
    (void)state;
    start(true);
    uint8_t second[WEBRTC_PACKET_MAX];
    assert_int_equal(take(make(&theirs, 1)), WEBRTC_AUDIO);
    assert_true(taken.begins);
    const size_t n = make(&theirs, 2);
    memcpy(second, p, n);
    assert_int_equal(take(make(&theirs, 3)), WEBRTC_AUDIO);
    assert_false(taken.begins || taken.late);
    const uint32_t third = taken.timestamp;
    memcpy(p, second, n);
    assert_int_equal(take(n), WEBRTC_AUDIO);
    assert_true(taken.late);
    assert_int_equal(third - taken.timestamp, 160);
}

static void test_a_browser_that_numbers_again_is_followed_from_its_second_packet_on(void **state)
{
    (void)state;
    start(true);
    assert_int_equal(take(make(&theirs, 1)), WEBRTC_AUDIO);
    theirs.mine.relay.newest += 5000;
    theirs.mine.relay.on = false;
    assert_int_equal(take(make(&theirs, 2)), WEBRTC_OTHER);
    assert_int_equal(take(make(&theirs, 3)), WEBRTC_AUDIO);
    assert_true(taken.begins);
}

static void test_our_stream_keeps_the_distances_of_theirs(void **state)
{
    (void)state;
    start(true);
    static const struct {
        uint16_t seq;
        bool begins, late;
        int number; /* of ours, from the first on; -1: not sent */
    } packets[] = {{100, true, false, 0},  {101, false, false, 1}, {104, false, false, 4}, {103, false, true, 3},
                   {103, false, true, -1}, {99, false, true, -1},  {9000, true, false, 5}, {8999, false, true, -1}};
    const uint16_t first = (uint16_t)(theirs.mine.relay.newest + 1);
    for (size_t i = 0; i < sizeof packets / sizeof *packets; i++) {
        static const uint8_t payload[160] = {1};
        const struct media_packet packet = {.begins = packets[i].begins,
                                            .late = packets[i].late,
                                            .seq = packets[i].seq,
                                            .ssrc = 1,
                                            .payload = payload,
                                            .n = sizeof payload};
        const size_t n = webrtc_stream_make(&theirs, &packet, 1000, p);
        assert_int_equal(n > 0, packets[i].number >= 0);
        if (n)
            assert_int_equal((uint16_t)(p[2] << 8 | p[3]), (uint16_t)(first + packets[i].number));
    }
}

static void test_short_packets_and_other_formats_are_dropped(void **state)
{
    (void)state;
    start(true);
    for (size_t n = 0; n < 40; n++) {
        memset(p, 0x80, sizeof p);
        assert_int_equal(take(n), WEBRTC_FORGED);
    }
    theirs.pt = PT_PCMA;
    assert_int_equal(take(make(&theirs, 1)), WEBRTC_OTHER);
}

static int tear_down(void **state)
{
    (void)state;
    webrtc_stream_done(&ours);
    webrtc_stream_done(&theirs);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_forged_packet_loses_none_of_the_later_ones),
        cmocka_unit_test(test_forged_sources_do_not_shut_out_the_true_one),
        cmocka_unit_test(test_a_packet_is_taken_once),
        cmocka_unit_test(test_the_sources_of_a_browser_are_bounded),
        cmocka_unit_test(test_reports_are_authentic_and_of_no_use),
        cmocka_unit_test(test_packets_out_of_order_are_taken_as_late),
        cmocka_unit_test(test_a_browser_that_numbers_again_is_followed_from_its_second_packet_on),
        cmocka_unit_test(test_our_stream_keeps_the_distances_of_theirs),
        cmocka_unit_test(test_short_packets_and_other_formats_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
