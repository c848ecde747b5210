/* Wrong passwords of callers that sign in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sip/attempts.h"

#define NOW_MS INT64_C(1000000)

static struct sip_attempts attempts;
static struct sa box, other;

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(sa_set_str(&box, "192.0.2.1", 5060), 0);
    assert_int_equal(sa_set_str(&other, "192.0.2.2", 5060), 0);
    return sip_attempts_init(&attempts);
}

static int tear_down(void **state)
{
    (void)state;
    sip_attempts_done(&attempts);
    return 0;
}

/* PHONE-6 */
static void test_a_source_must_wait_after_many_wrong_passwords(void **state)
{
    (void)state;
    for (int i = 1; i <= SIP_ATTEMPTS_BURST; i++) {
        assert_true(sip_attempts_allow(&attempts, &box, NOW_MS));
        assert_int_equal(sip_attempts_wrong(&attempts, &box, NOW_MS), i == SIP_ATTEMPTS_BURST);
    }
    assert_false(sip_attempts_allow(&attempts, &box, NOW_MS));
    assert_true(sip_attempts_allow(&attempts, &other, NOW_MS));
    sa_set_port(&box, 5062); /* the same source */
    assert_false(sip_attempts_allow(&attempts, &box, NOW_MS + SIP_ATTEMPT_MS - 1));
}

/* PHONE-6 */
static void test_one_wrong_password_in_ten_seconds_is_checked_for_ever(void **state)
{
    (void)state;
    int checked = 0;
    for (int64_t at_ms = 0; at_ms < 3600000; at_ms += 500) {
        if (!sip_attempts_allow(&attempts, &box, NOW_MS + at_ms))
            continue;
        checked++;
        (void)sip_attempts_wrong(&attempts, &box, NOW_MS + at_ms);
    }
    assert_in_range(checked, 375, 385);
}

static void test_passwords_that_are_checked_at_once_all_count(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++)
        (void)sip_attempts_wrong(&attempts, &box, NOW_MS);
    assert_false(sip_attempts_allow(&attempts, &box, NOW_MS + (200 - SIP_ATTEMPTS_BURST) * SIP_ATTEMPT_MS));
    assert_true(sip_attempts_allow(&attempts, &box, NOW_MS + (201 - SIP_ATTEMPTS_BURST) * SIP_ATTEMPT_MS));
}

/* An address of an IPv6 network is one of many. */
/* PHONE-6 */
static void test_a_full_table_refuses_newcomers_until_a_source_is_forgotten(void **state)
{
    (void)state;
    struct sa source;
    for (int i = 0; i < SIP_ATTEMPTS_SOURCES; i++) {
        char text[64];
        (void)re_snprintf(text, sizeof text, "2001:db8:0:%x::%x", i, i + 1);
        assert_int_equal(sa_set_str(&source, text, 5060), 0);
        assert_true(sip_attempts_allow(&attempts, &source, NOW_MS));
        (void)sip_attempts_wrong(&attempts, &source, NOW_MS + i);
        (void)re_snprintf(text, sizeof text, "2001:db8:0:%x::ffff", i);
        assert_int_equal(sa_set_str(&source, text, 5060), 0);
        (void)sip_attempts_wrong(&attempts, &source, NOW_MS + i);
    }
    assert_int_equal(attempts.count, SIP_ATTEMPTS_SOURCES);
    assert_false(sip_attempts_allow(&attempts, &box, NOW_MS + SIP_ATTEMPT_MS));
    assert_false(sip_attempts_wrong(&attempts, &box, NOW_MS + SIP_ATTEMPT_MS)); /* no place to count it */
    assert_int_equal(attempts.count, SIP_ATTEMPTS_SOURCES);
    assert_true(sip_attempts_allow(&attempts, &source, NOW_MS + SIP_ATTEMPT_MS));
    assert_true(sip_attempts_allow(&attempts, &box, NOW_MS + 2 * SIP_ATTEMPT_MS));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(test_##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(a_source_must_wait_after_many_wrong_passwords),
        T(one_wrong_password_in_ten_seconds_is_checked_for_ever),
        T(passwords_that_are_checked_at_once_all_count),
        T(a_full_table_refuses_newcomers_until_a_source_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
