#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/command.h"
#include "cli/command_list.h"
#include "cli/operation.h"
#include "cli/operation_name.h"
#include "resources/routes.h"

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

/* The i-th command of all, verbs included; NULL after the last. */
static const struct command *any(size_t i)
{
    const struct command *c;
    for (size_t j = 0; (c = command_at(j)); j++) {
        if (i-- == 0)
            return c;
        for (size_t k = 0; c->verb && c->verb(c, k); k++)
            if (i-- == 0)
                return c->verb(c, k);
    }
    return NULL;
}

static void no_two_commands_have_a_name(void **state)
{
    (void)state;
    for (size_t i = 0; any(i); i++)
        for (size_t j = i + 1; any(j); j++)
            assert_string_not_equal(any(i)->name, any(j)->name);
}

static void no_two_options_of_a_command_have_a_name(void **state)
{
    const struct command *c;
    (void)state;
    for (size_t n = 0; (c = any(n)); n++)
        for (size_t i = 0; i < c->option_count; i++)
            for (size_t j = i + 1; j < c->option_count; j++) {
                assert_string_not_equal(c->options[i].name, c->options[j].name);
                if (c->options[i].also)
                    assert_string_not_equal(c->options[i].also, c->options[j].name);
            }
}

static void every_operation_has_a_command(void **state)
{
    size_t count = 0;
    const struct command *c;
    (void)state;
    for (size_t i = 0; (c = any(i)); i++)
        count += c->run == operation_command_run;
    for (size_t i = 0; i < openapi_contract.set_count; i++)
        for (size_t j = 0; j < openapi_contract.sets[i]->count; j++)
            count -= !(openapi_contract.sets[i]->rows[j].flags & ROUTE_PAGE);
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_follow_from_operations),  cmocka_unit_test(a_name_that_is_too_long_is_cut),
        cmocka_unit_test(no_two_commands_have_a_name),   cmocka_unit_test(no_two_options_of_a_command_have_a_name),
        cmocka_unit_test(every_operation_has_a_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
