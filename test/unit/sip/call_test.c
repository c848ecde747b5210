/* The SIP user agent against messages written by hand, of telephones and of strangers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include <re/re.h>
#include <rem/rem.h>

#include "call/sound.h"
#include "sip/call.h"
#include "sip/fixture.h"

static struct raw r;

static int set_up(void **state)
{
    agent_set_up(state);
    raw_open(&r, sip_address(agent));
    return 0;
}

static int tear_down(void **state)
{
    raw_close(&r);
    return agent_tear_down(state);
}

static void establish(const char *number)
{
    raw_invite(&r, number);
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "ACK", number, 1, "", "");
}

static void answers(const char *method, const char *headers, const char *body, int status)
{
    struct raw one;
    raw_open(&one, sip_address(agent));
    raw_request(&one, method, FAKE_OPEN, 1, headers, body);
    assert_int_equal(raw_final(&one), status);
    r = (memcpy(r.reply, one.reply, sizeof r.reply), r);
    raw_close(&one);
}

static void test_options_lists_the_allowed_methods(void **state)
{
    (void)state;
    answers("OPTIONS", "", "", 200);
    assert_non_null(strstr(r.reply, "Allow: INVITE, ACK, BYE, CANCEL, INFO, OPTIONS, REGISTER, UPDATE\r\n"));
}

static void test_other_methods_are_refused(void **state)
{
    (void)state;
    answers("SUBSCRIBE", "", "", 405);
    assert_non_null(strstr(r.reply, "Allow: INVITE"));
    answers("REFER", "", "", 405);
    answers("BREW", "", "", 501);
    answers("CANCEL", "", "", 481);
    answers("BYE", "", "", 481);
    answers("INFO", "", "", 481);
}

static void test_a_required_extension_is_refused_by_name(void **state)
{
    (void)state;
    answers("INVITE", "Require: 100rel\r\n", "", 420);
    assert_non_null(strstr(r.reply, "Unsupported: 100rel\r\n"));
}

static void test_unsupported_bodies_are_refused_before_a_decision(void **state)
{
    (void)state;
    answers("INVITE", "Content-Type: text/plain\r\n", "hello", 415);
    answers("INVITE", RAW_SDP, "v=1\r\n", 488);
    answers("INVITE", RAW_SDP, "no sdp at all", 488);
    answers("INVITE", RAW_SDP,
            "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
            "m=audio 4000 RTP/AVP 9\r\na=rtpmap:9 G722/8000\r\n",
            488);
    answers("INVITE", RAW_SDP,
            "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
            "m=audio 4000 RTP/SAVP 0\r\n",
            488);
    wait_for_calls(0);
    assert_int_equal(fake.arrived, 0);
}

/* PHONE-19 */
static void test_sdp_that_telephones_write_in_their_own_way_is_read(void **state)
{
    (void)state;
#define SDP_TO(port)                                                                                                   \
    "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio " port " RTP/AVP 0"
    static const char *const bodies[] = {SDP_TO("4000"), SDP_TO("4000/1") "\r\n", SDP_TO(" 4000 ") "\n",
                                         SDP_TO("4000") "\r\na=sendrecv\r"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct raw one;
        raw_open(&one, sip_address(agent));
        raw_request(&one, "INVITE", FAKE_CODE, 1, RAW_SDP, bodies[i]);
        assert_int_equal(raw_final(&one), 200);
        raw_request(&one, "ACK", FAKE_CODE, 1, "", "");
        raw_request(&one, "BYE", FAKE_CODE, 2, "", "");
        assert_int_equal(raw_final(&one), 200);
        raw_close(&one);
        wait_for_calls(0);
    }
}

static void test_malformed_messages_are_dropped(void **state)
{
    (void)state;
    static const char *const messages[] = {
        "",
        "\r\n\r\n",
        "INVITE",
        "INVITE sip:a@b SIP/2.0\r\n\r\n",
        "INVITE sip:a@b SIP/9.0\r\n\r\n",
        "INVITE  SIP/2.0\r\nVia: x\r\n\r\n",
        "SIP/2.0 200 OK\r\n\r\n",
        "SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP x;branch=1\r\nCSeq: 1 INVITE\r\nCall-ID: 1\r\n\r\n",
        "INVITE sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1;branch=z9hG4bK1\r\nFrom: <sip:a@b>;tag=1\r\nTo: "
        "<sip:b@c>\r\n"
        "Call-ID: 1\r\nCSeq: 1 BYE\r\n\r\n",
        "INVITE sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1;branch=z9hG4bK1\r\nFrom: <sip:a@b>;tag=1\r\nTo: "
        "<sip:b@c>\r\n"
        "CSeq: 1 INVITE\r\n\r\n",
        "ACK sip:a@b SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1;branch=z9hG4bK1\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        raw_send(&r, messages[i], strlen(messages[i]));
    answers("OPTIONS", "", "", 200);
    wait_for_calls(0);
}

static void test_essential_headers_are_required(void **state)
{
    (void)state;
    answers("OPTIONS", "Call-ID: again\r\n", "", 400);
    answers("OPTIONS", "CSeq: 2 OPTIONS\r\n", "", 400);
    answers("OPTIONS", "To: <sip:x@y>\r\n", "", 400);
}

static void test_a_body_shorter_than_its_content_length_is_refused(void **state)
{
    (void)state;
    char text[1024];
    int n =
        snprintf(text, sizeof text,
                 "INVITE sip:" FAKE_OPEN "@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:%d;branch=z9hG4bKx;rport\r\n"
                 "From: <sip:a@b>;tag=1\r\nTo: <sip:b@c>\r\nCall-ID: short\r\nCSeq: 1 INVITE\r\n" RAW_SDP
                 "Content-Length: 500\r\n\r\nv=0\r\n",
                 r.sip_port);
    r.cseq = 1;
    raw_send(&r, text, (size_t)n);
    assert_int_equal(raw_final(&r), 400);
}

static void test_a_reply_is_never_sent_to_a_third_party(void **state)
{
    (void)state;
    char text[1024];
    int n = snprintf(text, sizeof text,
                     "OPTIONS sip:x@127.0.0.1 SIP/2.0\r\n"
                     "Via: SIP/2.0/UDP 127.0.0.1:%d;branch=z9hG4bKx;rport;maddr=127.0.0.1\r\n"
                     "From: <sip:a@b>;tag=1\r\nTo: <sip:b@c>\r\nCall-ID: m\r\nCSeq: 1 OPTIONS\r\n\r\n",
                     r.sip_port);
    raw_send(&r, text, (size_t)n);
    answers("OPTIONS", "", "", 200); /* so the first was dropped, not delayed */
    assert_int_equal(raw_receive(&r, 50), 0);
}

static void test_a_cancelled_call_ends(void **state)
{
    (void)state;
    raw_invite(&r, FAKE_SLOW);
    assert_int_equal(raw_receive(&r, RAW_PATIENCE_MS), 100);
    raw_request(&r, "CANCEL", FAKE_SLOW, 1, "", "");
    int first = raw_final(&r), second = raw_final(&r);
    assert_int_equal(first + second, 200 + 487);
    raw_request(&r, "ACK", FAKE_SLOW, 1, "", "");
    wait_for_calls(0);
}

static void test_a_repeated_invite_is_the_same_call(void **state)
{
    (void)state;
    const char *offer = raw_offer(&r, "sendrecv");
    raw_request(&r, "INVITE", FAKE_CODE, 1, RAW_SDP, offer);
    r.branch--;
    raw_request(&r, "INVITE", FAKE_CODE, 1, RAW_SDP, offer);
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "ACK", FAKE_CODE, 1, "", "");
    wait_for_calls(1);
    assert_int_equal(fake.arrived, 1);
}

static void test_no_media_flows_before_the_call_is_acknowledged(void **state)
{
    (void)state;
    raw_invite(&r, FAKE_CODE);
    assert_int_equal(raw_final(&r), 200);
    assert_int_equal(raw_count_rtp(&r, 150), 0);
    raw_request(&r, "ACK", FAKE_CODE, 1, "", "");
    assert_true(raw_hears_rtp(&r));
}

static void test_a_call_ends_when_the_caller_hangs_up(void **state)
{
    (void)state;
    establish(FAKE_CODE);
    raw_request(&r, "BYE", FAKE_CODE, 2, "", "");
    assert_int_equal(raw_final(&r), 200);
    wait_for_calls(0);
    assert_int_equal(fake.forwarded, 0);
}

static void test_an_offer_may_come_in_the_answer(void **state)
{
    (void)state;
    raw_request(&r, "INVITE", FAKE_CODE, 1, "", "");
    assert_int_equal(raw_final(&r), 200);
    assert_true(raw_media_port(&r) > 0);
    assert_non_null(strstr(r.reply, "telephone-event/8000"));
    raw_request(&r, "ACK", FAKE_CODE, 1, RAW_SDP, raw_offer(&r, "sendrecv"));
    assert_true(raw_hears_rtp(&r));
    wait_for_calls(1);
}

static void test_a_call_may_be_held_and_resumed(void **state)
{
    (void)state;
    establish(FAKE_CODE);
    raw_request(&r, "INVITE", FAKE_CODE, 2, RAW_SDP, raw_offer(&r, "sendonly"));
    assert_int_equal(raw_final(&r), 200);
    assert_non_null(strstr(r.reply, "a=recvonly"));
    raw_request(&r, "ACK", FAKE_CODE, 2, "", "");
    assert_true(raw_falls_silent(&r, 150));
    raw_request(&r, "INVITE", FAKE_CODE, 3, RAW_SDP, raw_offer(&r, "sendrecv"));
    assert_int_equal(raw_final(&r), 200);
    assert_non_null(strstr(r.reply, "a=sendrecv"));
    raw_request(&r, "ACK", FAKE_CODE, 3, "", "");
    assert_true(raw_hears_rtp(&r));
    raw_request(&r, "INVITE", FAKE_CODE, 4, RAW_SDP, "nonsense");
    assert_int_equal(raw_final(&r), 488);
    wait_for_calls(1); /* the call continues unchanged */
}

static void test_the_negotiated_event_type_is_used(void **state)
{
    (void)state;
    establish(FAKE_CODE);
    assert_non_null(strstr(r.reply, "a=rtpmap:96 telephone-event/8000"));
    int port = raw_media_port(&r);
    raw_press(r.rtp, port, 1000, 7);
    raw_press(r.rtp, port, 3000, 11);
    wait_for_codes(1);
    assert_string_equal(fake.codes[0], "7");
}

/* ---- G.711 without events: tones in the audio, both ways ---- */

static const char *offer_of(uint8_t pt)
{
    static char text[256];
    (void)snprintf(text, sizeof text,
                   "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio %d RTP/AVP %u\r\n",
                   r.rtp_port, pt);
    return text;
}

static void send_frame(int port, uint8_t pt, uint16_t seq, const struct sound *s, size_t at)
{
    uint8_t packet[12 + 160] = {0x80, pt, (uint8_t)(seq >> 8), (uint8_t)seq, [11] = 1};
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    to.sin_port = htons((uint16_t)port);
    for (size_t i = 0; i < 160; i++) {
        int16_t sample = s->samples ? s->samples[(at + i) % s->loop] : 0;
        packet[12 + i] = pt == 8 ? g711_pcm2alaw(sample) : g711_pcm2ulaw(sample);
    }
    assert_int_equal(sendto(r.rtp, packet, sizeof packet, 0, (struct sockaddr *)&to, sizeof to), sizeof packet);
}

static void play_key(int port, uint8_t pt, uint16_t *seq, char key)
{
    const struct sound parts[] = {sound_key(key, 100), sound_silence(100)};
    for (size_t p = 0; p < 2; p++) {
        for (size_t at = 0; at < parts[p].length; at += 160) {
            send_frame(port, pt, ++*seq, &parts[p], at);
            usleep(5000);
        }
    }
}

static void on_tone(char key, void *arg)
{
    char *heard = arg;
    heard[strlen(heard)] = key;
}

/* Listens until the tone is heard or packets stop; checks the type of each packet. */
static void hear(uint8_t pt, char heard[static 8])
{
    struct dtmf_dec *decoder;
    struct pollfd p = {.fd = r.rtp, .events = POLLIN};
    assert_int_equal(dtmf_dec_alloc(&decoder, 8000, 1, on_tone, heard), 0);
    while (!heard[0] && poll(&p, 1, RAW_PATIENCE_MS) > 0) {
        uint8_t packet[2048];
        int16_t samples[160];
        assert_int_equal(recv(r.rtp, packet, sizeof packet, 0), 12 + 160);
        assert_int_equal(packet[1] & 0x7f, pt);
        for (size_t i = 0; i < 160; i++)
            samples[i] = pt == 8 ? g711_alaw2pcm(packet[12 + i]) : g711_ulaw2pcm(packet[12 + i]);
        dtmf_dec_probe(decoder, samples, 160);
    }
    mem_deref(decoder);
}

static void tones_open(uint8_t pt)
{
    char heard[8] = "";
    uint16_t seq = 0;
    raw_request(&r, "INVITE", FAKE_SILENT, 1, RAW_SDP, offer_of(pt));
    assert_int_equal(raw_final(&r), 200);
    int port = raw_media_port(&r);
    assert_null(strstr(r.reply, "telephone-event"));
    raw_request(&r, "ACK", FAKE_SILENT, 1, "", "");
    assert_true(raw_hears_rtp(&r)); /* so it listens, too */
    play_key(port, pt, &seq, '7');
    play_key(port, pt, &seq, '#');
    wait_for_codes(1);
    assert_string_equal(fake.codes[0], "7");
    hear(pt, heard);
    assert_int_equal(heard[0], '9');
}

static void test_tones_in_mu_law_are_understood_and_sent(void **state)
{
    (void)state;
    tones_open(0);
}

static void test_tones_in_a_law_are_understood_and_sent(void **state)
{
    (void)state;
    tones_open(8);
}

static void test_only_the_caller_can_press_keys(void **state)
{
    (void)state;
    int other_port, other = raw_socket(&other_port);
    establish(FAKE_CODE);
    int port = raw_media_port(&r);
    raw_press(r.rtp, port, 1000, 1);
    usleep(50000);
    raw_press(other, port, 3000, 9);
    usleep(50000);
    raw_press(r.rtp, port, 5000, 11);
    wait_for_codes(1);
    assert_string_equal(fake.codes[0], "1");
    close(other);
}

static void test_info_is_answered_and_counts_once_when_repeated(void **state)
{
    (void)state;
    establish(FAKE_CODE);
    for (int i = 0; i < 2; i++) {
        raw_request(&r, "INFO", FAKE_CODE, 2, "Content-Type: application/dtmf-relay\r\n",
                    "Signal=7\r\nDuration=100\r\n");
        assert_int_equal(raw_final(&r), 200);
        r.branch--;
    }
    r.branch++;
    raw_request(&r, "INFO", FAKE_CODE, 3, "Content-Type: application/xml\r\n", "<x/>");
    assert_int_equal(raw_final(&r), 415);
    raw_request(&r, "INFO", FAKE_CODE, 4, "Content-Type: application/dtmf\r\n", "#");
    assert_int_equal(raw_final(&r), 200);
    wait_for_codes(1);
    assert_string_equal(fake.codes[0], "7");
}

static void block_thread(void *arg)
{
    usleep(*(useconds_t *)arg);
}

static void test_keys_that_arrive_while_the_agent_is_busy_count(void **state)
{
    (void)state;
    useconds_t busy_us = (CALL_NEXT_WAIT_MS + 500) * 1000;
    struct agent_task busy;
    establish(FAKE_SILENT);
    int port = raw_media_port(&r);
    assert_true(raw_hears_rtp(&r));
    raw_press(r.rtp, port, 1000, 1);
    usleep(100000);
    begin_agent_task(&busy, block_thread, &busy_us);
    usleep(100000);
    raw_press(r.rtp, port, 3000, 2);
    raw_press(r.rtp, port, 5000, 11);
    await_agent_task(&busy);
    wait_for_codes(1);
    assert_string_equal(fake.codes[0], "12");
}

/* ---- calls that do not end ---- */

/* Runs the call's tick as if that many milliseconds had passed. */
static void tick_later(void *arg)
{
    struct sip_call *c = agent->dialogs.calls.head->data;
    c->tick.run(c->tick.arg, tick_now_ms() + *(int64_t *)arg);
}

static void test_a_silent_call_is_ended(void **state)
{
    (void)state;
    int64_t soon_ms = 7000, later_ms = 31000;
    establish(FAKE_SILENT);
    assert_true(raw_hears_rtp(&r));
    run_on_agent(tick_later, &soon_ms);
    assert_int_equal(agent_calls(), 1);
    run_on_agent(tick_later, &later_ms);
    assert_int_equal(agent_calls(), 0);
    assert_true(raw_requested(&r, "BYE"));
}

static void answer_earlier(void *arg)
{
    struct sip_call *c = agent->dialogs.calls.head->data;
    c->answered_ms -= *(int64_t *)arg;
}

static void test_no_call_is_longer_than_ten_minutes(void **state)
{
    (void)state;
    int64_t almost_ms = 9 * 60 * 1000, rest_ms = 60 * 1000;
    establish(FAKE_CODE);
    assert_true(raw_hears_rtp(&r));
    run_on_agent(answer_earlier, &almost_ms);
    assert_true(raw_hears_rtp(&r));
    assert_int_equal(agent_calls(), 1);
    run_on_agent(answer_earlier, &rest_ms);
    assert_true(raw_requested(&r, "BYE"));
    wait_for_calls(0);
}

/* PHONE-11 */
static void test_one_source_cannot_have_all_calls(void **state)
{
    (void)state;
    struct raw callers[5];
    for (int i = 0; i < 5; i++) {
        raw_open(&callers[i], sip_address(agent));
        raw_invite(&callers[i], FAKE_CODE);
        assert_int_equal(raw_final(&callers[i]), i < 4 ? 200 : 486);
        raw_request(&callers[i], "ACK", FAKE_CODE, 1, "", "");
    }
    for (int i = 0; i < 5; i++)
        raw_close(&callers[i]);
}

static void test_calls_beyond_the_limit_are_refused(void **state)
{
    (void)state;
    struct config one = agent_config;
    one.voice_calls = 1;
    struct sip_agent *a = start_agent(&one);
    struct raw callers[2];
    for (int i = 0; i < 2; i++) {
        raw_open(&callers[i], sip_address(a));
        raw_invite(&callers[i], FAKE_CODE);
        assert_int_equal(raw_final(&callers[i]), i < 1 ? 200 : 503);
        raw_request(&callers[i], "ACK", FAKE_CODE, 1, "", "");
        raw_close(&callers[i]);
    }
    sip_stop(a, 0);
    sip_free(a);
}

static int connect_to_agent(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&r.service, r.service_length), 0);
    return fd;
}

/* PHONE-10 */
static void test_silent_connections_leave_descriptors_to_others(void **state)
{
    enum { LIMIT = 256, TRIED = 100 };
    struct rlimit before, tight;
    int fds[TRIED];
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    tight = before;
    tight.rlim_cur = LIMIT;
    assert_int_equal(tear_down(state), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    assert_int_equal(set_up(state), 0);
    for (int i = 0; i < TRIED; i++)
        fds[i] = connect_to_agent();
    /* The agent closes the last but one at the latest when the last one connects. */
    struct pollfd p = {.fd = fds[TRIED - 2], .events = POLLIN};
    assert_int_equal(poll(&p, 1, RAW_PATIENCE_MS), 1);
    for (int i = 0; i < TRIED; i++)
        close(fds[i]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* One call of another caller, ended at once if it is answered. */
static int try_once(const struct sockaddr_storage *service)
{
    struct raw one;
    raw_open(&one, sip_address(agent));
    one.service = *service;
    raw_invite(&one, FAKE_CODE);
    int status = raw_final(&one);
    if (status == 200) {
        raw_request(&one, "ACK", FAKE_CODE, 1, "", "");
        raw_request(&one, "BYE", FAKE_CODE, 2, "", "");
        assert_int_equal(raw_final(&one), 200);
    }
    raw_close(&one);
    return status;
}

/* SERVICE-16 */
static void test_stopping_lets_calls_end_and_takes_new_ones_until_the_last_seconds(void **state)
{
    (void)state;
    unsigned calls;
    int status;
    establish(FAKE_CODE);
    int port = raw_media_port(&r);
    sip_wind_down(agent, 12000);       /* the last ten seconds are without new calls */
    run_on_agent(count_calls, &calls); /* it has begun */
    assert_int_equal(try_once(&r.service), 200);
    while ((status = try_once(&r.service)) == 200)
        usleep(100000);
    assert_int_equal(status, 503);
    raw_press(r.rtp, port, 1000, 7); /* the call in progress continues */
    raw_press(r.rtp, port, 3000, 11);
    wait_for_codes(1);
    assert_true(raw_requested(&r, "BYE"));
}

static void test_stopping_at_once_hangs_up(void **state)
{
    (void)state;
    struct sip_agent *a = start_agent(&agent_config);
    raw_close(&r);
    raw_open(&r, sip_address(a));
    establish(FAKE_CODE);
    assert_true(raw_hears_rtp(&r));
    sip_stop(a, 0);
    sip_free(a);
    assert_true(raw_requested(&r, "BYE"));
}

static void test_stopping_waits_for_a_pending_decision(void **state)
{
    (void)state;
    struct sip_agent *a = start_agent(&agent_config);
    raw_close(&r);
    raw_open(&r, sip_address(a));
    raw_invite(&r, FAKE_SLOW);
    assert_int_equal(raw_receive(&r, RAW_PATIENCE_MS), 100);
    sip_stop(a, 0);
    sip_free(a);
    assert_int_equal(fake.arrived, 1);
    assert_int_equal(raw_final(&r), 503);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(options_lists_the_allowed_methods),
        T(other_methods_are_refused),
        T(a_required_extension_is_refused_by_name),
        T(unsupported_bodies_are_refused_before_a_decision),
        T(sdp_that_telephones_write_in_their_own_way_is_read),
        T(malformed_messages_are_dropped),
        T(essential_headers_are_required),
        T(a_body_shorter_than_its_content_length_is_refused),
        T(a_reply_is_never_sent_to_a_third_party),
        T(a_cancelled_call_ends),
        T(a_repeated_invite_is_the_same_call),
        T(no_media_flows_before_the_call_is_acknowledged),
        T(a_call_ends_when_the_caller_hangs_up),
        T(an_offer_may_come_in_the_answer),
        T(a_call_may_be_held_and_resumed),
        T(the_negotiated_event_type_is_used),
        T(tones_in_mu_law_are_understood_and_sent),
        T(tones_in_a_law_are_understood_and_sent),
        T(only_the_caller_can_press_keys),
        T(info_is_answered_and_counts_once_when_repeated),
        T(keys_that_arrive_while_the_agent_is_busy_count),
        T(a_silent_call_is_ended),
        T(no_call_is_longer_than_ten_minutes),
        T(one_source_cannot_have_all_calls),
        T(calls_beyond_the_limit_are_refused),
        T(silent_connections_leave_descriptors_to_others),
        T(stopping_lets_calls_end_and_takes_new_ones_until_the_last_seconds),
        T(stopping_at_once_hangs_up),
        T(stopping_waits_for_a_pending_decision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
