/* Forged calls, which are never acknowledged, shut nobody out and cost little. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "voice/sip_fixture.h"

#define FLOOD 60 /* INVITEs, more than all calls together */

static struct raw r;

static int set_up(void **state)
{
    agent_config.voice_calls = 40; /* so 10 that are not acknowledged */
    agent_config.voice_calls_per_source = 20;
    agent_set_up(state);
    raw_open(&r, sip_address(agent));
    return 0;
}

static int tear_down(void **state)
{
    raw_close(&r);
    return agent_tear_down(state);
}

/* Sends INVITEs from `hosts` addresses and reads no answer. */
static void flood(int count, int hosts, const char *number)
{
    for (int i = 0; i < count; i++) {
        struct raw forger;
        char host[32];
        (void)snprintf(host, sizeof host, "127.0.1.%d", 1 + i % hosts);
        raw_open_at(&forger, host, sip_address(agent));
        raw_invite(&forger, number);
        raw_close(&forger);
        usleep(300); /* leaves room in the socket's buffer: these callers repeat no INVITE */
    }
}

static void is_served(struct raw *caller)
{
    raw_invite(caller, FAKE_CODE);
    assert_int_equal(raw_final(caller), 200);
    raw_request(caller, "ACK", FAKE_CODE, 1, "", "");
    assert_true(raw_hears_rtp(caller));
}

static void hang_up(struct raw *caller)
{
    raw_request(caller, "BYE", FAKE_CODE, 2, "", "");
    assert_int_equal(raw_final(caller), 200);
}

static void test_forged_calls_shut_nobody_out(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++) {
        struct raw caller;
        raw_open(&caller, sip_address(agent));
        flood(FLOOD, FLOOD, i % 2 ? FAKE_CODE : FAKE_OPEN);
        is_served(&caller);
        hang_up(&caller);
        raw_close(&caller);
    }
}

static void test_calls_forged_in_a_callers_name_do_not_shut_it_out(void **state)
{
    (void)state;
    for (int i = 0; i < FLOOD; i++) {
        struct raw forger;
        raw_open(&forger, sip_address(agent));
        raw_invite(&forger, FAKE_CODE);
        raw_close(&forger);
    }
    is_served(&r);
}

static void test_a_call_in_progress_outlives_a_flood(void **state)
{
    (void)state;
    is_served(&r);
    flood(2 * FLOOD, FLOOD, FAKE_CODE);
    raw_request(&r, "INFO", FAKE_CODE, 2, "Content-Type: application/dtmf-relay\r\n", "Signal=7\r\n");
    assert_int_equal(raw_final(&r), 200);
    hang_up(&r);
}

static void test_an_evicted_call_gets_no_more_messages(void **state)
{
    (void)state;
    raw_invite(&r, FAKE_CODE);
    assert_int_equal(raw_final(&r), 200);
    flood(FLOOD, FLOOD, FAKE_CODE);
    assert_int_equal(raw_receive(&r, 1300), 0); /* long enough for two repetitions of the 200 */
    raw_request(&r, "ACK", FAKE_CODE, 1, "", "");
    assert_int_equal(raw_count_rtp(&r, 150), 0);
    raw_request(&r, "INFO", FAKE_CODE, 2, "Content-Type: application/dtmf-relay\r\n", "Signal=7\r\n");
    assert_int_equal(raw_final(&r), 481);
}

static void test_an_evicted_call_gets_no_decision(void **state)
{
    (void)state;
    struct raw callers[20];
    fake_hold(true);
    for (int i = 0; i < 20; i++) {
        raw_open_at(&callers[i], "127.0.1.1", sip_address(agent));
        raw_invite(&callers[i], FAKE_CODE);
    }
    for (int i = 0; i < 20; i++) {
        assert_int_equal(raw_final(&callers[i]), i < 10 ? 503 : 200);
        raw_close(&callers[i]);
        if (i == 9)
            fake_hold(false);
    }
    assert_int_equal(fake_count(&fake.arrived), 10);
}

static void test_the_200_is_repeated_until_it_is_acknowledged(void **state)
{
    (void)state;
    raw_invite(&r, FAKE_CODE);
    assert_int_equal(raw_final(&r), 200);
    assert_int_equal(raw_receive(&r, RAW_PATIENCE_MS), 200);
    raw_request(&r, "ACK", FAKE_CODE, 1, "", "");
    assert_true(raw_hears_rtp(&r));
    while (raw_receive(&r, 0) == 200)
        ; /* a repetition that was sent before the ACK arrived */
    assert_int_equal(raw_receive(&r, 1300), 0);
}

static void test_a_caller_may_hang_up_before_acknowledging(void **state)
{
    (void)state;
    raw_invite(&r, FAKE_CODE);
    assert_int_equal(raw_final(&r), 200);
    hang_up(&r);
    wait_for_calls(0);
}

static void test_a_stranger_cannot_acknowledge(void **state)
{
    (void)state;
    char tag[sizeof r.to_tag];
    raw_invite(&r, FAKE_CODE);
    assert_int_equal(raw_final(&r), 200);
    memcpy(tag, r.to_tag, sizeof tag);
    (void)snprintf(r.to_tag, sizeof r.to_tag, ";tag=0123456789abcdef");
    raw_request(&r, "ACK", FAKE_CODE, 1, "", "");
    assert_int_equal(raw_count_rtp(&r, 150), 0);
    memcpy(r.to_tag, tag, sizeof tag);
    raw_request(&r, "ACK", FAKE_CODE, 1, "", "");
    assert_true(raw_hears_rtp(&r));
}

static void test_refusals_are_not_repeated_in_a_flood(void **state)
{
    (void)state;
    for (int i = 0; i < 600; i++) {
        struct raw forger;
        raw_open_at(&forger, "127.0.1.1", sip_address(agent));
        raw_invite(&forger, "+15559999999");
        assert_int_equal(raw_final(&forger), 404);
        raw_close(&forger);
    }
    raw_invite(&r, "+15559999999");
    assert_int_equal(raw_final(&r), 404);
    assert_int_equal(raw_receive(&r, 1300), 0);
}

static void test_an_invite_of_an_unknown_dialog_is_refused_once(void **state)
{
    (void)state;
    (void)snprintf(r.to_tag, sizeof r.to_tag, ";tag=0123456789abcdef");
    raw_invite(&r, FAKE_CODE);
    assert_int_equal(raw_final(&r), 481);
    assert_int_equal(raw_receive(&r, 1300), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(forged_calls_shut_nobody_out),
        T(calls_forged_in_a_callers_name_do_not_shut_it_out),
        T(a_call_in_progress_outlives_a_flood),
        T(an_evicted_call_gets_no_more_messages),
        T(an_evicted_call_gets_no_decision),
        T(the_200_is_repeated_until_it_is_acknowledged),
        T(a_caller_may_hang_up_before_acknowledging),
        T(a_stranger_cannot_acknowledge),
        T(refusals_are_not_repeated_in_a_flood),
        T(an_invite_of_an_unknown_dialog_is_refused_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
