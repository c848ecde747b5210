#include "base/loaded.h"

#include "config_fixture.h"

#define CONFIG "mode = sandbox\nmail { password = \"file:secret\" }\n"

static void write_config(const char *text)
{
    write_file("portero.conf", str_z(text));
}

/* SERVICE-14 */
static void a_configuration_is_current_until_it_says_something_else(void **state)
{
    struct config *c = NULL;
    char *why = NULL;
    (void)state;
    write_file("secret", STR("one"));
    write_config(CONFIG);
    assert_true(loaded_configuration_is_current());
    assert_int_equal(config_load("portero.conf", &c, &why), ERR_NONE);
    loaded_configuration(c);
    assert_true(loaded_configuration_is_current());
    write_config("# the same\nmode=sandbox /* yes */\n\n\nmail {\n    password = \"file:secret\" # here\n}\n");
    assert_true(loaded_configuration_is_current());
    write_config("mode = sandbox\nmail { password = \"file:secret\" user = me }\n");
    assert_false(loaded_configuration_is_current());
    write_config(CONFIG);
    write_file("secret", STR("two"));
    assert_false(loaded_configuration_is_current());
    write_file("secret", STR("one"));
    assert_true(loaded_configuration_is_current());
    unlink("secret");
    assert_false(loaded_configuration_is_current());
    write_file("secret", STR("one"));
    unlink("portero.conf");
    assert_false(loaded_configuration_is_current());
    write_config(CONFIG);
    assert_true(loaded_configuration_is_current());
}

static void a_certificate_is_current_until_its_file_changes(void **state)
{
    static struct loaded_certificate got;
    (void)state;
    assert_false(loaded_certificate_get(&got));
    write_file("secret", STR("pem"));
    loaded_certificate("secret", "AB:CD");
    assert_true(loaded_certificate_get(&got));
    assert_true(got.current);
    assert_string_equal(got.fingerprint, "AB:CD");
    write_file("secret", STR("other"));
    assert_true(loaded_certificate_get(&got));
    assert_false(got.current);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_configuration_is_current_until_it_says_something_else),
        cmocka_unit_test(a_certificate_is_current_until_its_file_changes),
    };
    return cmocka_run_group_tests(tests, config_fixture_setup, config_fixture_teardown);
}
