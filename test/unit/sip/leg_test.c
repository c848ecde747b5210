/* The resident's call: session timers (RFC 4028), UPDATE (RFC 3311) and re-INVITE in both directions, and calls that
 * are given up before the phone responds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <re/re.h>
#include <rem/rem.h>

#include "sip/forward_scene.h"
#include "sip/leg.h"

#define ALLOW_UPDATE "Allow: INVITE, ACK, BYE, UPDATE\r\n"
#define OURS         "Supported: timer\r\nRequire: timer\r\nSession-Expires: 600;refresher=uac\r\n"
#define THEIRS       "Supported: timer\r\nRequire: timer\r\nSession-Expires: 90;refresher=uas\r\n"

static bool says(const char *text)
{
    return strstr(trunk.request, text) != NULL;
}

static bool take_leg(struct le *le, void *arg)
{
    *(struct sip_leg **)arg = le->data;
    return true;
}

static struct sip_leg *only_leg(void)
{
    struct sip_leg *leg = NULL;
    hash_apply(agent->dialogs.legs, take_leg, &leg);
    return leg;
}

static void make_refresh_due(void *arg)
{
    (void)arg;
    only_leg()->refresh.refresh_ms = 1;
}

static void make_expired(void *arg)
{
    (void)arg;
    only_leg()->refresh.expire_ms = 1;
}

static void read_refresh(void *arg)
{
    *(struct sip_refresh *)arg = only_leg()->refresh;
}

static struct sip_refresh refresh(void)
{
    struct sip_refresh got;
    run_on_agent(read_refresh, &got);
    return got;
}

/* Visitor and resident talk; the phone's 200 has `headers`. */
static void talk(struct raw_phone *p, const char *headers)
{
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, p, FIRST));
    trunk_respond(&trunk, p->invite, 200, headers, phone_sdp(&trunk, 0, "sendrecv"));
    (void)visitor_answered();
    assert_true(trunk_receive(&trunk, "ACK", RAW_PATIENCE_MS));
}

/* A request of the phone with further header lines. */
static void phone_asks(struct raw_phone *p, const char *method, const char *headers, const char *body)
{
    char head[8192];
    (void)snprintf(head, sizeof head,
                   "%s sip:portero@127.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:%d;branch=z9hG4bK%s%u;rport\r\n"
                   "From: %s;tag=phone\r\nTo: %s\r\n%s\r\nCSeq: %u %s\r\nMax-Forwards: 70\r\n"
                   "Contact: <sip:phone@127.0.0.1:%d>\r\n%s",
                   method, trunk.port, method, p->cseq, raw_value(p->invite, "To"), raw_value(p->invite, "From"),
                   raw_header(p->invite, "Call-ID"), p->cseq, method, trunk.port, headers);
    p->cseq++;
    trunk_send(&trunk, head, body);
}

/* Answers our re-INVITE. */
static void answer_offer(const char *headers)
{
    trunk_respond(&trunk, trunk.request, 200, headers, phone_sdp(&trunk, 0, "sendrecv"));
}

/* ---- the timer of a call ---- */

/* PHONE-22 */
static void test_our_invite_asks_for_a_timer(void **state)
{
    struct raw_phone *p = *state;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, p, FIRST));
    assert_non_null(strstr(p->invite, "\r\nSupported: timer\r\nSession-Expires: 600\r\nMin-SE: 90\r\n"));
    phone_answers(&trunk, p); /* which knows no timers: none is begun */
    (void)visitor_answered();
    assert_true(trunk_receive(&trunk, "ACK", RAW_PATIENCE_MS));
    assert_int_equal(refresh().expire_ms, 0);
    hang_up_and_end(p);
}

static void test_a_longer_interval_is_granted_at_once(void **state)
{
    struct raw_phone *p = *state;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, p, FIRST));
    trunk_respond(&trunk, p->invite, 422, "Min-SE: 1800\r\n", "");
    assert_true(phone_called(&trunk, p, FIRST));
    assert_non_null(strstr(p->invite, "\r\nSession-Expires: 1800\r\nMin-SE: 1800\r\n"));
    trunk_respond(&trunk, p->invite, 200, "Require: timer\r\nSession-Expires: 1800;refresher=uac\r\n",
                  phone_sdp(&trunk, 0, "sendrecv"));
    (void)visitor_answered();
    assert_true(trunk_receive(&trunk, "ACK", RAW_PATIENCE_MS));
    assert_int_equal(refresh().timer.interval_s, 1800);
    hang_up_and_end(p);
}

/* PHONE-22 */
static void test_a_trunk_that_wants_ever_longer_intervals_fails(void **state)
{
    struct raw_phone *p = *state;
    char headers[64];
    visit(FAKE_RING);
    for (int i = 0; i < 4; i++) {
        assert_true(phone_called(&trunk, p, FIRST));
        (void)snprintf(headers, sizeof headers, "Min-SE: %d\r\n", 700 + i);
        trunk_respond(&trunk, p->invite, 422, headers, "");
    }
    (void)visitor_answered(); /* to be told that nobody can be reached */
    visitor_hung_up_on();
}

/* ---- the phone refreshes ---- */

/* PHONE-22 */
static void test_a_session_that_the_phone_does_not_refresh_ends(void **state)
{
    struct raw_phone *p = *state;
    talk(p, THEIRS);
    assert_true(refresh().expire_ms > 0 && !refresh().refresh_ms);
    run_on_agent(make_expired, NULL);
    phone_hung_up_on();
    visitor_hung_up_on();
}

static void test_a_refresh_of_the_phone_begins_a_new_interval(void **state)
{
    struct raw_phone *p = *state;
    talk(p, THEIRS);
    const int64_t first_ms = refresh().expire_ms;
    phone_asks(p, "UPDATE", "Supported: timer\r\nSession-Expires: 1800;refresher=uac\r\n", "");
    assert_true(trunk_receive(&trunk, "200", RAW_PATIENCE_MS));
    assert_true(says("Session-Expires: 1800;refresher=uac\r\n"));
    assert_true(refresh().expire_ms > first_ms);
    phone_asks(p, "INVITE", "Supported: timer\r\nSession-Expires: 900;refresher=uac\r\n",
               phone_sdp(&trunk, 0, "sendrecv"));
    assert_true(trunk_receive(&trunk, "200", RAW_PATIENCE_MS));
    assert_true(says("Session-Expires: 900;refresher=uac\r\n"));
    phone_requests(&trunk, p, "ACK", "");
    phone_asks(p, "UPDATE", "Supported: timer\r\nSession-Expires: 60\r\n", "");
    assert_true(trunk_receive(&trunk, "422", RAW_PATIENCE_MS));
    assert_true(says("Min-SE: 90\r\n"));
    hang_up_and_end(p);
}

/* ---- we refresh ---- */

static void test_we_refresh_with_update(void **state)
{
    struct raw_phone *p = *state;
    talk(p, OURS ALLOW_UPDATE);
    for (int i = 0; i < 2; i++) {
        run_on_agent(make_refresh_due, NULL);
        assert_true(trunk_receive(&trunk, "UPDATE", RAW_PATIENCE_MS));
        assert_true(says("Session-Expires: 600;refresher=uac\r\n") && says("Contact: <sip:"));
        trunk_respond(&trunk, trunk.request, 200, "Session-Expires: 600;refresher=uac\r\n", "");
    }
    hang_up_and_end(p);
}

static void test_we_refresh_with_invite_if_the_phone_does_not_allow_update(void **state)
{
    struct raw_phone *p = *state;
    talk(p, OURS);
    run_on_agent(make_refresh_due, NULL);
    assert_true(trunk_receive(&trunk, "INVITE", RAW_PATIENCE_MS));
    assert_true(says("Session-Expires: 600;refresher=uac\r\n") && says("m=audio"));
    answer_offer("Session-Expires: 600;refresher=uac\r\n");
    assert_true(trunk_receive(&trunk, "ACK", RAW_PATIENCE_MS));
    audio_passes(trunk.rtp, phone_media_port(p), 0, 0x33, r.rtp, 0, 0x33);
    hang_up_and_end(p);
}

static void test_a_challenged_refresh_is_repeated_with_the_password(void **state)
{
    struct raw_phone *p = *state;
    talk(p, OURS ALLOW_UPDATE);
    run_on_agent(make_refresh_due, NULL);
    assert_true(trunk_receive(&trunk, "UPDATE", RAW_PATIENCE_MS));
    trunk_respond(&trunk, trunk.request, 407, "Proxy-Authenticate: Digest realm=\"trunk\", nonce=\"abc\"\r\n", "");
    assert_true(trunk_receive(&trunk, "INVITE", RAW_PATIENCE_MS));
    trunk_respond(&trunk, trunk.request, 407, "Proxy-Authenticate: Digest realm=\"trunk\", nonce=\"abc\"\r\n", "");
    assert_true(trunk_receive(&trunk, "INVITE", RAW_PATIENCE_MS));
    assert_true(says("\r\nProxy-Authorization: Digest username=\"box\""));
    answer_offer("Session-Expires: 600;refresher=uac\r\n");
    assert_true(trunk_receive(&trunk, "ACK", RAW_PATIENCE_MS));
    hang_up_and_end(p);
}

static void test_a_phone_that_forgot_the_call_ends_it(void **state)
{
    struct raw_phone *p = *state;
    talk(p, OURS ALLOW_UPDATE);
    run_on_agent(make_refresh_due, NULL);
    assert_true(trunk_receive(&trunk, "UPDATE", RAW_PATIENCE_MS));
    trunk_respond(&trunk, trunk.request, 481, "", "");
    phone_hung_up_on();
    visitor_hung_up_on();
}

/* ---- offers of the phone ---- */

static void test_update_holds_and_resumes(void **state)
{
    struct raw_phone *p = *state;
    talk(p, "");
    phone_requests(&trunk, p, "UPDATE", phone_sdp(&trunk, 0, "sendonly"));
    assert_true(trunk_receive(&trunk, "200", RAW_PATIENCE_MS));
    assert_true(says("a=recvonly"));
    phone_requests(&trunk, p, "UPDATE", phone_sdp(&trunk, 0, "inactive"));
    assert_true(trunk_receive(&trunk, "200", RAW_PATIENCE_MS));
    assert_true(says("a=inactive"));
    phone_requests(&trunk, p, "UPDATE", phone_sdp(&trunk, 0, "sendrecv"));
    assert_true(trunk_receive(&trunk, "200", RAW_PATIENCE_MS));
    assert_true(says("a=sendrecv"));
    audio_passes(trunk.rtp, phone_media_port(p), 0, 0x33, r.rtp, 0, 0x33);
    phone_requests(&trunk, p, "UPDATE", "no sdp at all");
    assert_true(trunk_receive(&trunk, "488", RAW_PATIENCE_MS));
    hang_up_and_end(p);
}

static void test_a_request_for_an_offer_gets_one_and_update_waits_for_its_answer(void **state)
{
    struct raw_phone *p = *state;
    talk(p, "");
    phone_requests(&trunk, p, "INVITE", "");
    assert_true(trunk_receive(&trunk, "200", RAW_PATIENCE_MS));
    assert_true(says("m=audio"));
    phone_requests(&trunk, p, "UPDATE", phone_sdp(&trunk, 0, "sendrecv"));
    assert_true(trunk_receive(&trunk, "491", RAW_PATIENCE_MS));
    p->cseq--; /* of the INVITE */
    phone_requests(&trunk, p, "ACK", phone_sdp(&trunk, 8, "sendrecv"));
    p->cseq++;
    phone_requests(&trunk, p, "UPDATE", phone_sdp(&trunk, 0, "sendrecv"));
    assert_true(trunk_receive(&trunk, "200", RAW_PATIENCE_MS));
    audio_passes(trunk.rtp, phone_media_port(p), 0, 0x33, r.rtp, 0, 0x33);
    hang_up_and_end(p);
}

/* PHONE-14 */
static void test_a_bye_before_the_ack_of_a_re_invite_ends_its_answer(void **state)
{
    struct raw_phone *p = *state;
    talk(p, "");
    phone_requests(&trunk, p, "INVITE", phone_sdp(&trunk, 0, "sendonly"));
    assert_true(trunk_receive(&trunk, "200", RAW_PATIENCE_MS));
    phone_requests(&trunk, p, "BYE", "");
    do /* repetitions that were sent before the BYE arrived */
        assert_true(trunk_receive(&trunk, "200", RAW_PATIENCE_MS));
    while (!says(" BYE\r\n"));
    visitor_hung_up_on();
    assert_false(trunk_receive(&trunk, "200", 1300));
}

static void test_update_for_another_call_is_refused(void **state)
{
    struct raw_phone *p = *state, other;
    talk(p, "");
    other = *p;
    memcpy(strstr(other.invite, "Call-ID: ") + 9, "zzzz", 4);
    phone_requests(&trunk, &other, "UPDATE", "");
    assert_true(trunk_receive(&trunk, "481", RAW_PATIENCE_MS));
    hang_up_and_end(p);
}

/* ---- redirections ---- */

/* PHONE-27 */
static void test_a_redirection_is_not_followed(void **state)
{
    struct raw_phone *p = *state;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, p, FIRST));
    trunk_respond(&trunk, p->invite, 302, "", ""); /* with a Contact */
    assert_true(phone_called(&spare, p, FIRST));
    trunk_respond(&spare, p->invite, 301, "", "");
    (void)visitor_answered(); /* to be told that nobody can be reached */
    visitor_hung_up_on();
    assert_false(trunk_receive(&trunk, "INVITE", 300) || trunk_receive(&spare, "INVITE", 300));

    next_visitor(); /* the trunks are not the last choice */
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, p, FIRST));
    phone_answers(&trunk, p);
    (void)visitor_answered();
    hang_up_and_end(p);
}

/* ---- many visitors ---- */

static void allow_one_forward(void *arg)
{
    (void)arg;
    agent_config.voice_forwards_per_building = 1;
}

static void allow_many_forwards(void *arg)
{
    (void)arg;
    agent_config.voice_forwards_per_building = 100;
}

/* CALL-37 */
static void test_a_visitor_beyond_the_limit_of_the_building_hears_that_the_line_is_busy(void **state)
{
    struct raw_phone *p = *state;
    struct raw other;
    run_on_agent(allow_one_forward, NULL);
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, p, FIRST));
    phone_rings(p);
    assert_int_equal(next_response(), 180);

    raw_open(&other, sip_address(agent));
    raw_invite(&other, FAKE_RING);
    assert_int_equal(raw_final(&other), 200);
    raw_request(&other, "ACK", FAKE_RING, 1, "", "");
    assert_true(raw_requested(&other, "BYE"));
    raw_reply(&other, "200 OK", "", "");
    raw_close(&other);
    assert_false(trunk_receive(&trunk, "INVITE", 300) || trunk_receive(&spare, "INVITE", 10));
    pthread_mutex_lock(&fake.lock);
    const bool busy = strstr(fake.steps, "unanswered") && strstr(fake.steps, "busy");
    pthread_mutex_unlock(&fake.lock);
    assert_true(busy);

    phone_answers(&trunk, p); /* the first goes on */
    (void)visitor_answered();
    hang_up_and_end(p);
    wait_for_calls(0);
    next_visitor(); /* and then there is a place again */
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, p, FIRST));
    phone_answers(&trunk, p);
    (void)visitor_answered();
    hang_up_and_end(p);
    run_on_agent(allow_many_forwards, NULL);
}

static void set_known(bool known)
{
    pthread_mutex_lock(&fake.lock);
    fake.known = known;
    pthread_mutex_unlock(&fake.lock);
}

static void allow_three_forwards(void *arg)
{
    (void)arg;
    agent_config.voice_forwards_per_building = 3;
}

/* CALL-37 */
static void test_strangers_leave_two_places_to_known_callers(void **state)
{
    struct raw_phone *p = *state;
    struct raw other;
    run_on_agent(allow_three_forwards, NULL);
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, p, FIRST));
    phone_rings(p);
    raw_open(&other, sip_address(agent));
    raw_invite(&other, FAKE_RING);
    assert_int_equal(raw_final(&other), 200); /* to be told that the line is busy */
    raw_request(&other, "ACK", FAKE_RING, 1, "", "");
    assert_true(raw_requested(&other, "BYE"));
    raw_reply(&other, "200 OK", "", "");
    raw_close(&other);
    set_known(true);
    raw_open(&other, sip_address(agent));
    raw_invite(&other, FAKE_RING);
    assert_true(trunk_receive(&trunk, "INVITE", RAW_PATIENCE_MS));
    set_known(false);
    raw_request(&other, "CANCEL", FAKE_RING, 1, "", "");
    raw_close(&other);
    visitor_cancels();
    wait_for_calls(0);
    run_on_agent(allow_many_forwards, NULL);
}

/* CALL-37 */
static void test_a_known_caller_displaces_the_oldest_stranger(void **state)
{
    struct raw_phone *p = *state;
    struct raw stranger;
    run_on_agent(allow_one_forward, NULL);
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, p, FIRST));
    phone_answers(&trunk, p);
    (void)visitor_answered();
    stranger = r;
    raw_open(&r, sip_address(agent));
    set_known(true);
    visit(FAKE_RING);
    assert_true(raw_requested(&stranger, "BYE"));
    raw_reply(&stranger, "200 OK", "", "");
    phone_hung_up_on();
    assert_true(phone_called(&trunk, p, FIRST));
    phone_answers(&trunk, p);
    (void)visitor_answered();
    struct raw third; /* a known caller displaces no other known caller */
    raw_open(&third, sip_address(agent));
    raw_invite(&third, FAKE_RING);
    assert_int_equal(raw_final(&third), 200);
    raw_request(&third, "ACK", FAKE_RING, 1, "", "");
    assert_true(raw_requested(&third, "BYE"));
    raw_reply(&third, "200 OK", "", "");
    set_known(false);
    hang_up_and_end(p);
    wait_for_calls(0);
    raw_close(&third);
    raw_close(&stranger);
    run_on_agent(allow_many_forwards, NULL);
}

/* ---- SRTP in our offer to a visitor ---- */

#define KEY "inline:WVNfX19zZW1jdGwgKCkgewkyMjA7fQp9CnVubGVz"

static void require_srtp(void *arg)
{
    agent_config.peers[0].srtp = arg; /* the visitor calls from its address */
}

/* Calls without an offer, and answers in the ACK. Returns the service's offer. */
static const char *call_late(const char *profile, const char *crypto)
{
    static char offer[RAW_MESSAGE_MAX];
    char answer[1024];
    raw_request(&r, "INVITE", FAKE_CODE, 1, "", "");
    assert_int_equal(raw_final(&r), 200);
    memcpy(offer, r.reply, sizeof offer);
    (void)snprintf(answer, sizeof answer,
                   "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
                   "m=audio %d %s 0\r\n%s",
                   r.rtp_port, profile, crypto);
    raw_request(&r, "ACK", FAKE_CODE, 1, RAW_SDP, answer);
    return offer;
}

/* The size of the next packet of audio. */
static ssize_t packet_size(void)
{
    uint8_t packet[2048];
    struct pollfd p = {.fd = r.rtp, .events = POLLIN};
    return poll(&p, 1, RAW_PATIENCE_MS) > 0 ? recv(r.rtp, packet, sizeof packet, 0) : 0;
}

static void visitor_leaves(void)
{
    raw_request(&r, "BYE", FAKE_CODE, 2, "", "");
    assert_int_equal(raw_final(&r), 200);
}

/* PHONE-36 */
static void test_our_offer_has_the_srtp_that_the_trunk_requires(void **state)
{
    (void)state;
    run_on_agent(require_srtp, "required");
    const char *offer = call_late("RTP/SAVP", "a=crypto:1 AES_CM_128_HMAC_SHA1_80 " KEY "\r\n");
    assert_non_null(strstr(offer, " RTP/SAVP "));
    assert_non_null(strstr(offer, "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:"));
    assert_int_equal(packet_size(), 12 + 160 + 10);
    visitor_leaves();

    next_visitor();
    (void)call_late("RTP/SAVP", ""); /* no key: no call */
    assert_true(raw_requested(&r, "BYE"));
    raw_reply(&r, "200 OK", "", "");
}

/* PHONE-36 */
static void test_our_offer_of_optional_srtp_fits_both_answers(void **state)
{
    (void)state;
    run_on_agent(require_srtp, "optional");
    const char *offer = call_late("RTP/AVP", "a=crypto:2 AES_CM_128_HMAC_SHA1_32 " KEY "\r\n");
    assert_non_null(strstr(offer, " RTP/AVP "));
    assert_non_null(strstr(offer, "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:"));
    assert_int_equal(packet_size(), 12 + 160 + 4);
    visitor_leaves();

    next_visitor();
    (void)call_late("RTP/AVP", "");
    assert_int_equal(packet_size(), 12 + 160);
    visitor_leaves();
}

static void test_our_offer_has_no_srtp_where_it_is_off(void **state)
{
    (void)state;
    const char *offer = call_late("RTP/AVP", "");
    assert_null(strstr(offer, "a=crypto"));
    assert_int_equal(packet_size(), 12 + 160);
    visitor_leaves();
}

/* ---- given up before a response ---- */

static void test_a_call_given_up_before_a_response_is_cancelled_after_it(void **state)
{
    struct raw_phone *p = *state;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, p, FIRST));
    visitor_cancels();
    assert_false(trunk_receive(&trunk, "CANCEL", 300)); /* RFC 3261, 9.1 */
    phone_rings(p);
    phone_cancelled(p);
}

static void late_answer_is_hung_up_on(struct raw_phone *p)
{
    phone_answers(&trunk, p);
    assert_true(trunk_receive(&trunk, "ACK", RAW_PATIENCE_MS));
    phone_hung_up_on();
}

static void stop_service(void)
{
    stopped = true;
    sip_wind_down(agent, 0);
    assert_int_equal(next_response(), 503);
}

static void test_a_call_given_up_before_an_answer_is_hung_up(void **state)
{
    struct raw_phone *p = *state;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, p, FIRST));
    visitor_cancels();
    late_answer_is_hung_up_on(p);
}

static void test_a_stopping_service_cancels_a_call_that_got_no_response_yet(void **state)
{
    struct raw_phone *p = *state;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, p, FIRST));
    stop_service();
    assert_false(trunk_receive(&trunk, "CANCEL", 300));
    phone_rings(p);
    phone_cancelled(p);
}

static void test_a_stopping_service_hangs_up_on_a_late_answer(void **state)
{
    struct raw_phone *p = *state;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, p, FIRST));
    stop_service();
    late_answer_is_hung_up_on(p);
}

/* SERVICE-20 */
static void test_a_dead_trunk_does_not_hold_up_a_stopping_service(void **state)
{
    struct raw_phone *p = *state;
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, p, FIRST));
    stopped = true;
    sip_wind_down(agent, 0); /* the thread ends: the tear-down waits for it */
}

/* Each test has one phone. */
static int set_up_phone(void **state)
{
    static struct raw_phone phone;
    int e = set_up(state);
    phone = (struct raw_phone){0};
    *state = &phone;
    return e;
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, set_up_phone, tear_down)
    const struct CMUnitTest tests[] = {
        T(our_invite_asks_for_a_timer),
        T(a_longer_interval_is_granted_at_once),
        T(a_trunk_that_wants_ever_longer_intervals_fails),
        T(a_session_that_the_phone_does_not_refresh_ends),
        T(a_refresh_of_the_phone_begins_a_new_interval),
        T(we_refresh_with_update),
        T(we_refresh_with_invite_if_the_phone_does_not_allow_update),
        T(a_challenged_refresh_is_repeated_with_the_password),
        T(a_phone_that_forgot_the_call_ends_it),
        T(update_holds_and_resumes),
        T(a_request_for_an_offer_gets_one_and_update_waits_for_its_answer),
        T(a_bye_before_the_ack_of_a_re_invite_ends_its_answer),
        T(update_for_another_call_is_refused),
        T(a_redirection_is_not_followed),
        T(a_visitor_beyond_the_limit_of_the_building_hears_that_the_line_is_busy),
        T(strangers_leave_two_places_to_known_callers),
        T(a_known_caller_displaces_the_oldest_stranger),
        T(our_offer_has_the_srtp_that_the_trunk_requires),
        T(our_offer_of_optional_srtp_fits_both_answers),
        T(our_offer_has_no_srtp_where_it_is_off),
        T(a_call_given_up_before_a_response_is_cancelled_after_it),
        T(a_call_given_up_before_an_answer_is_hung_up),
        T(a_stopping_service_cancels_a_call_that_got_no_response_yet),
        T(a_stopping_service_hangs_up_on_a_late_answer),
        T(a_dead_trunk_does_not_hold_up_a_stopping_service),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
