/* Answers that nobody acknowledges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_an_answer_that_is_never_acknowledged_ends_with_a_bye),
        TEST(test_a_service_that_stops_hangs_up_on_a_call_that_is_not_acknowledged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
