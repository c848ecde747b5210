/* One call's audio, without a call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <re/re.h>
#include <rem/rem.h>

#include "media/media.h"
#include "media/raw_sip.h"

#define WAIT_MS 200 /* a packet on loopback takes far less */

static int keys;

static void on_key(char key, void *arg)
{
    (void)key;
    (void)arg;
    keys++;
    re_cancel();
}

static void on_played(void *arg)
{
    (void)arg;
}

static void on_wait(void *arg)
{
    (void)arg;
    re_cancel();
}

/* The keys that a send-only peer at 127.0.0.1 can press while its SIP comes from `signalling`. */
static int pressed_by_a_peer_of(const char *signalling)
{
    static const struct media_events events = {.key = on_key, .played = on_played};
    struct raw box = {.host = "127.0.0.1"};
    struct media *m;
    struct tick *tick;
    struct sa local, from;
    struct tmr wait;
    struct mbuf *offer = mbuf_alloc(512), *answer;
    box.rtp = raw_socket(&box.rtp_port);
    keys = 0;
    tmr_init(&wait);
    assert_int_equal(sa_set_str(&local, "127.0.0.1", 0) + sa_set_str(&from, signalling, 5060), 0);
    assert_int_equal(tick_new(&tick), ERR_NONE);
    assert_int_equal(media_new(&m, &(struct media_options){.laddr = &local, .events = true}, &events, NULL), ERR_NONE);
    assert_int_equal(mbuf_write_str(offer, raw_offer(&box, "sendonly")), 0);
    offer->pos = 0;
    assert_int_equal(media_take_sdp(m, true, offer), ERR_NONE);
    assert_int_equal(media_make_sdp(m, false, &answer), ERR_NONE);
    media_start(m, tick, &from);
    char text[1024] = "";
    memcpy(text, mbuf_buf(answer), mbuf_get_left(answer));
    raw_press(box.rtp, atoi(strstr(text, "m=audio ") + 8), 1000, 7);
    tmr_start(&wait, WAIT_MS, on_wait, NULL);
    (void)re_main(NULL);
    tmr_cancel(&wait);
    media_stop(m);
    media_free(m);
    tick_free(tick);
    mem_deref(offer);
    mem_deref(answer);
    close(box.rtp);
    return keys;
}

static void test_only_a_caller_on_this_machine_has_its_audio_here(void **state)
{
    (void)state;
    assert_int_equal(pressed_by_a_peer_of("127.0.0.5"), 1);
    assert_int_equal(pressed_by_a_peer_of("192.0.2.1"), 0);
    assert_int_equal(pressed_by_a_peer_of("169.254.1.1"), 0);
}

/* ---- addresses ---- */

/* Our SDP for a peer whose SIP is at `peer`. */
static const char *offer_to(const char *peer, const struct config *config)
{
    static const struct media_events events = {.key = on_key, .played = on_played};
    static char text[1024];
    struct sa local, at;
    struct media *m;
    struct mbuf *offer;
    assert_int_equal(sa_set_str(&local, "127.0.0.1", 5060), 0);
    assert_int_equal(sa_set_str(&at, peer, 5060), 0);
    assert_int_equal(
        media_new(&m, &(struct media_options){.laddr = &local, .peer = &at, .config = config}, &events, NULL), 0);
    assert_int_equal(media_make_sdp(m, true, &offer), 0);
    (void)snprintf(text, sizeof text, "%.*s", (int)mbuf_get_left(offer), (const char *)mbuf_buf(offer));
    mem_deref(offer);
    media_free(m);
    return text;
}

/* PHONE-9 */
static void test_peers_outside_are_told_the_external_address(void **state)
{
    (void)state;
    const struct config config = {.voice_external_address = "203.0.113.9"};
    assert_non_null(strstr(offer_to("198.51.100.1", &config), "c=IN IP4 203.0.113.9\r\n"));
    assert_non_null(strstr(offer_to("127.0.0.1", &config), "c=IN IP4 127.0.0.1\r\n"));
    assert_non_null(strstr(offer_to("10.0.0.7", &config), "c=IN IP4 127.0.0.1\r\n"));
}

/* ---- relay ---- */

static struct relay {
    bool resident; /* of the next one */
    struct media *m;
    struct tick *tick;
    struct raw box;
    int port; /* ours */
    unsigned received;
    struct media_packet last;
    uint32_t newest, ssrc; /* of relay_audio() */
    uint8_t payload[960];
} relay;

static void on_packet(const struct media_packet *p, void *arg)
{
    (void)arg;
    relay.received++;
    relay.last = *p;
    memcpy(relay.payload, p->payload, p->n);
    re_cancel();
}

static void run_for(int64_t ms)
{
    struct tmr wait;
    tmr_init(&wait);
    tmr_start(&wait, (uint64_t)ms, on_wait, NULL);
    (void)re_main(NULL);
    tmr_cancel(&wait);
}

/* A session with a box on this machine, in the G.711 format and with the type of events that it offers. */
static int relay_set_up(void **state)
{
    static const struct media_events events = {.key = on_key, .played = on_played, .packet = on_packet};
    struct sa local;
    struct mbuf *offer = mbuf_alloc(512), *answer;
    const bool alaw = *state;
    relay = (struct relay){.resident = relay.resident, .box = {.host = "127.0.0.1"}};
    relay.box.rtp = raw_socket(&relay.box.rtp_port);
    assert_int_equal(sa_set_str(&local, "127.0.0.1", 5060), 0);
    assert_int_equal(tick_new(&relay.tick), 0);
    assert_int_equal(media_new(&relay.m,
                               &(struct media_options){.laddr = &local, .events = true, .resident = relay.resident},
                               &events, NULL),
                     0);
    assert_int_equal(mbuf_printf(offer,
                                 "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
                                 "m=audio %d RTP/AVP %d%s\r\n%s",
                                 relay.box.rtp_port, alaw ? 8 : 0, alaw ? "" : " 96",
                                 alaw ? "" : "a=rtpmap:96 telephone-event/8000\r\n"),
                     0);
    offer->pos = 0;
    assert_int_equal(media_take_sdp(relay.m, true, offer), 0);
    assert_int_equal(media_make_sdp(relay.m, false, &answer), 0);
    media_start(relay.m, relay.tick, &local);
    char text[1024] = "";
    memcpy(text, mbuf_buf(answer), mbuf_get_left(answer));
    relay.port = atoi(strstr(text, "m=audio ") + 8);
    mem_deref(offer);
    mem_deref(answer);
    return 0;
}

static int relay_set_up_resident(void **state)
{
    relay.resident = true;
    return relay_set_up(state);
}

static int relay_tear_down(void **state)
{
    (void)state;
    relay.resident = false;
    media_stop(relay.m);
    media_free(relay.m);
    tick_free(relay.tick);
    close(relay.box.rtp);
    return 0;
}

static void relay_audio(uint8_t pt, uint8_t byte, uint32_t ssrc, uint32_t timestamp)
{
    uint8_t payload[160];
    memset(payload, byte, sizeof payload);
    const bool late = ssrc == relay.ssrc && (int32_t)(timestamp - relay.newest) <= 0;
    if (!late)
        relay.newest = timestamp;
    relay.ssrc = ssrc;
    media_relay(relay.m, &(struct media_packet){.pt = pt,
                                                .late = late,
                                                .seq = (uint16_t)(timestamp / 160),
                                                .ssrc = ssrc,
                                                .timestamp = timestamp,
                                                .payload = payload,
                                                .n = sizeof payload});
}

struct rtp {
    bool marker;
    uint8_t pt, first; /* byte of the payload */
    uint16_t seq;
    uint32_t timestamp, ssrc;
    size_t n;
};

/* The next packet at the box; all zero if there is no further one. */
static struct rtp arrived(void)
{
    uint8_t b[1500];
    const ssize_t n = recv(relay.box.rtp, b, sizeof b, MSG_DONTWAIT);
    if (n <= 12)
        return (struct rtp){0};
    return (struct rtp){.marker = b[1] >> 7,
                        .pt = b[1] & 0x7f,
                        .first = b[12],
                        .seq = (uint16_t)(b[2] << 8 | b[3]),
                        .timestamp = (uint32_t)b[4] << 24 | (uint32_t)b[5] << 16 | (uint32_t)b[6] << 8 | b[7],
                        .ssrc = (uint32_t)b[8] << 24 | (uint32_t)b[9] << 16 | (uint32_t)b[10] << 8 | b[11],
                        .n = (size_t)n - 12};
}

static unsigned drain(void)
{
    unsigned n = 0;
    while (arrived().n)
        n++;
    return n;
}

/* The box sends audio. */
static void speak(uint16_t number)
{
    uint8_t packet[12 + 160] = {0x80, 0x80, (uint8_t)(number >> 8), (uint8_t)number, 0, 0, 1, 2, 0, 0, 0, 9};
    memset(packet + 12, 0x42, 160);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)relay.port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(sendto(relay.box.rtp, packet, sizeof packet, 0, (struct sockaddr *)&to, sizeof to), sizeof packet);
    run_for(WAIT_MS);
}

/* PHONE-37 */
static void test_a_stream_that_begins_again_is_passed_on(void **state)
{
    (void)state;
    speak(30000);
    speak(30001);
    assert_false(relay.last.begins);
    speak(10000); /* a stray packet, or a beginning */
    assert_int_equal(relay.received, 2);
    speak(10001);
    assert_int_equal(relay.received, 3);
    assert_true(relay.last.begins);
    speak(10002);
    assert_false(relay.last.late);
    speak(10001);
    assert_int_equal(relay.received, 5);
    assert_true(relay.last.late && !relay.last.begins);
    speak(35000);
    speak(10003);
    speak(10004);
    assert_int_equal(relay.received, 7);
    assert_false(relay.last.begins);
}

/* PHONE-37 */
static void test_received_packets_are_passed_on_unchanged(void **state)
{
    (void)state;
    uint8_t speech[160];
    memset(speech, 0x42, sizeof speech);
    speak(1);
    assert_int_equal(relay.received, 1);
    assert_true(relay.last.marker && !relay.last.event);
    assert_int_equal(relay.last.pt, 0);
    assert_int_equal(relay.last.timestamp, 0x102);
    assert_int_equal(relay.last.ssrc, 9);
    assert_int_equal(relay.last.n, 160);
    assert_memory_equal(relay.payload, speech, sizeof speech);
    raw_press(relay.box.rtp, relay.port, 1000, 7);
    run_for(WAIT_MS);
    assert_true(relay.last.event);
    assert_int_equal(relay.last.pt, 96);
    assert_int_equal(relay.payload[0], 7);
}

/* Presses a key. Returns whether the packet was accepted. */
static bool hears_key_from(int fd, uint32_t timestamp)
{
    const unsigned before = relay.received;
    raw_press(fd, relay.port, timestamp, 7);
    run_for(WAIT_MS);
    return relay.received > before;
}

/* PHONE-34 */
static void test_another_port_is_believed_only_while_the_peer_is_silent(void **state)
{
    (void)state;
    int port;
    const int other = raw_socket(&port), third = raw_socket(&port);
    keys = 0;
    assert_true(hears_key_from(other, 9000));
    assert_false(hears_key_from(third, 9500));
    assert_true(hears_key_from(relay.box.rtp, 1000)); /* an earlier time, in a stream of its own */
    assert_int_equal(keys, 2);
    assert_false(hears_key_from(other, 10000));
    bool heard = false;
    for (uint32_t i = 0; i < RAW_PATIENCE_MS / WAIT_MS && !heard; i++)
        heard = hears_key_from(third, 11000 + 1000 * i);
    assert_true(heard);
    assert_false(hears_key_from(other, 20000));
    assert_true(hears_key_from(relay.box.rtp, 5000));
    assert_int_equal(keys, 4);
    close(other);
    close(third);
}

static void test_relayed_packets_replace_silence_in_one_stream(void **state)
{
    (void)state;
    run_for(100);
    struct rtp before = {0}, next;
    while ((next = arrived()).n)
        before = next;
    assert_true(before.n);
    relay_audio(0, 0x42, 7, 5000);
    relay_audio(0, 0x42, 7, 5160);
    relay_audio(0, 0x42, 7, 5480); /* one was lost before */
    struct rtp a = arrived(), b = arrived(), c = arrived();
    assert_true(a.marker && !b.marker && !c.marker);
    assert_int_equal(a.first, 0x42);
    assert_int_equal(a.ssrc, before.ssrc);
    assert_int_equal(a.seq, (uint16_t)(before.seq + 1));
    assert_in_range(a.timestamp - before.timestamp, 160, 480);
    assert_int_equal(b.timestamp - a.timestamp, 160);
    assert_int_equal(c.timestamp - a.timestamp, 480);
    assert_int_equal(b.seq, (uint16_t)(a.seq + 1));
    assert_int_equal(c.seq, (uint16_t)(a.seq + 3));
    relay_audio(0, 0x41, 7, 5320); /* it was late */
    relay_audio(0, 0x41, 7, 5320); /* and comes twice */
    relay_audio(0, 0x41, 7, 4840); /* of the time before ours */
    struct rtp late = arrived();
    assert_false(late.marker);
    assert_int_equal(late.first, 0x41);
    assert_int_equal(late.seq, (uint16_t)(a.seq + 2));
    assert_int_equal(late.timestamp - a.timestamp, 320);
    assert_int_equal(arrived().n, 0);
    const int64_t began_ms = tick_now_ms();
    run_for(80);
    const unsigned silence = drain();
    if (tick_now_ms() - began_ms < 190) /* the machine did not stop us */
        assert_int_equal(silence, 0);
    relay_audio(0, 0x43, 8, 1); /* another stream continues ours */
    struct rtp d = arrived();
    assert_true(d.marker);
    assert_in_range(d.timestamp - c.timestamp, 160, 2000);
    run_for(400); /* nothing comes any more */
    struct rtp e = arrived();
    assert_int_equal(e.first, 0xff);
    assert_true(e.marker);
    assert_in_range(e.timestamp - d.timestamp, 160, 4000);
}

/* Whether audio reaches a peer that has sent nothing for longer than a call box may be silent. */
static bool hears_although_silent(void)
{
    run_for(3500);
    (void)drain();
    relay_audio(0, 0x42, 7, 5000);
    return arrived().first == 0x42;
}

/* PHONE-33 */
static void test_a_phone_that_never_sends_hears_the_visitor(void **state)
{
    (void)state;
    assert_true(hears_although_silent());
}

/* PHONE-33 */
static void test_a_box_that_never_sends_hears_no_more(void **state)
{
    (void)state;
    assert_false(hears_although_silent());
}

static void test_relayed_audio_is_withheld_while_a_key_is_pressed(void **state)
{
    (void)state;
    relay_audio(0, 0x42, 7, 5000);
    (void)media_press(relay.m, "9", &(struct release){.length_ms = 2000, .gap_ms = 40});
    for (unsigned i = 1; i < 4; i++) {
        relay_audio(0, 0x42, 7, 5000 + i * 160);
        run_for(20);
    }
    struct rtp p = arrived(), event = arrived();
    assert_int_equal(p.first, 0x42);
    assert_int_equal(event.pt, 96);
    assert_int_equal(event.seq, (uint16_t)(p.seq + 1));
    assert_in_range(event.timestamp - p.timestamp, 160, 400);
    while ((p = arrived()).n)
        assert_int_equal(p.pt, 96);
}

static void test_relayed_audio_has_the_negotiated_format(void **state)
{
    (void)state;
    drain();
    relay_audio(0, g711_pcm2ulaw(8000), 7, 5000);
    struct rtp p = arrived();
    assert_int_equal(p.pt, 8);
    assert_in_range(g711_alaw2pcm(p.first), 7500, 8500);
    for (int byte = 0; byte < 256; byte++)
        relay_audio(0, (uint8_t)byte, 7, 5160 + 160 * (uint32_t)byte);
    drain();
    relay_audio(8, 0x17, 7, 60000);
    assert_int_equal(arrived().first, 0x17);
}

static void test_relayed_events_have_the_negotiated_type(void **state)
{
    (void)state;
    const uint8_t payload[4] = {5, 10, 0, 160};
    const struct media_packet p = {
        .pt = 101, .marker = true, .event = true, .timestamp = 77, .payload = payload, .n = 4};
    drain();
    media_relay(relay.m, &p);
    struct rtp at = arrived();
    if (media_events_negotiated(relay.m)) {
        assert_int_equal(at.pt, 96);
        assert_int_equal(at.n, 4);
        assert_int_equal(at.first, 5);
    } else {
        assert_int_equal(at.n, 0);
    }
}

int main(void)
{
#define RELAY(name, alaw)                                                                                              \
    {                                                                                                                  \
#name, test_##name, relay_set_up, relay_tear_down, alaw                                                        \
    }
    static bool alaw = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_a_caller_on_this_machine_has_its_audio_here),
        cmocka_unit_test(test_peers_outside_are_told_the_external_address),
        RELAY(received_packets_are_passed_on_unchanged, NULL),
        RELAY(a_stream_that_begins_again_is_passed_on, NULL),
        RELAY(another_port_is_believed_only_while_the_peer_is_silent, NULL),
        RELAY(relayed_packets_replace_silence_in_one_stream, NULL),
        {"a_phone_that_never_sends_hears_the_visitor", test_a_phone_that_never_sends_hears_the_visitor,
         relay_set_up_resident, relay_tear_down, NULL},
        RELAY(a_box_that_never_sends_hears_no_more, NULL),
        RELAY(relayed_audio_is_withheld_while_a_key_is_pressed, NULL),
        RELAY(relayed_audio_has_the_negotiated_format, &alaw),
        RELAY(relayed_events_have_the_negotiated_type, NULL),
        RELAY(relayed_events_have_the_negotiated_type, &alaw),
    };
    if (libre_init() || sound_init())
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    libre_close();
    return failed;
}
