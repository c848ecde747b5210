#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/wait.h>
#include <unistd.h>

#include "providers/fault.h"

static int clean(void **state)
{
    (void)state;
    fault_order(STR("mail"), STR_NONE, FAULT_NONE, 0);
    fault_order(STR("sms"), STR_NONE, FAULT_NONE, 0);
    return 0;
}

/* SANDBOX-7 */
static void test_a_fault_lasts_for_the_ordered_number_of_calls(void **state)
{
    (void)state;
    assert_true(fault_order(STR("mail"), STR_NONE, FAULT_ERROR, 2));
    assert_int_equal(fault_take("mail", "send"), FAULT_ERROR);
    assert_int_equal(fault_take("mail", "other"), FAULT_ERROR);
    assert_int_equal(fault_take("mail", "send"), FAULT_NONE);
}

static void test_a_fault_applies_to_its_provider_and_call_only(void **state)
{
    (void)state;
    assert_true(fault_order(STR("mail"), STR("send"), FAULT_TIMEOUT, 1));
    assert_int_equal(fault_take("sms", "send"), FAULT_NONE);
    assert_int_equal(fault_take("mail", "other"), FAULT_NONE);
    assert_int_equal(fault_take("mail", "send"), FAULT_TIMEOUT);
}

static void test_orders_are_served_in_turn(void **state)
{
    (void)state;
    assert_true(fault_order(STR("mail"), STR_NONE, FAULT_DECLINE, 1));
    assert_true(fault_order(STR("mail"), STR_NONE, FAULT_ERROR, 1));
    assert_int_equal(fault_take("mail", "send"), FAULT_DECLINE);
    assert_int_equal(fault_take("mail", "send"), FAULT_ERROR);
}

static void test_fault_none_clears_the_faults_of_that_provider_only(void **state)
{
    (void)state;
    assert_true(fault_order(STR("mail"), STR_NONE, FAULT_ERROR, 5));
    assert_true(fault_order(STR("sms"), STR_NONE, FAULT_ERROR, 5));
    assert_true(fault_order(STR("mail"), STR("send"), FAULT_ERROR, 5));
    assert_true(fault_order(STR("mail"), STR_NONE, FAULT_NONE, 0));
    assert_int_equal(fault_take("mail", "send"), FAULT_NONE);
    assert_int_equal(fault_take("sms", "send"), FAULT_ERROR);
}

/* SANDBOX-7 */
static void test_too_many_orders_and_long_names_are_refused(void **state)
{
    (void)state;
    assert_false(fault_order(STR(""), STR_NONE, FAULT_ERROR, 1));
    assert_false(fault_order(STR("a-name-that-is-much-longer-than-any-provider-has"), STR_NONE, FAULT_ERROR, 1));
    int fitted = 0;
    while (fitted < 1000 && fault_order(STR("mail"), STR_NONE, FAULT_ERROR, 1))
        fitted++;
    assert_in_range(fitted, 16, 999);
}

/* SANDBOX-6 */
static void test_fault_names_are_parsed(void **state)
{
    (void)state;
    enum fault f;
    assert_true(fault_parse(STR("crash_after"), &f));
    assert_int_equal(f, FAULT_CRASH_AFTER);
    assert_true(fault_parse(STR("none"), &f));
    assert_int_equal(f, FAULT_NONE);
    assert_false(fault_parse(STR("Timeout"), &f));
    assert_false(fault_parse(STR_NONE, &f));
}

static void test_a_declined_call_is_refused_other_faults_are_unknown(void **state)
{
    (void)state;
    assert_int_equal(fault_outcome(FAULT_DECLINE), OUTCOME_REFUSED);
    assert_int_equal(fault_outcome(FAULT_TIMEOUT), OUTCOME_UNKNOWN);
    assert_int_equal(fault_outcome(FAULT_ERROR), OUTCOME_UNKNOWN);
    assert_int_equal(fault_outcome(FAULT_NONE), OUTCOME_DONE);
    assert_int_equal(fault_outcome(FAULT_CRASH_AFTER), OUTCOME_DONE);
}

static void test_crash_after_kills_the_process(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        fault_after(FAULT_ERROR);
        fault_after(FAULT_CRASH_AFTER);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, clean, clean)
    const struct CMUnitTest tests[] = {
        TEST(test_a_fault_lasts_for_the_ordered_number_of_calls),
        TEST(test_a_fault_applies_to_its_provider_and_call_only),
        TEST(test_orders_are_served_in_turn),
        TEST(test_fault_none_clears_the_faults_of_that_provider_only),
        TEST(test_too_many_orders_and_long_names_are_refused),
        TEST(test_fault_names_are_parsed),
        TEST(test_a_declined_call_is_refused_other_faults_are_unknown),
        TEST(test_crash_after_kills_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
