/* The parts that a building lacks: every set of facts, and the steps that mend it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "domain/ready.h"

#define NUMBER STR("+15550100000")

static const struct id building = {"6b018faceb9d0c2ba6000001"};

/* The facts of a set of bits: a bit that is set is there. */
static struct ready with(unsigned there)
{
    return (struct ready){
        .subscription = there & READY_BIT(SUBSCRIPTION) ? STR("active") : STR("none"),
        .number = there & READY_BIT(NUMBER) ? NUMBER : STR_NONE,
        .tone = there & READY_BIT(TONE) ? STR("9") : STR_NONE,
        .last_buzz_us = there & READY_BIT(CALL_BOX) ? 1 : 0,
    };
}

/* BUILDING-32 */
static void test_each_part_that_is_not_there_is_lacking(void **state)
{
    (void)state;
    for (unsigned there = 0; there < 1U << READY_PARTS; there++) {
        const struct ready r = with(there);
        unsigned lacks = ~there & ((1U << READY_PARTS) - 1);
        if (lacks & READY_BIT(NUMBER))
            lacks |= READY_BIT(CALL_BOX); /* a release by a number that has gone tells nothing */
        assert_int_equal(ready_lacks(&r), lacks);
    }
}

static void test_a_late_payment_lacks_nothing(void **state)
{
    (void)state;
    struct ready r = with((1U << READY_PARTS) - 1);
    r.subscription = STR("past_due");
    assert_int_equal(ready_lacks(&r), 0);
}

/* BUILDING-32 */
static void test_the_first_part_gives_the_status(void **state)
{
    (void)state;
    static const char *const texts[] = {
        [READY_SUBSCRIPTION] = "awaiting_subscription_or_provisioning",
        [READY_NUMBER] = "awaiting_subscription_or_provisioning",
        [READY_TONE] = "previous_buzz_recorded",
        [READY_CALL_BOX] = "building_setup_required",
    };
    assert_string_equal(ready_status(0), "previous_buzz_recorded");
    for (unsigned part = 0; part < READY_PARTS; part++)
        assert_string_equal(ready_status(1U << part), texts[part]);
    assert_string_equal(ready_status((1U << READY_PARTS) - 1), texts[READY_NUMBER]);
}

static void test_each_step_has_a_code_a_request_and_a_sentence(void **state)
{
    struct arena *a = *state;
    static const char *const codes[] = {"subscription", "number", "unlock_tone", "call_box"};
    for (unsigned there = 0; there < 1U << READY_PARTS; there++) {
        const struct ready r = with(there);
        struct ready_step steps[READY_PARTS];
        const size_t count = ready_steps(&r, &building, a, steps);
        unsigned told = 0;
        for (size_t i = 0; i < count; i++) {
            assert_true(i == 0 || steps[i].part > steps[i - 1].part);
            assert_true(str_eq(steps[i].code, str_z(codes[steps[i].part])));
            assert_true(steps[i].request.n > 0 && steps[i].sentence.n > 0);
            assert_false(str_starts(steps[i].request, STR(" ")));
            told |= 1U << steps[i].part;
        }
        const unsigned lacks = ready_lacks(&r);
        assert_int_equal(told, lacks & READY_BIT(SUBSCRIPTION) ? lacks & ~READY_BIT(NUMBER) : lacks);
    }
}

static void test_the_call_box_is_told_its_number(void **state)
{
    struct arena *a = *state;
    const struct ready r = with(READY_BIT(SUBSCRIPTION) | READY_BIT(NUMBER) | READY_BIT(TONE));
    struct ready_step steps[READY_PARTS];
    assert_int_equal(ready_steps(&r, &building, a, steps), 1);
    assert_true(str_eq(steps[0].request, STR("GET /v1/buildings/6b018faceb9d0c2ba6000001/setup")));
    assert_non_null(memmem(steps[0].sentence.p, steps[0].sentence.n, "+15550100000", 12));
}

static int set_up(void **state)
{
    static struct arena a;
    arena_init(&a, NULL, 0);
    *state = &a;
    return 0;
}

static int tear_down(void **state)
{
    arena_done(*state);
    return 0;
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_each_part_that_is_not_there_is_lacking), T(test_a_late_payment_lacks_nothing),
        T(test_the_first_part_gives_the_status),        T(test_each_step_has_a_code_a_request_and_a_sentence),
        T(test_the_call_box_is_told_its_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
