/* Packets that the network delivers in another order, twice or not at all, and streams that begin again: keys and audio
 * are heard in the order in which they were sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <re/re.h>

#include "media/dtmf.h"
#include "media/order.h"

#define SSRC        0xdecafbad
#define EVENT       4 /* bytes */
#define PACKETS_MAX 200
#define STEP_MS     20

static char heard[256];
static size_t heard_count;
static uint16_t audio[PACKETS_MAX]; /* numbers, as reported */
static size_t audio_count;
static struct dtmf_in in;
static struct order order;

static void on_key(char key, void *arg)
{
    (void)arg;
    if (heard_count + 1 < sizeof heard)
        heard[heard_count++] = key;
    heard[heard_count] = '\0';
}

static void on_content(int64_t came_ms, const struct rtp_header *h, const struct order_content *c, void *arg)
{
    if (c->event) {
        dtmf_in_event(arg, came_ms, h, c->payload, c->n);
    } else if (audio_count < PACKETS_MAX) {
        assert_int_equal(c->payload[0], (uint8_t)h->ts);
        audio[audio_count++] = h->seq;
    }
}

static int before_each(void **state)
{
    (void)state;
    heard[heard_count = 0] = '\0';
    audio_count = 0;
    order = (struct order){.on_content = on_content, .arg = &in};
    return !dtmf_in_init(&in, on_key, NULL);
}

static int after_each(void **state)
{
    (void)state;
    order_done(&order);
    dtmf_in_done(&in);
    return 0;
}

/* ---- a sender ---- */

struct packet {
    int64_t at_ms;
    struct rtp_header h;
    bool event;
    uint8_t payload[EVENT];
};

struct sender {
    int64_t at_ms;
    uint16_t seq;
    uint32_t timestamp, ssrc;
    struct packet sent[PACKETS_MAX];
    size_t n;
};

static void send_packet(struct sender *s, const uint8_t *event, uint32_t timestamp)
{
    struct packet *p = &s->sent[s->n++];
    *p = (struct packet){.at_ms = s->at_ms, .h = {.seq = s->seq++, .ssrc = s->ssrc, .ts = timestamp}, .event = event};
    if (event)
        memcpy(p->payload, event, EVENT);
    else
        p->payload[0] = (uint8_t)timestamp;
    s->at_ms += STEP_MS;
    s->timestamp += 160;
}

static void send_audio(struct sender *s, int n)
{
    while (n-- > 0)
        send_packet(s, NULL, s->timestamp);
}

/* A press of `n` packets, the last three of them ends, and audio after it. */
static void send_key(struct sender *s, uint8_t code, int n, int pause)
{
    const uint32_t timestamp = s->timestamp;
    for (int i = 0; i < n; i++) {
        const uint16_t duration = (uint16_t)((i < n - 3 ? i + 1 : n - 3) * 160);
        send_packet(s, (const uint8_t[]){code, i < n - 3 ? 10 : 0x8a, (uint8_t)(duration >> 8), (uint8_t)duration},
                    timestamp);
    }
    send_audio(s, pause);
}

static enum order_place take(const struct packet *p)
{
    const enum order_place place = order_find(&order, &p->h);
    if (place != ORDER_STRAY)
        order_take(&order, p->at_ms, &p->h,
                   &(struct order_content){.payload = p->payload, .n = EVENT, .event = p->event});
    return place;
}

static void take_all(const struct sender *s)
{
    for (size_t i = 0; i < s->n; i++)
        take(&s->sent[i]);
}

static int by_time(const void *a, const void *b)
{
    const struct packet *const x = a, *const y = b;
    return x->at_ms < y->at_ms ? -1 : x->at_ms > y->at_ms;
}

/* ---- the order ---- */

static void test_a_key_is_reported_at_once_if_nothing_is_missing_before_it(void **state)
{
    (void)state;
    struct sender s = {.seq = UINT16_MAX - 3, .ssrc = SSRC};
    send_audio(&s, 5);
    send_key(&s, 1, 4, 2);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(take(&s.sent[i]), i ? ORDER_NEXT : ORDER_BEGINS);
    assert_string_equal(heard, "1");
    assert_false(order_waits(&order));
}

static void test_a_key_that_was_overtaken_keeps_its_place(void **state)
{
    (void)state;
    struct sender s = {.seq = UINT16_MAX - 3, .timestamp = UINT32_MAX - 900, .ssrc = SSRC};
    send_audio(&s, 2);
    send_key(&s, 1, 4, 0);
    send_key(&s, 2, 4, 0);
    take(&s.sent[0]);
    take(&s.sent[1]);
    for (size_t i = 6; i < 10; i++) {
        s.sent[i].at_ms = 100;
        assert_int_equal(take(&s.sent[i]), ORDER_NEXT);
    }
    assert_string_equal(heard, "");
    assert_true(order_waits(&order));
    for (size_t i = 2; i < 6; i++) {
        s.sent[i].at_ms = 150;
        assert_int_equal(take(&s.sent[i]), ORDER_LATE);
    }
    assert_string_equal(heard, "12");
    assert_false(order_waits(&order));
}

/* Each packet is up to ORDER_WAIT_MS late, and some come twice. */
/* PHONE-38 */
static void test_keys_are_heard_as_pressed_in_whatever_order_their_packets_come(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 5000; seed++) {
        unsigned r = seed;
        struct sender s = {.seq = (uint16_t)rand_r(&r), .timestamp = UINT32_MAX - 2000, .ssrc = SSRC};
        after_each(NULL);
        before_each(NULL);
        if (seed % 4 == 0)
            s.seq = UINT16_MAX - 20;
        send_audio(&s, 1);
        for (const char *key = "1123"; *key; key++)
            send_key(&s, (uint8_t)(*key - '0'), 3 + rand_r(&r) % 3, rand_r(&r) % 3);
        for (size_t i = 1, n = s.n; i < n; i++) {
            if (rand_r(&r) % 4 == 0) {
                s.sent[s.n] = s.sent[i];
                s.sent[s.n++].at_ms += rand_r(&r) % 150;
            }
            s.sent[i].at_ms += rand_r(&r) % ORDER_WAIT_MS;
        }
        qsort(s.sent, s.n, sizeof *s.sent, by_time);
        take_all(&s);
        order_tick(&order, s.at_ms + 2 * ORDER_WAIT_MS);
        assert_string_equal(heard, "1123");
        assert_false(order_waits(&order));
    }
}

/* PHONE-38 */
static void test_a_key_waits_for_a_lost_packet_no_longer_than_it_must(void **state)
{
    (void)state;
    struct sender s = {.seq = 7, .ssrc = SSRC};
    send_audio(&s, 3);
    send_key(&s, 1, 4, 0);
    take(&s.sent[0]);
    take(&s.sent[1]);
    take(&s.sent[3]);
    const int64_t came_ms = s.sent[3].at_ms;
    order_tick(&order, came_ms + ORDER_WAIT_MS - 1);
    assert_string_equal(heard, "");
    order_tick(&order, came_ms + ORDER_WAIT_MS);
    assert_string_equal(heard, "1");
}

static void test_a_key_that_comes_after_the_wait_is_dropped(void **state)
{
    (void)state;
    struct sender s = {.seq = 7, .timestamp = 90000, .ssrc = SSRC};
    send_audio(&s, 1);
    send_key(&s, 1, 4, 1);
    send_key(&s, 2, 4, 10);
    for (size_t i = 0; i < s.n; i++)
        if (i < 1 || i > 4)
            take(&s.sent[i]);
    assert_string_equal(heard, "2");
    for (size_t i = 1; i < 5; i++)
        assert_int_equal(take(&s.sent[i]), ORDER_LATE);
    assert_string_equal(heard, "2");
}

static void test_more_missing_packets_than_are_kept_are_not_waited_for(void **state)
{
    (void)state;
    struct sender s = {.seq = 65500, .ssrc = SSRC};
    send_audio(&s, 2);
    s.seq += 2 * ORDER_PACKETS;
    send_key(&s, 5, 4, 0);
    take_all(&s);
    assert_string_equal(heard, "5");
}

/* ---- audio ---- */

static void expect_audio(const struct sender *s, size_t from, size_t to)
{
    assert_int_equal(audio_count, to - from);
    for (size_t i = from; i < to; i++)
        assert_int_equal((uint16_t)(audio[i - from] - order.offset), s->sent[i].h.seq);
}

/* PHONE-37 */
static void test_audio_is_heard_as_sent_in_whatever_order_its_packets_come(void **state)
{
    (void)state;
    struct sender s = {.seq = UINT16_MAX - 20, .timestamp = 77, .ssrc = SSRC};
    send_audio(&s, 100);
    for (size_t i = 0; i < s.n; i++) { /* of each five packets the third goes after the fourth */
        const size_t at = i % 5 == 2 ? i + 1 : i % 5 == 3 ? i - 1 : i;
        assert_int_equal(take(&s.sent[at]), i == 0 ? ORDER_BEGINS : i % 5 == 3 ? ORDER_LATE : ORDER_NEXT);
    }
    expect_audio(&s, 0, s.n);
}

static void test_audio_waits_for_nothing_if_nothing_is_missing_before_it(void **state)
{
    (void)state;
    struct sender s = {.seq = UINT16_MAX - 3, .ssrc = SSRC};
    send_audio(&s, 10);
    for (size_t i = 0; i < s.n; i++) {
        take(&s.sent[i]);
        assert_int_equal(audio_count, i + 1);
    }
}

static void test_audio_after_a_lost_packet_waits_as_long_as_it_must_and_what_comes_later_is_dropped(void **state)
{
    (void)state;
    struct sender s = {.seq = 7, .ssrc = SSRC};
    send_audio(&s, 4);
    take(&s.sent[0]);
    take(&s.sent[2]);
    take(&s.sent[3]);
    assert_int_equal(audio_count, 1);
    order_tick(&order, s.sent[2].at_ms + ORDER_WAIT_MS - 1);
    assert_int_equal(audio_count, 1);
    order_tick(&order, s.sent[2].at_ms + ORDER_WAIT_MS);
    assert_int_equal(audio_count, 3);
    assert_int_equal(take(&s.sent[1]), ORDER_LATE);
    assert_int_equal(audio_count, 3);
}

/* ---- streams that begin again ---- */

static const struct restart {
    int seq;
    int32_t timestamp;
    uint32_t ssrc;
} restarts[] = {
    {.seq = -20000},
    {.seq = 20000},
    {.timestamp = -1500000000},
    {.timestamp = 1500000000},
    {.seq = -20000, .timestamp = -1500000000},
    {.seq = 20000, .timestamp = -1500000000},
    {.ssrc = 1},
    {.seq = -20000, .ssrc = 1},
    {.seq = -3, .timestamp = -160, .ssrc = 1},
};

static void test_a_stream_that_begins_again_goes_on_being_heard(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof restarts / sizeof *restarts; i++) {
        const struct restart *r = &restarts[i];
        struct sender s = {.seq = 30000, .timestamp = 2000000000, .ssrc = SSRC};
        after_each(NULL);
        before_each(NULL);
        send_key(&s, 1, 4, 2);
        send_key(&s, 2, 4, 2);
        s.seq = (uint16_t)(s.seq + r->seq);
        s.timestamp += (uint32_t)r->timestamp;
        s.ssrc += r->ssrc;
        send_key(&s, 2, 4, 2);
        send_key(&s, 3, 4, 2);
        take_all(&s);
        assert_string_equal(heard, "1223");
    }
}

static void test_one_stray_packet_ends_no_stream(void **state)
{
    (void)state;
    static const int strays[] = {-30000, -200, 200, 30000};
    for (size_t i = 0; i < sizeof strays / sizeof *strays; i++) {
        struct sender s = {.seq = 30000, .timestamp = 2000000000, .ssrc = SSRC};
        after_each(NULL);
        before_each(NULL);
        send_key(&s, 1, 4, 2);
        const uint16_t seq = s.seq;
        s.seq = (uint16_t)(seq + strays[i]);
        send_audio(&s, 1);
        s.seq = seq;
        send_key(&s, 2, 4, 2);
        send_audio(&s, 5);
        send_key(&s, 3, 4, 2);
        take_all(&s);
        assert_string_equal(heard, "123");
    }
}

/* RFC 3550, A.1: a jump is believed when a second packet follows it. */
static void test_a_jump_is_followed_from_its_second_packet_on(void **state)
{
    (void)state;
    static const int jumps[] = {-30000, -20000, -200, 25000, 4000};
    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++) {
        struct sender s = {.seq = 30000, .ssrc = SSRC};
        after_each(NULL);
        before_each(NULL);
        send_audio(&s, 2);
        s.seq = (uint16_t)(s.seq + jumps[i]);
        send_audio(&s, 1);
        s.seq = 30002;
        send_audio(&s, 2);
        s.seq = (uint16_t)(s.seq + jumps[i]);
        send_audio(&s, 3);
        static const enum order_place places[] = {ORDER_BEGINS, ORDER_NEXT,  ORDER_STRAY,  ORDER_NEXT,
                                                  ORDER_NEXT,   ORDER_STRAY, ORDER_BEGINS, ORDER_NEXT};
        for (size_t k = 0; k < s.n; k++)
            assert_int_equal(take(&s.sent[k]), places[k]);
        assert_int_equal(audio_count, 6);
    }
}

static void test_streams_in_turn_are_both_heard(void **state)
{
    (void)state;
    struct sender s = {.seq = 30000, .ssrc = SSRC};
    for (uint8_t key = 1; key <= 5; key++) {
        s.ssrc = SSRC + 1;
        send_key(&s, key, 4, 0);
        s.ssrc = SSRC;
        send_audio(&s, 3);
    }
    take_all(&s);
    assert_string_equal(heard, "12345");
}

static void test_hostile_packets_hold_nothing_and_silence_nobody(void **state)
{
    (void)state;
    unsigned r = 3;
    int64_t at_ms = 0;
    for (int i = 0; i < 200000; i++, at_ms += rand_r(&r) % 3) {
        const struct rtp_header h = {.m = rand_r(&r) % 2,
                                     .seq = (uint16_t)(rand_r(&r) % (i % 2 ? 65536 : 64)),
                                     .ssrc = SSRC + (unsigned)(rand_r(&r) % 20 == 0),
                                     .ts = (uint32_t)rand_r(&r) * 5};
        struct packet p = {.at_ms = at_ms,
                           .h = h,
                           .event = rand_r(&r) % 2,
                           .payload = {(uint8_t)(rand_r(&r) % 20), (uint8_t)rand_r(&r), (uint8_t)rand_r(&r), 160}};
        if (!p.event)
            p.payload[0] = (uint8_t)h.ts;
        take(&p);
    }
    order_tick(&order, at_ms + ORDER_WAIT_MS);
    assert_false(order_waits(&order));
    heard[heard_count = 0] = '\0';
    struct sender s = {.at_ms = at_ms, .seq = 1234, .timestamp = 99, .ssrc = SSRC};
    send_audio(&s, 3);
    send_key(&s, 1, 4, 2);
    send_key(&s, 2, 4, 2);
    take_all(&s);
    assert_string_equal(heard, "12");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, before_each, after_each)
    const struct CMUnitTest tests[] = {
        T(a_key_is_reported_at_once_if_nothing_is_missing_before_it),
        T(a_key_that_was_overtaken_keeps_its_place),
        T(keys_are_heard_as_pressed_in_whatever_order_their_packets_come),
        T(a_key_waits_for_a_lost_packet_no_longer_than_it_must),
        T(a_key_that_comes_after_the_wait_is_dropped),
        T(more_missing_packets_than_are_kept_are_not_waited_for),
        T(audio_is_heard_as_sent_in_whatever_order_its_packets_come),
        T(audio_waits_for_nothing_if_nothing_is_missing_before_it),
        T(audio_after_a_lost_packet_waits_as_long_as_it_must_and_what_comes_later_is_dropped),
        T(a_stream_that_begins_again_goes_on_being_heard),
        T(a_jump_is_followed_from_its_second_packet_on),
        T(one_stray_packet_ends_no_stream),
        T(streams_in_turn_are_both_heard),
        T(hostile_packets_hold_nothing_and_silence_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
