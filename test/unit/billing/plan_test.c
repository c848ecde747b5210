#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "billing/plan.h"

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

/* EARLIER-32 */
static void test_every_plan_includes_all_three_types(void **state)
{
    (void)state;
    const char *const types[] = {"timer", "passcode", "routine"};
    assert_int_equal(plan_access_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(str_eq(plan_access[i], str_z(types[i])));
}

static void assert_text(struct str s, const char *text)
{
    assert_true(str_eq(s, str_z(text)));
}

static void test_earlier_names_mean_a_plan_that_is_on_offer(void **state)
{
    (void)state;
    struct str plan = STR("kept");
    static const char *const known[][2] = {
        {"premium_yearly", "yearly"}, {"standard_yearly", "yearly"}, {"yearly", "yearly"}, {"weekly", "weekly"}};
    assert_int_equal(plan_named(&config, plan_names_earlier, STR("premium_monthly"), &plan), ERR_PLAN_UNAVAILABLE);
    assert_int_equal(plan_named(&config, plan_names_earlier, STR("standard_monthly"), &plan), ERR_PLAN_UNAVAILABLE);
    assert_int_equal(plan_named(&config, plan_names_earlier, STR("lite_yearly"), &plan), ERR_INVALID_PLAN);
    assert_int_equal(plan_named(&config, NULL, STR("premium_yearly"), &plan), ERR_INVALID_PLAN);
    assert_text(plan, "kept");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(plan_named(&config, plan_names_earlier, str_z(known[i][0]), &plan), ERR_NONE);
        assert_text(plan, known[i][1]);
    }
    assert_text(plan_name_of(plan_names_earlier, STR("yearly")), "premium_yearly");
    assert_text(plan_name_of(plan_names_earlier, STR("weekly")), "weekly");
    assert_text(plan_name_of(NULL, STR("yearly")), "yearly");
}

/* A plan without a row would be told as none. */
/* EARLIER-16 */
static void test_every_plan_has_an_earlier_type(void **state)
{
    (void)state;
    for (size_t i = 0; i < PLAN_COUNT; i++) {
        assert_text(plan_type_of(plan_types_earlier, str_z(config.plans[i].id), false), "PREMIUM");
        assert_text(plan_type_of(plan_types_earlier, str_z(config.plans[i].id), true), "MULTI_BUILDING");
        assert_text(plan_type_of(NULL, str_z(config.plans[i].id), true), config.plans[i].id);
    }
    assert_text(plan_type_of(plan_types_earlier, STR_NONE, true), "NONE");
    assert_text(plan_type_of(NULL, STR_NONE, false), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans_are_found_by_their_id),
        cmocka_unit_test(test_every_plan_includes_all_three_types),
        cmocka_unit_test(test_earlier_names_mean_a_plan_that_is_on_offer),
        cmocka_unit_test(test_every_plan_has_an_earlier_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
