#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "documents/operation_name.h"

static void assert_named(const char *operation, const char *expected)
{
    char name[OPERATION_NAME_MAX];
    const struct route route = {.operation_id = operation};
    operation_command_name(&route, name);
    assert_string_equal(name, expected);
}

/* CLI-4 */
static void names_follow_from_operations(void **state)
{
    (void)state;
    assert_named("createUnlock", "unlock create");
    assert_named("getUnlock", "unlock show");
    assert_named("listBuildings", "building list");
    assert_named("listWebhookDeliveries", "webhook delivery list");
    assert_named("rotateWebhookSecret", "webhook secret rotate");
    assert_named("updateSettings", "settings update");
    assert_named("getPhone", "account phone show");
}

static void a_name_that_is_too_long_is_cut(void **state)
{
    char name[OPERATION_NAME_MAX];
    const struct route route = {.operation_id = "listAaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaBbbbbbbbbbbbbbbb"
                                                "bbbbbbbbbbbbbbbbbbbbbbbbbCccccccccccccccc"};
    (void)state;
    operation_command_name(&route, name);
    assert_true(strlen(name) < OPERATION_NAME_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_follow_from_operations),
        cmocka_unit_test(a_name_that_is_too_long_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
