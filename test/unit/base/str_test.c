#include "unit.h"

static void no_string_differs_from_the_empty_string(void **state)
{
    (void)state;
    assert_null(STR_NONE.p);
    assert_non_null(STR("").p);
    assert_null(str_z(NULL).p);
    assert_true(str_eq(STR_NONE, STR(""))); /* both have no content */
}

static void only_str_eqi_ignores_case(void **state)
{
    (void)state;
    assert_true(str_eq(STR("abc"), STR("abc")));
    assert_false(str_eq(STR("abc"), STR("abC")));
    assert_false(str_eq(STR("abc"), STR("ab")));
    assert_true(str_eqi(STR("Content-Type"), STR("content-TYPE")));
    assert_false(str_eqi(STR("a"), STR("b")));
    assert_true(str_starts(STR("abc"), STR("ab")));
    assert_true(str_starts(STR("abc"), STR("")));
    assert_false(str_starts(STR("a"), STR("ab")));
}

static void str_cut_returns_the_rest(void **state)
{
    (void)state;
    struct str rest;
    assert_text(str_cut(STR("a,b,c"), ',', &rest), "a");
    assert_text(rest, "b,c");
    assert_text(str_cut(rest, ',', &rest), "b");
    assert_text(str_cut(rest, ',', &rest), "c");
    assert_null(rest.p);
    assert_text(str_cut(STR("a,"), ',', &rest), "a");
    assert_text(rest, "");
}

static void spaces_and_tabs_are_trimmed(void **state)
{
    (void)state;
    assert_text(str_trim(STR(" \ta b\t ")), "a b");
    assert_text(str_trim(STR("  ")), "");
    assert_text(str_trim(STR("\na")), "\na");
}

static void str_from_never_passes_the_end(void **state)
{
    (void)state;
    assert_text(str_from(STR("abc"), 1), "bc");
    assert_text(str_from(STR("abc"), 3), "");
    assert_text(str_from(STR("abc"), 9), "");
}

static void integers_are_digits_only_and_bounded(void **state)
{
    (void)state;
    uint64_t v = 7;
    assert_true(str_to_u64(STR("0"), 10, &v));
    assert_int_equal(v, 0);
    assert_true(str_to_u64(STR("007"), 10, &v));
    assert_int_equal(v, 7);
    assert_true(str_to_u64(STR("18446744073709551615"), UINT64_MAX, &v));
    assert_true(v == UINT64_MAX);
    static const char *const bad[] = {
        "", "+1", "-1", " 1", "1 ", "1x", "0x1", "11", "18446744073709551616", "99999999999999999999999"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        v = 42;
        assert_false(str_to_u64(str_z(bad[i]), strlen(bad[i]) > 3 ? UINT64_MAX : 10, &v));
        assert_int_equal(v, 42);
    }
}

static void ids_are_24_hexadecimal_characters(void **state)
{
    (void)state;
    assert_true(str_is_id(STR("0123456789abcdefABCDEF00")));
    assert_false(str_is_id(STR("0123456789abcdefABCDEF0")));
    assert_false(str_is_id(STR("0123456789abcdefABCDEF000")));
    assert_false(str_is_id(STR("0123456789abcdefABCDEF0g")));
    assert_false(str_is_id(STR_NONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_string_differs_from_the_empty_string),
        cmocka_unit_test(only_str_eqi_ignores_case),
        cmocka_unit_test(str_cut_returns_the_rest),
        cmocka_unit_test(spaces_and_tabs_are_trimmed),
        cmocka_unit_test(str_from_never_passes_the_end),
        cmocka_unit_test(integers_are_digits_only_and_bounded),
        cmocka_unit_test(ids_are_24_hexadecimal_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
