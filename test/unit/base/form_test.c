/* Form bodies: strict, bounded, UTF-8. */
#include "base/form.h"

#include "base/unit.h"

static struct arena arena;

static int set_up(void **state)
{
    (void)state;
    arena_init(&arena, NULL, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static bool reads(const char *body, struct form *ret)
{
    return form_read(str_z(body), 3, &arena, ret);
}

static void fields_are_decoded_in_their_order(void **state)
{
    (void)state;
    struct form f;
    assert_true(reads("To=%2B1555&Speech=one+two%20%c3%A9&Empty=", &f));
    assert_int_equal(f.count, 3);
    assert_text(f.fields[1].name, "Speech");
    assert_text(form_value(&f, "To"), "+1555");
    assert_text(form_value(&f, "Speech"), "one two \xc3\xa9");
    assert_text(form_value(&f, "Empty"), "");
    assert_null(form_value(&f, "Other").p);
    assert_true(reads("", &f));
    assert_int_equal(f.count, 0);
}

static void a_field_that_is_given_twice_has_no_value(void **state)
{
    (void)state;
    struct form f;
    assert_true(reads("a=1&b=2&a=1", &f));
    assert_null(form_value(&f, "a").p);
    assert_text(form_value(&f, "b"), "2");
}

static void anything_else_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"a",     "=1",    "&a=1",        "a=1&",           "a=%",    "a=%4",
                                      "a=%zz", "a=%00", "a=1\n",       "a= b",           "a=\x01", "a=\xc3\xa9",
                                      "a=%ff", "%C3=1", "a=%ED%A0%80", "a=1&b=2&c=3&d=4"};
    struct form f = {0};
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_false(reads(bad[i], &f));
    assert_null(f.fields);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fields_are_decoded_in_their_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_field_that_is_given_twice_has_no_value, set_up, tear_down),
        cmocka_unit_test_setup_teardown(anything_else_is_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
