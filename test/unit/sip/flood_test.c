/* Forged calls, which are never acknowledged, shut nobody out and cost little. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "sip/fixture.h"

#define CALLS      40
#define OWN        20 /* of one address */
#define STRANGERS  20 /* that are not acknowledged: half of all, */
#define STRANGER   15 /* and three quarters of its own */
#define LISTED     30 /* three quarters of all */
#define FLOOD      60 /* INVITEs, more than all calls together */
#define FLOOD_HOST "127.0.1.%d"

static struct raw r;

static int set_up(void **state)
{
    agent_config.voice_calls = CALLS;
    agent_config.voice_calls_per_source = OWN;
    agent_set_up(state);
    raw_open(&r, sip_address(agent));
    return 0;
}

static int set_up_listed(void **state)
{
    static const char *const all[] = {"127.0.0.0/8", NULL};
    agent_config.voice_peers = all;
    return set_up(state);
}

static int tear_down(void **state)
{
    raw_close(&r);
    agent_config.voice_peers = NULL;
    return agent_tear_down(state);
}

/* Sends INVITEs from `hosts` addresses and reads no answer. */
static void flood(int count, int hosts, const char *number)
{
    for (int i = 0; i < count; i++) {
        struct raw forger;
        char host[32];
        (void)snprintf(host, sizeof host, FLOOD_HOST, 1 + i % hosts);
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

/* Sends INVITEs from `hosts` addresses, and reads the first answer to each. The caller closes them. Returns how many
 * were answered with 200, which are the first; the others were refused with that status and a Retry-After. */
static int call_at_once(struct raw *callers, int count, int hosts, int refusal)
{
    int answered = 0;
    for (int i = 0; i < count; i++) {
        char host[32];
        (void)snprintf(host, sizeof host, FLOOD_HOST, 1 + i % hosts);
        raw_open_at(&callers[i], host, sip_address(agent));
        raw_invite(&callers[i], FAKE_CODE);
        usleep(300);
    }
    for (int i = 0; i < count; i++) {
        const int status = raw_final(&callers[i]);
        answered += status == 200;
        assert_int_equal(status, answered > i ? 200 : refusal);
        if (status != 200)
            assert_non_null(strstr(callers[i].reply, "\r\nRetry-After: "));
    }
    return answered;
}

static void acknowledge(struct raw *callers, int count)
{
    for (int i = 0; i < count; i++)
        raw_request(&callers[i], "ACK", FAKE_CODE, 1, "", "");
    for (int i = 0; i < count; i++)
        assert_true(raw_hears_rtp(&callers[i]));
}

static void close_all(struct raw *callers, int count)
{
    for (int i = 0; i < count; i++)
        raw_close(&callers[i]);
}

static int64_t refused(enum metric_label_REFUSAL limit)
{
    return metric_get(&metrics.sip_limited[limit]);
}

/* PHONE-12 */
static void test_forged_calls_shut_out_nobody_who_called_before(void **state)
{
    (void)state;
    is_served(&r);
    hang_up(&r);
    for (int i = 0; i < 10; i++) {
        struct raw caller;
        raw_open(&caller, sip_address(agent));
        flood(FLOOD, FLOOD, i % 2 ? FAKE_CODE : FAKE_OPEN);
        is_served(&caller);
        hang_up(&caller);
        raw_close(&caller);
    }
}

/* PHONE-12 */
static void test_forged_calls_shut_out_nobody_with_a_connection(void **state)
{
    (void)state;
    flood(FLOOD, FLOOD, FAKE_CODE);
    raw_connect(&r);
    is_served(&r);
    hang_up(&r);
}

/* Without the limit for unacknowledged calls, these would take all places of the address. */
static void test_calls_forged_in_a_callers_name_leave_places_to_its_connections(void **state)
{
    (void)state;
    for (int i = 0; i < FLOOD; i++) {
        struct raw forger;
        raw_open(&forger, sip_address(agent));
        raw_invite(&forger, FAKE_CODE);
        raw_close(&forger);
        usleep(300);
    }
    raw_connect(&r);
    is_served(&r);
    hang_up(&r);
}

static void test_unacknowledged_calls_of_an_address_are_limited(void **state)
{
    (void)state;
    struct raw callers[OWN];
    const int64_t before = refused(METRIC_REFUSED_UNACKNOWLEDGED_SOURCE);
    assert_int_equal(call_at_once(callers, OWN, 1, 503), STRANGER);
    assert_int_equal(refused(METRIC_REFUSED_UNACKNOWLEDGED_SOURCE) - before, OWN - STRANGER);
    acknowledge(callers, STRANGER);
    close_all(callers, OWN);
}

/* PHONE-11 */
static void test_a_refused_call_asks_for_no_decision(void **state)
{
    (void)state;
    struct raw callers[FLOOD];
    const int64_t before = refused(METRIC_REFUSED_UNACKNOWLEDGED);
    assert_int_equal(call_at_once(callers, FLOOD, FLOOD, 503), STRANGERS);
    assert_int_equal(refused(METRIC_REFUSED_UNACKNOWLEDGED) - before, FLOOD - STRANGERS);
    assert_int_equal(fake_count(&fake.arrived), STRANGERS);
    acknowledge(callers, STRANGERS);
    close_all(callers, FLOOD);
}

/* PHONE-12 */
static void test_listed_addresses_have_all_of_their_places_at_once(void **state)
{
    (void)state;
    struct raw callers[FLOOD];
    const int64_t before = refused(METRIC_REFUSED_SOURCE);
    assert_int_equal(call_at_once(callers, OWN + 5, 1, 486), OWN);
    assert_int_equal(refused(METRIC_REFUSED_SOURCE) - before, 5);
    usleep(300000); /* the caller is far away */
    acknowledge(callers, OWN);
    close_all(callers, OWN + 5);
}

/* PHONE-12 */
static void test_calls_forged_in_the_names_of_listed_addresses_leave_places_to_proven_callers(void **state)
{
    (void)state;
    struct raw callers[FLOOD];
    is_served(&r);
    assert_int_equal(call_at_once(callers, FLOOD, FLOOD, 503), LISTED);
    close_all(callers, FLOOD);
    hang_up(&r);
    raw_close(&r);
    raw_open(&r, sip_address(agent));
    is_served(&r);
    hang_up(&r);
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

/* PHONE-11 */
static void test_an_answered_call_outlives_a_flood(void **state)
{
    (void)state;
    raw_invite(&r, FAKE_CODE);
    assert_int_equal(raw_final(&r), 200);
    flood(2 * FLOOD, FLOOD, FAKE_CODE);
    acknowledge(&r, 1);
    raw_request(&r, "INFO", FAKE_CODE, 2, "Content-Type: application/dtmf-relay\r\n", "Signal=7\r\n");
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "BYE", FAKE_CODE, 3, "", "");
    assert_int_equal(raw_final(&r), 200);
}

static void test_an_undecided_call_outlives_a_flood(void **state)
{
    (void)state;
    fake_hold(true);
    raw_invite(&r, FAKE_CODE);
    flood(2 * FLOOD, FLOOD, FAKE_CODE);
    fake_hold(false);
    assert_int_equal(raw_final(&r), 200);
    acknowledge(&r, 1);
    wait_for_decisions(STRANGERS);
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

/* PHONE-14 */
static void test_a_caller_may_hang_up_before_acknowledging(void **state)
{
    (void)state;
    raw_invite(&r, FAKE_CODE);
    assert_int_equal(raw_final(&r), 200);
    hang_up(&r);
    wait_for_calls(0);
    assert_int_equal(raw_receive(&r, 1300), 0); /* the 200 is not repeated any more */
}

/* PHONE-14 */
static void test_a_caller_that_sent_keys_may_hang_up_before_acknowledging(void **state)
{
    (void)state;
    raw_invite(&r, FAKE_CODE);
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "INFO", FAKE_CODE, 2, "Content-Type: application/dtmf-relay\r\n", "Signal=7\r\n");
    assert_int_equal(raw_final(&r), 200);
    raw_request(&r, "BYE", FAKE_CODE, 3, "", "");
    assert_int_equal(raw_final(&r), 200);
    wait_for_calls(0);
    while (raw_receive(&r, 0) == 200)
        ; /* repetitions that were sent before the BYE arrived */
    assert_int_equal(raw_receive(&r, 1300), 0);
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

/* PHONE-15 */
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

/* PHONE-16 */
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
#define L(name) cmocka_unit_test_setup_teardown(test_##name, set_up_listed, tear_down)
    const struct CMUnitTest tests[] = {
        T(forged_calls_shut_out_nobody_who_called_before),
        T(forged_calls_shut_out_nobody_with_a_connection),
        T(calls_forged_in_a_callers_name_leave_places_to_its_connections),
        T(unacknowledged_calls_of_an_address_are_limited),
        T(a_refused_call_asks_for_no_decision),
        L(listed_addresses_have_all_of_their_places_at_once),
        L(calls_forged_in_the_names_of_listed_addresses_leave_places_to_proven_callers),
        T(a_call_in_progress_outlives_a_flood),
        T(an_answered_call_outlives_a_flood),
        T(an_undecided_call_outlives_a_flood),
        T(the_200_is_repeated_until_it_is_acknowledged),
        T(a_caller_may_hang_up_before_acknowledging),
        T(a_caller_that_sent_keys_may_hang_up_before_acknowledging),
        T(a_stranger_cannot_acknowledge),
        T(refusals_are_not_repeated_in_a_flood),
        T(an_invite_of_an_unknown_dialog_is_refused_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
