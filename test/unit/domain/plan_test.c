#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "domain/plan.h"

static const struct config config = {
    .plans = {{"weekly", 499, "usd", "week", 1, true, NULL}, {"yearly", -1, "usd", "year", 1, true, NULL}},
};

static void test_plans_are_found_by_their_id(void **state)
{
    (void)state;
    assert_ptr_equal(plan_find(&config, STR("weekly")), &config.plans[0]);
    assert_ptr_equal(plan_find(&config, STR("yearly")), &config.plans[1]);
    assert_null(plan_find(&config, STR("Weekly")));
    assert_null(plan_find(&config, STR("week")));
    assert_null(plan_find(&config, STR_NONE));
}

static void test_every_plan_includes_all_three_types(void **state)
{
    (void)state;
    const char *const types[] = {"timer", "passcode", "routine"};
    assert_int_equal(plan_access_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(str_eq(plan_access[i], str_z(types[i])));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans_are_found_by_their_id),
        cmocka_unit_test(test_every_plan_includes_all_three_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
