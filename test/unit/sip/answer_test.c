/* Calls that are not answered, or whose answer is not acknowledged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "call/known.h"
#include "sip/forward_scene.h"

/* The To of the 200 is the From of the BYE, with its tag. */
static void is_bye_of(const char *answer_to)
{
    assert_int_equal(strncmp(r.reply, "BYE sip:", 8), 0);
    assert_string_equal(raw_value(r.reply, "From"), answer_to);
    assert_non_null(strstr(raw_header(r.reply, "Call-ID"), raw_value(r.reply, "Call-ID")));
}

/* The repetitions of the 200 go on for 32 s. */
/* PHONE-13 */
static void test_an_answer_that_is_never_acknowledged_ends_with_a_bye(void **state)
{
    (void)state;
    char to[1024];
    int answers = 0;
    raw_invite(&r, FAKE_CODE);
    assert_int_equal(raw_final(&r), 200);
    (void)snprintf(to, sizeof to, "%s", raw_value(r.reply, "To"));
    while (raw_receive(&r, 6000) == 200) /* the longest time between two of them is 4 s */
        answers++;
    assert_in_range(answers, 8, 12);
    is_bye_of(to);
    assert_true(raw_requested(&r, "BYE")); /* and again, until it is answered */
    visitor_hung_up_on();
    wait_for_calls(0);
    wait_for_record(0);
    assert_int_equal(fake_count(&fake.records), 1);
    assert_int_equal(fake.ended_by, CALL_ENDED_LOST);
}

static void test_a_service_that_stops_hangs_up_on_a_call_that_is_not_acknowledged(void **state)
{
    (void)state;
    char to[1024];
    raw_invite(&r, FAKE_CODE);
    assert_int_equal(raw_final(&r), 200);
    (void)snprintf(to, sizeof to, "%s", raw_value(r.reply, "To"));
    sip_wind_down(agent, 0);
    stopped = true;
    assert_true(raw_requested(&r, "BYE"));
    is_bye_of(to);
}

/* The 200 is not repeated any more. */
static void hangs_up(unsigned cseq)
{
    raw_request(&r, "BYE", FAKE_CODE, cseq, "", "");
    assert_int_equal(raw_final(&r), 200);
    wait_for_calls(0);
    while (raw_receive(&r, 0) == 200)
        ; /* repetitions that were sent before the BYE arrived */
    assert_int_equal(raw_receive(&r, 1300), 0);
}

/* PHONE-14 */
static void test_an_update_before_the_ack_is_answered_and_a_bye_ends_the_answer(void **state)
{
    (void)state;
    raw_invite(&r, FAKE_CODE);
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "UPDATE", FAKE_CODE, 2, RAW_SDP, raw_offer(&r, "sendonly"));
    assert_int_equal(raw_final(&r), 200);
    assert_non_null(strstr(r.reply, "a=recvonly"));
    raw_request(&r, "UPDATE", FAKE_CODE, 3, "Supported: timer\r\nSession-Expires: 600\r\n", "");
    assert_int_equal(raw_final(&r), 200);
    assert_non_null(strstr(r.reply, "Session-Expires: 600"));
    hangs_up(4);
}

static void test_an_update_before_the_ack_moves_the_target(void **state)
{
    (void)state;
    struct raw other;
    raw_open(&other, sip_address(agent));
    raw_invite(&r, FAKE_CODE);
    assert_int_equal(raw_final(&r), 200);
    (void)snprintf(r.contact, sizeof r.contact, "%s", other.contact);
    raw_request(&r, "UPDATE", FAKE_CODE, 2, "", "");
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "ACK", FAKE_CODE, 1, "", "");
    assert_true(raw_hears_rtp(&r));
    sip_wind_down(agent, 0);
    stopped = true;
    assert_true(raw_requested(&other, "BYE"));
    raw_close(&other);
}

/* PHONE-14 */
static void test_an_invite_before_the_ack_is_refused_until_then(void **state)
{
    (void)state;
    raw_invite(&r, FAKE_CODE);
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "INVITE", FAKE_CODE, 2, RAW_SDP, raw_offer(&r, "sendrecv"));
    assert_int_equal(raw_final(&r), 491);
    raw_request(&r, "ACK", FAKE_CODE, 2, "", "");
    assert_int_equal(raw_count_rtp(&r, 150), 0); /* it acknowledges the 491 */
    raw_request(&r, "ACK", FAKE_CODE, 1, "", "");
    assert_true(raw_hears_rtp(&r));
    raw_request(&r, "INVITE", FAKE_CODE, 3, RAW_SDP, raw_offer(&r, "sendrecv"));
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "ACK", FAKE_CODE, 3, "", "");
    hangs_up(4);
}

/* PHONE-14 */
static void test_a_bye_before_the_ack_of_a_re_invite_ends_its_answer(void **state)
{
    (void)state;
    static const char *const offers[] = {"sendrecv", "sendonly", NULL};
    for (unsigned i = 0; i < sizeof offers / sizeof *offers; i++) {
        next_visitor();
        raw_invite(&r, FAKE_CODE);
        assert_int_equal(raw_final(&r), 200);
        raw_request(&r, "ACK", FAKE_CODE, 1, "", "");
        assert_true(raw_hears_rtp(&r));
        raw_request(&r, "INVITE", FAKE_CODE, 2, offers[i] ? RAW_SDP : "", offers[i] ? raw_offer(&r, offers[i]) : "");
        assert_int_equal(raw_final(&r), 200);
        hangs_up(3);
    }
}

static void test_no_request_but_an_ack_lets_the_answer_outlive_a_bye(void **state)
{
    (void)state;
    static const char *const methods[] = {"INVITE", "UPDATE", "OPTIONS", "REFER", "INFO"};
    for (unsigned i = 0; i < sizeof methods / sizeof *methods; i++) {
        next_visitor();
        raw_invite(&r, FAKE_CODE);
        assert_int_equal(raw_final(&r), 200);
        raw_request(&r, methods[i], FAKE_CODE, 2, "", "");
        assert_true(raw_final(&r) >= 200);
        hangs_up(3);
    }
}

static void test_an_offer_before_the_answer_to_ours_is_refused(void **state)
{
    (void)state;
    raw_request(&r, "INVITE", FAKE_CODE, 1, "", "");
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "UPDATE", FAKE_CODE, 2, RAW_SDP, raw_offer(&r, "sendrecv"));
    assert_int_equal(raw_final(&r), 491);
    raw_request(&r, "ACK", FAKE_CODE, 1, RAW_SDP, raw_offer(&r, "sendrecv"));
    assert_true(raw_hears_rtp(&r));
    hangs_up(3);
}

/* ---- before the answer ---- */

static void ring_visitor(struct raw_phone *p)
{
    visit(FAKE_RING);
    assert_true(phone_called(&trunk, p, FIRST));
    trunk_respond(&trunk, p->invite, 180, "", "");
    assert_int_equal(next_response(), 180);
    raw_note_tag(&r);
}

/* PHONE-14 */
static void test_a_call_that_rings_may_be_refreshed_but_gets_no_second_offer(void **state)
{
    (void)state;
    struct raw_phone p;
    ring_visitor(&p);
    raw_request(&r, "UPDATE", FAKE_RING, 2, "", "");
    assert_int_equal(raw_final(&r), 200);
    assert_non_null(strstr(r.reply, "\r\nContact: <sip:"));
    raw_request(&r, "UPDATE", FAKE_RING, 3, RAW_SDP, raw_offer(&r, "sendrecv"));
    assert_int_equal(raw_final(&r), 500);
    assert_non_null(strstr(r.reply, "\r\nRetry-After: "));
    raw_request(&r, "INVITE", FAKE_RING, 4, RAW_SDP, raw_offer(&r, "sendrecv"));
    assert_int_equal(raw_final(&r), 500);
    assert_non_null(strstr(r.reply, "\r\nRetry-After: "));
    raw_request(&r, "INFO", FAKE_RING, 5, "", "");
    assert_int_equal(raw_final(&r), 481);
    phone_answers(&trunk, &p);
    r.cseq = 1;
    (void)visitor_answered();
    assert_true(raw_hears_rtp(&r));
    raw_request(&r, "BYE", FAKE_RING, 6, "", "");
    assert_int_equal(raw_final(&r), 200);
    assert_true(trunk_receive(&trunk, "BYE", RAW_PATIENCE_MS));
    trunk_respond(&trunk, trunk.request, 200, "", "");
}

/* PHONE-14 */
static void test_a_visitor_may_end_a_call_that_rings_with_a_bye(void **state)
{
    (void)state;
    struct raw_phone p;
    ring_visitor(&p);
    raw_request(&r, "BYE", FAKE_RING, 2, "", "");
    assert_int_equal(raw_final(&r), 200);
    r.cseq = 1;
    assert_int_equal(raw_final(&r), 487);
    raw_request(&r, "ACK", FAKE_RING, 1, "", "");
    assert_true(trunk_receive(&trunk, "CANCEL", RAW_PATIENCE_MS));
    trunk_respond(&trunk, trunk.request, 200, "", "");
    trunk_respond(&trunk, p.invite, 487, "", "");
}

/* ---- a decision that takes its time ---- */

static void know_doors(void *known)
{
    agent->known = known;
}

static void test_a_call_box_is_told_to_ring_while_the_decision_of_a_known_door_takes_its_time(void **state)
{
    (void)state;
    struct known *known = known_new();
    struct access_decision d = {.verdict = ACCESS_FORWARD, .forward_to = STR(FIRST)};
    fake_building(&d.building_id, 1);
    known_note(known, known_changes(known), FAKE_OPEN, &d);
    run_on_agent(know_doors, known);
    fake_hold(true);
    raw_invite(&r, FAKE_OPEN);
    assert_int_equal(next_response(), 180);
    fake_hold(false);
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "ACK", FAKE_OPEN, 1, "", "");
    visitor_hung_up_on();
    wait_for_calls(0);
    run_on_agent(know_doors, NULL);
    known_free(known);
}

static void test_a_call_to_a_known_door_goes_on_without_a_decision_that_does_not_come(void **state)
{
    (void)state;
    struct known *known = known_new();
    struct access_decision d = {.verdict = ACCESS_FORWARD, .forward_to = STR(FIRST), .ring.seconds = 30};
    struct raw_phone p;
    fake_building(&d.building_id, 1);
    known_note(known, known_changes(known), FAKE_OPEN, &d);
    run_on_agent(know_doors, known);
    fake_hold(true);
    raw_invite(&r, FAKE_OPEN);
    assert_int_equal(next_response(), 180);
    assert_true(phone_called(&trunk, &p, FIRST));
    fake_hold(false); /* the decision, which would release, comes too late */
    phone_answers(&trunk, &p);
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "ACK", FAKE_OPEN, 1, "", "");
    assert_true(raw_hears_rtp(&r));
    raw_request(&r, "BYE", FAKE_OPEN, 2, "", "");
    assert_int_equal(raw_final(&r), 200);
    assert_true(trunk_receive(&trunk, "BYE", RAW_PATIENCE_MS));
    trunk_respond(&trunk, trunk.request, 200, "", "");
    wait_for_calls(0);
    run_on_agent(know_doors, NULL);
    known_free(known);
}

static void test_a_visitor_hears_ring_back_while_the_decision_about_a_code_takes_its_time(void **state)
{
    (void)state;
    raw_invite(&r, FAKE_SILENT);
    assert_int_equal(raw_final(&r), 200);
    const int port = raw_media_port(&r);
    raw_request(&r, "ACK", FAKE_SILENT, 1, "", "");
    assert_true(raw_hears_rtp(&r));
    fake_hold(true);
    raw_press(r.rtp, port, 1000, 7);
    raw_press(r.rtp, port, 3000, 11);
    assert_true(raw_hears_tone(r.rtp));
    fake_hold(false);
    wait_for_codes(1);
    visitor_hung_up_on();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_an_answer_that_is_never_acknowledged_ends_with_a_bye),
        TEST(test_a_service_that_stops_hangs_up_on_a_call_that_is_not_acknowledged),
        TEST(test_an_update_before_the_ack_is_answered_and_a_bye_ends_the_answer),
        TEST(test_an_update_before_the_ack_moves_the_target),
        TEST(test_an_invite_before_the_ack_is_refused_until_then),
        TEST(test_a_bye_before_the_ack_of_a_re_invite_ends_its_answer),
        TEST(test_no_request_but_an_ack_lets_the_answer_outlive_a_bye),
        TEST(test_an_offer_before_the_answer_to_ours_is_refused),
        TEST(test_a_call_that_rings_may_be_refreshed_but_gets_no_second_offer),
        TEST(test_a_visitor_may_end_a_call_that_rings_with_a_bye),
        TEST(test_a_call_box_is_told_to_ring_while_the_decision_of_a_known_door_takes_its_time),
        TEST(test_a_call_to_a_known_door_goes_on_without_a_decision_that_does_not_come),
        TEST(test_a_visitor_hears_ring_back_while_the_decision_about_a_code_takes_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
