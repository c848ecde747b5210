/* Two sessions with SRTP between them: negotiation, and packets that only the two can read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "media/media.h"
#include "media/raw_sip.h"

#define KEY "WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz"

static struct media *a, *b; /* a offers */
static struct tick *tick;
static char keys[16];       /* that b heard */
static char sdp_text[2048]; /* the last one */

static void on_key(char key, void *arg)
{
    (void)arg;
    const size_t n = strlen(keys);
    if (n + 1 < sizeof keys)
        keys[n] = key;
}

static void on_nothing(void *arg)
{
    (void)arg;
}

static const struct media_events events = {.key = on_key, .played = on_nothing};
static struct sa local;

static struct media *make(enum media_srtp srtp)
{
    struct media *m;
    assert_int_equal(
        media_new(&m, &(struct media_options){.laddr = &local, .events = true, .srtp = srtp}, &events, NULL), 0);
    return m;
}

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(sa_set_str(&local, "127.0.0.1", 0), 0);
    memset(keys, 0, sizeof keys);
    return tick_new(&tick) ? 1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    media_free(a);
    media_free(b);
    a = b = NULL;
    tick_free(tick);
    return 0;
}

static struct mbuf *sdp_of(struct media *m, bool offer)
{
    struct mbuf *sdp;
    assert_int_equal(media_make_sdp(m, offer, &sdp), 0);
    (void)snprintf(sdp_text, sizeof sdp_text, "%.*s", (int)mbuf_get_left(sdp), (const char *)mbuf_buf(sdp));
    return sdp;
}

static enum err offer_text(struct media *m, const char *text)
{
    struct mbuf *mb = mbuf_alloc(1024);
    assert_int_equal(mbuf_write_str(mb, text), 0);
    mb->pos = 0;
    const enum err e = media_take_sdp(m, true, mb);
    mem_deref(mb);
    return e;
}

/* b answers a's offer, and a takes the answer. */
static enum err negotiate(void)
{
    struct mbuf *offer = sdp_of(a, true), *answer;
    enum err e = media_take_sdp(b, true, offer);
    mem_deref(offer);
    if (e)
        return e;
    answer = sdp_of(b, false);
    e = media_take_sdp(a, false, answer);
    mem_deref(answer);
    return e;
}

static void on_wait(void *arg)
{
    (void)arg;
    re_cancel();
}

static void run_for(uint64_t ms)
{
    struct tmr wait;
    tmr_init(&wait);
    tmr_start(&wait, ms, on_wait, NULL);
    (void)re_main(NULL);
    tmr_cancel(&wait);
}

static void press(enum release_mode mode)
{
    media_start(a, tick, &local);
    media_start(b, tick, &local);
    (void)media_press(a, "19", &(struct release){.length_ms = 60, .gap_ms = 60, .mode = mode});
    for (int i = 0; i < 300 && strlen(keys) < 2; i++)
        run_for(10);
    media_stop(a);
    media_stop(b);
}

static void test_keys_are_encrypted_both_ways_of_pressing_them(void **state)
{
    (void)state;
    a = make(MEDIA_SRTP_REQUIRED);
    b = make(MEDIA_SRTP_ACCEPT);
    assert_int_equal(negotiate(), ERR_NONE);
    assert_non_null(strstr(sdp_text, " RTP/SAVP "));
    assert_true(media_encrypted(a) && media_encrypted(b));
    press(RELEASE_AUTO);
    assert_string_equal(keys, "19");
    memset(keys, 0, sizeof keys);
    run_for(700); /* or the tones would be the same presses */
    press(RELEASE_INBAND);
    assert_string_equal(keys, "19");
}

static void test_our_offer_with_optional_srtp_fits_a_peer_with_and_without(void **state)
{
    (void)state;
    a = make(MEDIA_SRTP_OPTIONAL);
    b = make(MEDIA_SRTP_ACCEPT);
    assert_int_equal(negotiate(), ERR_NONE);
    assert_non_null(strstr(sdp_text, " RTP/AVP "));
    assert_true(media_encrypted(a) && media_encrypted(b));
    press(RELEASE_AUTO);
    assert_string_equal(keys, "19");
}

static void test_without_srtp_on_one_side_there_is_none_or_no_call(void **state)
{
    (void)state;
    a = make(MEDIA_SRTP_ACCEPT);
    b = make(MEDIA_SRTP_ACCEPT);
    assert_int_equal(negotiate(), ERR_NONE);
    assert_null(strstr(sdp_text, "crypto"));
    assert_false(media_encrypted(a) || media_encrypted(b));
    media_free(b);
    b = make(MEDIA_SRTP_REQUIRED);
    assert_int_equal(negotiate(), ERR_USAGE);
}

static void test_a_new_offer_keeps_the_keys(void **state)
{
    (void)state;
    a = make(MEDIA_SRTP_REQUIRED);
    b = make(MEDIA_SRTP_ACCEPT);
    assert_int_equal(negotiate(), ERR_NONE);
    press(RELEASE_AUTO);
    assert_int_equal(negotiate(), ERR_NONE);
    memset(keys, 0, sizeof keys);
    press(RELEASE_AUTO);
    assert_string_equal(keys, "19");
    struct media *offers = b;
    b = a;
    a = offers; /* the other side offers now */
    assert_int_equal(negotiate(), ERR_NONE);
    assert_true(media_encrypted(a) && media_encrypted(b));
    memset(keys, 0, sizeof keys);
    press(RELEASE_AUTO);
    assert_string_equal(keys, "19");
}

#define HEAD          "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
#define LINE(profile) "m=audio 4000 " profile " 0\r\n"
#define CRYPTO        "a=crypto:7 AES_CM_128_HMAC_SHA1_32 inline:" KEY "|2^31\r\n"

/* PHONE-35 */
static void test_every_profile_is_answered_with_itself(void **state)
{
    (void)state;
    static const struct {
        const char *offer, *answer;
        bool encrypted;
    } table[] = {
        {HEAD LINE("RTP/AVP"), " RTP/AVP 0", false},
        {HEAD LINE("RTP/AVPF"), " RTP/AVPF 0", false},
        {HEAD LINE("RTP/AVP") CRYPTO, " RTP/AVP 0", true},
        {HEAD LINE("RTP/SAVP") CRYPTO, " RTP/SAVP 0", true},
        {HEAD LINE("RTP/SAVPF") CRYPTO, " RTP/SAVPF 0", true},
        {HEAD LINE("RTP/SAVP") "a=crypto:1 F8_128_HMAC_SHA1_80 inline:" KEY "\r\n" CRYPTO, " RTP/SAVP 0", true},
        {HEAD LINE("RTP/AVP") "a=crypto:1 F8_128_HMAC_SHA1_80 inline:" KEY "\r\n", " RTP/AVP 0", false},
        {HEAD LINE("RTP/SAVP") CRYPTO LINE("RTP/AVP"), " RTP/SAVP 0", true},
        {HEAD LINE("RTP/AVP") LINE("RTP/SAVP") CRYPTO, " RTP/AVP 0", false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        a = make(MEDIA_SRTP_ACCEPT);
        assert_int_equal(offer_text(a, table[i].offer), ERR_NONE);
        mem_deref(sdp_of(a, false));
        assert_non_null(strstr(sdp_text, table[i].answer));
        assert_int_equal(media_encrypted(a), table[i].encrypted);
        assert_int_equal(strstr(sdp_text, "\r\na=crypto:7 AES_CM_128_HMAC_SHA1_32 inline:") != NULL,
                         table[i].encrypted);
        assert_null(strstr(sdp_text, KEY));
        unsigned lines = 0, refused = 0, offered = 0;
        for (const char *at = sdp_text; (at = strstr(at, "m=audio ")); at++) {
            lines++;
            refused += strncmp(at, "m=audio 0 ", 10) == 0;
        }
        for (const char *at = table[i].offer; (at = strstr(at, "m=audio ")); at++)
            offered++;
        assert_int_equal(lines, offered);
        assert_int_equal(refused, offered - 1);
        media_free(a);
        a = NULL;
    }
}

static void test_savp_without_a_usable_key_is_refused(void **state)
{
    (void)state;
    a = make(MEDIA_SRTP_ACCEPT);
    assert_int_equal(offer_text(a, HEAD LINE("RTP/SAVP")), ERR_USAGE);
    media_free(a);
    a = make(MEDIA_SRTP_ACCEPT);
    assert_int_equal(offer_text(a, HEAD LINE("RTP/SAVP") "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:x\r\n"), ERR_USAGE);
    media_free(a);
    a = make(MEDIA_SRTP_ACCEPT);
    assert_int_equal(offer_text(a, HEAD LINE("UDP/TLS/RTP/SAVPF")), ERR_USAGE);
}

static void test_packets_that_are_not_encrypted_press_no_key(void **state)
{
    (void)state;
    struct raw box = {.host = "127.0.0.1"};
    box.rtp = raw_socket(&box.rtp_port);
    a = make(MEDIA_SRTP_ACCEPT);
    char offer[1024];
    (void)snprintf(offer, sizeof offer, HEAD "m=audio %d RTP/SAVP 0 96\r\na=rtpmap:96 telephone-event/8000\r\n" CRYPTO,
                   box.rtp_port);
    assert_int_equal(offer_text(a, offer), ERR_NONE);
    mem_deref(sdp_of(a, false));
    media_start(a, tick, &local);
    const int port = atoi(strstr(sdp_text, "m=audio ") + 8);
    for (uint32_t i = 1; i < 9; i++)
        raw_press(box.rtp, port, i * 4000, 7);
    run_for(200);
    assert_string_equal(keys, "");
    media_stop(a);
    close(box.rtp);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(keys_are_encrypted_both_ways_of_pressing_them),
        T(our_offer_with_optional_srtp_fits_a_peer_with_and_without),
        T(without_srtp_on_one_side_there_is_none_or_no_call),
        T(a_new_offer_keeps_the_keys),
        T(every_profile_is_answered_with_itself),
        T(savp_without_a_usable_key_is_refused),
        T(packets_that_are_not_encrypted_press_no_key),
    };
    if (libre_init() || sound_init())
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    libre_close();
    return failed;
}
