#include "base/schema_text.h"

#include <pthread.h>

#include "unit.h"

static void lengths_are_counted(void **state)
{
    (void)state;
    struct str s = STR("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_int_equal(text_code_points(s), 4);
    assert_int_equal(text_utf16_units(s), 5);
    assert_int_equal(text_code_points(STR("")), 0);
    assert_int_equal(text_utf16_units(STR("")), 0);
}

/* HTTP-13 */
static void white_space_of_every_kind_is_trimmed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", ""},
        {"a", "a"},
        {" \t\r\n\v\fa b\f\v\n\r\t ", "a b"},
        {"\xc2\xa0\xe2\x80\xa8\xe3\x80\x80", ""},
        {"\xe2\x80\x83\xf0\x9f\x9a\xaa \xc3\xa9\xc2\xa0", "\xf0\x9f\x9a\xaa \xc3\xa9"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct str got = text_trim(str_z(cases[i].text));
        if (!str_eq(got, str_z(cases[i].want)))
            fail_msg("case %zu: '%.*s'", i, STR_ARG(got));
    }
}

/* KEY-9 */
static void valid_addresses_are_accepted(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "a@b.co",
        "ann.lee+door@sub.example.com",
        "o'hara@example.ie",
        "1@2.example",
        "x_y-z@ex-ample.org",
        "!#$%&'*+/=?^_`{|}~-@example.com",
        "a@xn--bcher-kva.example",
        "1234567890123456789012345678901234567890123456789012345678901234@example.com",
        "a@123456789012345678901234567890123456789012345678901234567890123.com",
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        if (!text_is_email(str_z(cases[i])))
            fail_msg("refused: %s", cases[i]);
}

static void invalid_addresses_are_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "@",
        "a",
        "a@",
        "@b.co",
        "a@b",
        "a@b.",
        "a@.co",
        "a@b..co",
        ".a@b.co",
        "a.@b.co",
        "a..b@c.de",
        "a@b@c.de",
        "a b@c.de",
        "a@c .de",
        "a@-b.co",
        "a@b-.co",
        "a@b_c.de",
        "a@b.123",
        "a@[127.0.0.1]",
        "\"a b\"@c.de",
        "a@b.co ",
        " a@b.co",
        "a@b.co\n",
        "Ann <a@b.co>",
        "a@b.co,c@d.co",
        "a\xc3\xa9@b.co",
        "a@b\xc3\xa9.co",
        "a(x)@b.co",
        "a:b@c.de",
        "12345678901234567890123456789012345678901234567890123456789012345@example.com",
        "a@1234567890123456789012345678901234567890123456789012345678901234.com",
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        if (text_is_email(str_z(cases[i])))
            fail_msg("accepted: %s", cases[i]);
    assert_false(text_is_email(STR("a\0b@c.de")));
}

static void an_address_has_at_most_254_characters(void **state)
{
    (void)state;
    char text[300] = "a@";
    while (strlen(text) < 250)
        strcat(text, "bcdefgh.");
    strcat(text, "com");
    assert_int_equal(strlen(text), 253);
    assert_true(text_is_email(str_z(text)));
    strcat(text, "m");
    assert_true(text_is_email(str_z(text)));
    strcat(text, "m");
    assert_false(text_is_email(str_z(text)));
}

static const char tone[] = "^[0-9#*]{1,3}$", code[] = "^([02-9]|[0-9]{2,4})$";

static void *match_often(void *arg)
{
    for (int i = 0; i < 500; i++)
        if (!text_matches(tone, STR("9#*")) || text_matches(tone, STR("9#*1")) || !text_matches(code, STR("0123")) ||
            text_matches(code, STR("1")))
            return arg;
    return NULL;
}

static void patterns_match_on_any_thread(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, match_often, threads), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    assert_false(text_matches(tone, STR("9\n")));
    assert_false(text_matches(tone, STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_are_counted),
        cmocka_unit_test(white_space_of_every_kind_is_trimmed),
        cmocka_unit_test(valid_addresses_are_accepted),
        cmocka_unit_test(invalid_addresses_are_refused),
        cmocka_unit_test(an_address_has_at_most_254_characters),
        cmocka_unit_test(patterns_match_on_any_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
