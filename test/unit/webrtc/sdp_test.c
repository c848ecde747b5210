/* Offers of browsers, captured from Chromium 156 and Firefox 153, and the answers to them.
 * reads: test/fuzz/corpus/webrtc_sdp_fuzz */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "media/player.h"
#include "webrtc/sdp.h"

#define PRINT  "AA:BB"
#define DIGITS "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:0f"

static char text[2 * WEBRTC_OFFER_MAX];
static struct webrtc_offer offer;
static char answer[WEBRTC_ANSWER_MAX];

static const char *captured(const char *name)
{
    char path[300];
    (void)snprintf(path, sizeof path, "%s/test/fuzz/corpus/webrtc_sdp_fuzz/%s", SOURCE_DIR, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    const size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

static enum webrtc_refusal read_text(const char *z)
{
    return webrtc_sdp_read(str_z(z), PT_PCMU, &offer);
}

static const char *answer_to(const char *z, uint8_t pt)
{
    struct sa candidates[2];
    assert_int_equal(sa_set_str(&candidates[0], "192.0.2.1", 3478) + sa_set_str(&candidates[1], "2001:db8::1", 3478),
                     0);
    const struct webrtc_answer mine = {.ufrag = "000our",
                                       .password = "password",
                                       .print = PRINT,
                                       .ssrc = 7,
                                       .pt = pt,
                                       .candidates = candidates,
                                       .count = 2};
    assert_int_equal(webrtc_sdp_read(str_z(z), pt, &offer), WEBRTC_TAKEN);
    assert_true(webrtc_sdp_answer(&offer, &mine, answer));
    return answer;
}

static void assert_has(const char *line)
{
    char whole[300];
    (void)snprintf(whole, sizeof whole, "\r\n%s\r\n", line);
    if (!strstr(answer, whole))
        fail_msg("no line %s in %s", line, answer);
}

static void test_offers_of_both_browsers_are_answered(void **state)
{
    (void)state;
    static const char *const names[] = {"chromium-sendrecv", "firefox-sendrecv"};
    for (size_t i = 0; i < 2; i++) {
        (void)answer_to(captured(names[i]), PT_PCMU);
        assert_true(offer.listens && offer.talks);
        assert_has("m=audio 3478 UDP/TLS/RTP/SAVPF 0");
        assert_has("c=IN IP4 192.0.2.1");
        assert_has("a=rtpmap:0 PCMU/8000");
        assert_has("a=sendrecv");
        assert_has("a=mid:0");
        assert_has("a=ice-lite");
        assert_has("a=group:BUNDLE 0");
        assert_has("a=rtcp-mux");
        assert_has("a=setup:passive");
        assert_has("a=ice-ufrag:000our");
        assert_has("a=ice-pwd:password");
        assert_has("a=fingerprint:sha-256 " PRINT);
        assert_has("a=ssrc:7 cname:portero");
        assert_has("a=candidate:1 1 udp 2130706431 192.0.2.1 3478 typ host");
        assert_has("a=candidate:2 1 udp 2130706175 2001:db8::1 3478 typ host");
        assert_has("a=end-of-candidates");
        (void)answer_to(captured(names[i]), PT_PCMA);
        assert_has("a=rtpmap:8 PCMA/8000");
    }
}

static void test_a_browser_may_only_listen(void **state)
{
    (void)state;
    static const char *const names[] = {"chromium-recvonly", "firefox-recvonly"};
    for (size_t i = 0; i < 2; i++) {
        (void)answer_to(captured(names[i]), PT_PCMU);
        assert_true(offer.listens && !offer.talks);
        assert_has("a=sendonly");
    }
}

static void test_video_and_data_are_refused(void **state)
{
    (void)state;
    (void)answer_to(captured("chromium-all"), PT_PCMU);
    assert_int_equal(offer.count, 3);
    assert_int_equal(offer.audio, 1);
    assert_has("a=group:BUNDLE 1");
    const char *video = strstr(answer, "m=video 0 UDP/TLS/RTP/SAVPF "), *audio = strstr(answer, "m=audio 3478 "),
               *data = strstr(answer, "m=application 0 UDP/DTLS/SCTP webrtc-datachannel\r\n");
    assert_true(video && audio && data && video < audio && audio < data);
    assert_non_null(strstr(video, "a=inactive\r\na=mid:0\r\n"));
    assert_non_null(strstr(data, "a=inactive\r\na=mid:2\r\n"));
    (void)answer_to(captured("firefox-all"), PT_PCMU);
    assert_int_equal(offer.count, 3);
}

/* A captured offer with each occurrence of a text replaced by another of the same length. */
static const char *changed(const char *from, const char *to)
{
    (void)captured("chromium-sendrecv");
    assert_int_equal(strlen(from), strlen(to));
    assert_non_null(strstr(text, from));
    for (char *at = text; (at = strstr(at, from)); at += strlen(to))
        memcpy(at, to, strlen(to));
    return text;
}

static void test_each_fault_has_its_refusal(void **state)
{
    (void)state;
    assert_int_equal(read_text(changed(" 0 8 ", " 1 8 ")), WEBRTC_NO_G711);
    assert_int_equal(webrtc_sdp_read(str_z(text), PT_PCMA, &offer), WEBRTC_TAKEN);
    assert_int_equal(read_text(changed("UDP/TLS/RTP/SAVPF", "UDP/TLS/RTP/OTHER")), WEBRTC_NO_G711);
    assert_int_equal(read_text(changed("m=audio", "m=video")), WEBRTC_NO_G711);
    assert_int_equal(read_text(changed("BUNDLE 0", "BUNDLE 1")), WEBRTC_NO_BUNDLE);
    assert_int_equal(read_text(changed("group:BUNDLE", "group:NUMBLE")), WEBRTC_NO_BUNDLE);
    assert_int_equal(read_text(changed("a=rtcp-mux", "a=xtcp-mux")), WEBRTC_NO_BUNDLE);
    assert_int_equal(read_text(changed("a=mid:", "a=dim:")), WEBRTC_NO_BUNDLE);
    assert_int_equal(read_text(changed("a=ice-ufrag", "a=ice-xfrag")), WEBRTC_NO_ICE);
    assert_int_equal(read_text(changed("sha-256", "sha-512")), WEBRTC_NO_FINGERPRINT);
}

static void test_garbage_is_refused(void **state)
{
    (void)state;
    assert_int_equal(read_text(""), WEBRTC_NOT_SDP);
    assert_int_equal(read_text("hello"), WEBRTC_NOT_SDP);
    assert_int_equal(read_text("v=0\r\n"), WEBRTC_NO_G711);
    memset(text, 'a', sizeof text);
    assert_int_equal(webrtc_sdp_read(str_n(text, 600), PT_PCMU, &offer), WEBRTC_NOT_SDP); /* a long line */
    assert_int_equal(webrtc_sdp_read(str_n(text, WEBRTC_OFFER_MAX + 1), PT_PCMU, &offer), WEBRTC_TOO_LONG);
    size_t n = 0;
    for (int i = 0; i < 17; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "m=video 9 X 0\r\n");
    assert_int_equal(webrtc_sdp_read(str_n(text, n), PT_PCMU, &offer), WEBRTC_NOT_SDP);
}

static const char *written(const char *setup, const char *direction, const char *digits, const char *mid)
{
    (void)snprintf(text, sizeof text,
                   "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE %s\r\na=ice-ufrag:them\r\n"
                   "a=fingerprint:SHA-256 %s\r\na=setup:%s\r\nm=audio 9 UDP/TLS/RTP/SAVPF 0\r\nc=IN IP4 0.0.0.0\r\n"
                   "a=rtpmap:0 PCMU/8000\r\na=mid:%s\r\na=%s\r\na=rtcp-mux\r\n",
                   mid, digits, setup, mid, direction);
    return text;
}

static void test_the_browser_must_begin_the_handshake(void **state)
{
    (void)state;
    assert_int_equal(read_text(written("actpass", "sendrecv", DIGITS, "a")), WEBRTC_TAKEN);
    assert_int_equal(offer.print[0], 0);
    assert_int_equal(offer.print[10], 0xaa);
    assert_int_equal(offer.print[31], 0x0f);
    assert_int_equal(read_text(written("active", "sendrecv", DIGITS, "a")), WEBRTC_TAKEN);
    assert_int_equal(read_text(written("passive", "sendrecv", DIGITS, "a")), WEBRTC_NOT_ACTIVE);
    assert_int_equal(read_text(written("active", "sendrecv", "00:11", "a")), WEBRTC_NO_FINGERPRINT);
    assert_int_equal(read_text(written("active", "sendrecv", DIGITS ":00", "a")), WEBRTC_NO_FINGERPRINT);
}

static void test_directions_are_answered(void **state)
{
    (void)state;
    (void)answer_to(written("active", "sendonly", DIGITS, "a"), PT_PCMU);
    assert_has("a=recvonly");
    assert_null(strstr(answer, "a=ssrc"));
    (void)answer_to(written("active", "inactive", DIGITS, "a"), PT_PCMU);
    assert_has("a=inactive");
}

static void test_a_name_cannot_add_lines_to_the_answer(void **state)
{
    (void)state;
    assert_int_equal(read_text(written("active", "sendrecv", DIGITS, "a b")), WEBRTC_NOT_SDP);
    assert_int_equal(read_text(written("active", "sendrecv", DIGITS, "\x01")), WEBRTC_NOT_SDP);
    char mid[WEBRTC_TOKEN_MAX + 1];
    memset(mid, 'm', sizeof mid);
    mid[WEBRTC_TOKEN_MAX] = '\0';
    assert_int_equal(read_text(written("active", "sendrecv", DIGITS, mid)), WEBRTC_NOT_SDP);
    mid[WEBRTC_TOKEN_MAX - 1] = '\0';
    assert_int_equal(read_text(written("active", "sendrecv", DIGITS, mid)), WEBRTC_TAKEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offers_of_both_browsers_are_answered),
        cmocka_unit_test(test_a_browser_may_only_listen),
        cmocka_unit_test(test_video_and_data_are_refused),
        cmocka_unit_test(test_each_fault_has_its_refusal),
        cmocka_unit_test(test_garbage_is_refused),
        cmocka_unit_test(test_the_browser_must_begin_the_handshake),
        cmocka_unit_test(test_directions_are_answered),
        cmocka_unit_test(test_a_name_cannot_add_lines_to_the_answer),
    };
    if (libre_init())
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    libre_close();
    return failed;
}
