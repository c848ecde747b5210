/* Session timers (RFC 4028), UPDATE (RFC 3311) and re-INVITE in both directions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "sip/call.h"
#include "sip/fixture.h"

#define TIMER        "Supported: timer\r\n"
#define OURS         TIMER "Session-Expires: 1800;refresher=uas\r\n"
#define ALLOW_UPDATE "Allow: INVITE, ACK, BYE, UPDATE\r\n"

static struct raw r;

static int set_up(void **state)
{
    agent_set_up(state);
    raw_open(&r, sip_address(agent));
    return 0;
}

static int set_up_tcp(void **state)
{
    set_up(state);
    raw_connect(&r);
    return 0;
}

static int tear_down(void **state)
{
    raw_close(&r);
    return agent_tear_down(state);
}

static bool says(const char *text)
{
    return strstr(r.reply, text) != NULL;
}

static int invite(unsigned cseq, const char *headers)
{
    char all[500];
    (void)snprintf(all, sizeof all, "%s%s", headers, RAW_SDP);
    raw_request(&r, "INVITE", FAKE_CODE, cseq, all, raw_offer(&r, "sendrecv"));
    return raw_final(&r);
}

static void acknowledge(unsigned cseq)
{
    raw_request(&r, "ACK", FAKE_CODE, cseq, "", "");
}

static void establish(const char *headers)
{
    assert_int_equal(invite(1, headers), 200);
    acknowledge(1);
    assert_true(raw_hears_rtp(&r));
}

static struct sip_call *only_call(void)
{
    return list_ledata(agent->dialogs.calls.head);
}

static void make_refresh_due(void *arg)
{
    (void)arg;
    only_call()->refresh.refresh_ms = 1;
}

static void make_expired(void *arg)
{
    (void)arg;
    only_call()->refresh.expire_ms = 1;
}

static void read_refresh(void *arg)
{
    *(struct sip_refresh *)arg = only_call()->refresh;
}

static struct sip_refresh refresh(void)
{
    struct sip_refresh got;
    run_on_agent(read_refresh, &got);
    return got;
}

static void answers_our_offer(void)
{
    char headers[200];
    (void)snprintf(headers, sizeof headers, "%s%s", RAW_SDP, "Session-Expires: 1800;refresher=uac\r\n");
    raw_reply(&r, "200 OK", headers, raw_offer(&r, "sendrecv"));
}

/* ---- the peer refreshes ---- */

/* PHONE-20 */
static void test_a_timer_of_the_peer_is_accepted(void **state)
{
    (void)state;
    establish("Supported: replaces, timer\r\nSession-Expires: 1800\r\n");
    assert_true(says("Session-Expires: 1800;refresher=uac\r\n"));
    assert_true(says("Require: timer\r\n"));
    assert_int_equal(invite(2, "Require: timer\r\nSession-Expires: 600;refresher=uac\r\n"), 200);
    assert_true(says("Session-Expires: 600;refresher=uac\r\n"));
    acknowledge(2);
}

static void test_without_a_timer_none_is_begun(void **state)
{
    (void)state;
    establish(TIMER);
    assert_true(says("Supported: timer\r\n"));
    assert_false(says("Session-Expires"));
    assert_int_equal(refresh().expire_ms, 0);
}

/* PHONE-20 */
static void test_a_small_interval_is_refused_with_the_least_one(void **state)
{
    (void)state;
    assert_int_equal(invite(1, TIMER "Session-Expires: 60\r\n"), 422);
    assert_true(says("Min-SE: 90\r\n"));
    *r.to_tag = '\0';
    establish("");
    raw_request(&r, "UPDATE", FAKE_CODE, 2, TIMER "Session-Expires: 60\r\n", "");
    assert_int_equal(raw_final(&r), 422);
    assert_int_equal(invite(3, TIMER "Session-Expires: 89\r\n"), 422);
    acknowledge(3);
    assert_int_equal(invite(4, TIMER "Session-Expires: 90\r\n"), 200);
    acknowledge(4);
}

/* PHONE-20 */
static void test_a_small_interval_of_a_peer_without_timers_is_ignored(void **state)
{
    (void)state;
    establish("Session-Expires: 60\r\n");
    assert_false(says("Session-Expires"));
}

/* PHONE-21 */
static void test_a_session_that_the_peer_does_not_refresh_ends(void **state)
{
    (void)state;
    establish(TIMER "Session-Expires: 90;refresher=uac\r\n");
    assert_true(refresh().expire_ms > 0 && !refresh().refresh_ms);
    run_on_agent(make_expired, NULL);
    assert_true(raw_requested(&r, "BYE"));
}

static void test_a_refresh_of_the_peer_begins_a_new_interval(void **state)
{
    (void)state;
    establish(TIMER "Session-Expires: 90\r\n");
    int64_t first_ms = refresh().expire_ms;
    raw_request(&r, "UPDATE", FAKE_CODE, 2, TIMER "Session-Expires: 1800\r\n", "");
    assert_int_equal(raw_final(&r), 200);
    assert_true(says("Session-Expires: 1800;refresher=uac\r\n"));
    assert_true(refresh().expire_ms > first_ms);
}

/* ---- UPDATE ---- */

static void test_an_update_with_an_offer_is_answered(void **state)
{
    (void)state;
    establish("");
    raw_request(&r, "UPDATE", FAKE_CODE, 2, RAW_SDP, raw_offer(&r, "sendonly"));
    assert_int_equal(raw_final(&r), 200);
    assert_true(says("a=recvonly") && says("Contact: <sip:portero@"));
    assert_true(raw_falls_silent(&r, 200));
    raw_request(&r, "UPDATE", FAKE_CODE, 3, RAW_SDP, "no sdp at all");
    assert_int_equal(raw_final(&r), 488);
    raw_request(&r, "UPDATE", FAKE_CODE, 2, "", "");
    assert_int_equal(raw_final(&r), 500); /* its CSeq goes back */
}

static void test_an_update_outside_of_a_call_is_refused(void **state)
{
    (void)state;
    raw_request(&r, "UPDATE", FAKE_CODE, 1, "", "");
    assert_int_equal(raw_final(&r), 481);
    (void)snprintf(r.to_tag, sizeof r.to_tag, ";tag=0123456789abcdef");
    raw_request(&r, "UPDATE", FAKE_CODE, 2, "", "");
    assert_int_equal(raw_final(&r), 481);
}

static void test_an_update_moves_the_target(void **state)
{
    (void)state;
    struct raw other;
    raw_open(&other, sip_address(agent));
    establish(TIMER "Session-Expires: 90\r\n");
    (void)snprintf(r.contact, sizeof r.contact, "%s", other.contact);
    raw_request(&r, "UPDATE", FAKE_CODE, 2, TIMER "Session-Expires: 90\r\n", "");
    assert_int_equal(raw_final(&r), 200);
    run_on_agent(make_expired, NULL);
    assert_true(raw_requested(&other, "BYE"));
    raw_close(&other);
}

/* ---- we refresh ---- */

/* PHONE-21 */
static void test_we_refresh_with_update_when_asked(void **state)
{
    (void)state;
    establish(OURS ALLOW_UPDATE);
    assert_true(says("Session-Expires: 1800;refresher=uas\r\n"));
    for (int i = 0; i < 2; i++) {
        run_on_agent(make_refresh_due, NULL);
        assert_true(raw_requested(&r, "UPDATE"));
        assert_true(says("Session-Expires: 1800;refresher=uac\r\n") && says("Contact: <sip:portero@"));
        raw_reply(&r, "200 OK", "Session-Expires: 1800;refresher=uac\r\n", "");
    }
}

/* PHONE-21 */
static void test_we_refresh_with_invite_if_the_peer_does_not_allow_update(void **state)
{
    (void)state;
    establish(OURS);
    run_on_agent(make_refresh_due, NULL);
    assert_true(raw_requested(&r, "INVITE"));
    assert_true(says("Session-Expires: 1800;refresher=uac\r\n") && says("m=audio"));
    answers_our_offer();
    assert_true(raw_requested(&r, "ACK"));
    assert_true(raw_hears_rtp(&r));
}

static void test_a_refused_update_is_followed_by_invite(void **state)
{
    (void)state;
    establish(OURS ALLOW_UPDATE);
    run_on_agent(make_refresh_due, NULL);
    assert_true(raw_requested(&r, "UPDATE"));
    raw_reply(&r, "405 Method Not Allowed", "", "");
    assert_true(raw_requested(&r, "INVITE"));
    answers_our_offer();
    assert_true(raw_requested(&r, "ACK"));
}

static void test_a_longer_interval_is_granted(void **state)
{
    (void)state;
    establish(OURS ALLOW_UPDATE);
    run_on_agent(make_refresh_due, NULL);
    assert_true(raw_requested(&r, "UPDATE"));
    raw_reply(&r, "422 Session Interval Too Small", "Min-SE: 3600\r\n", "");
    assert_true(raw_requested(&r, "UPDATE"));
    assert_true(says("Session-Expires: 3600;refresher=uac\r\n"));
}

static void test_a_peer_that_forgot_the_call_ends_it(void **state)
{
    (void)state;
    establish(OURS ALLOW_UPDATE);
    run_on_agent(make_refresh_due, NULL);
    assert_true(raw_requested(&r, "UPDATE"));
    raw_reply(&r, "481 Call/Transaction Does Not Exist", "", "");
    assert_true(raw_requested(&r, "BYE"));
}

static void test_two_offers_at_once_are_refused_and_ours_repeated(void **state)
{
    (void)state;
    establish(OURS);
    run_on_agent(make_refresh_due, NULL);
    assert_true(raw_requested(&r, "INVITE"));
    char ours[sizeof r.reply];
    memcpy(ours, r.reply, sizeof ours);
    assert_int_equal(invite(2, ""), 491);
    acknowledge(2);
    raw_request(&r, "UPDATE", FAKE_CODE, 3, RAW_SDP, raw_offer(&r, "sendrecv"));
    assert_int_equal(raw_final(&r), 491);
    memcpy(r.reply, ours, sizeof ours);
    raw_reply(&r, "491 Request Pending", "", "");
    assert_true(raw_requested(&r, "ACK"));
    assert_true(raw_requested(&r, "INVITE"));
    answers_our_offer();
    assert_true(raw_requested(&r, "ACK"));
    raw_request(&r, "UPDATE", FAKE_CODE, 4, RAW_SDP, raw_offer(&r, "sendrecv"));
    assert_int_equal(raw_final(&r), 200);
}

static void test_an_update_waits_for_the_answer_to_our_offer(void **state)
{
    (void)state;
    establish("");
    raw_request(&r, "INVITE", FAKE_CODE, 2, "", "");
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "UPDATE", FAKE_CODE, 3, RAW_SDP, raw_offer(&r, "sendrecv"));
    assert_int_equal(raw_final(&r), 491);
    raw_request(&r, "ACK", FAKE_CODE, 2, RAW_SDP, raw_offer(&r, "sendrecv"));
    raw_request(&r, "UPDATE", FAKE_CODE, 4, RAW_SDP, raw_offer(&r, "sendrecv"));
    assert_int_equal(raw_final(&r), 200);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
#define TCP(name)                                                                                                      \
    {                                                                                                                  \
        "test_" #name "_over_tcp", test_##name, set_up_tcp, tear_down, NULL                                            \
    }
    const struct CMUnitTest tests[] = {
        T(a_timer_of_the_peer_is_accepted),
        TCP(a_timer_of_the_peer_is_accepted),
        T(without_a_timer_none_is_begun),
        T(a_small_interval_is_refused_with_the_least_one),
        T(a_small_interval_of_a_peer_without_timers_is_ignored),
        T(a_session_that_the_peer_does_not_refresh_ends),
        T(a_refresh_of_the_peer_begins_a_new_interval),
        T(an_update_with_an_offer_is_answered),
        T(an_update_outside_of_a_call_is_refused),
        T(an_update_moves_the_target),
        T(we_refresh_with_update_when_asked),
        TCP(we_refresh_with_update_when_asked),
        T(we_refresh_with_invite_if_the_peer_does_not_allow_update),
        TCP(we_refresh_with_invite_if_the_peer_does_not_allow_update),
        T(a_refused_update_is_followed_by_invite),
        T(a_longer_interval_is_granted),
        T(a_peer_that_forgot_the_call_ends_it),
        T(two_offers_at_once_are_refused_and_ours_repeated),
        T(an_update_waits_for_the_answer_to_our_offer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
