/* A person's number or address in texts of the store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "privacy/person_text.h"

static void test_a_word_is_a_number_in_e164_or_an_address(void **state)
{
    static const char *const wrong[] = {
        "", "+", "@", "4312", "12125550123", "+123456", "+1234567890123456", "+1212555o123", "Kim", "a b@example.com"};
    struct arena a;
    struct str word;
    (void)state;
    arena_init(&a, NULL, 0);
    assert_true(person_word(STR("+12125550123"), &a, &word));
    assert_true(str_eq(word, STR("12125550123")));
    assert_true(person_word(STR("Kim@Example.com"), &a, &word));
    assert_true(str_eq(word, STR("kim@example.com")));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(person_word(str_z(wrong[i]), &a, &word));
    arena_done(&a);
}

static void test_a_word_is_not_a_part_of_a_longer_one(void **state)
{
    static const struct {
        const char *text, *word;
        bool named;
    } cases[] = {
        {"+12125550123", "12125550123", true},
        {"12125550123", "12125550123", true},
        {"call +12125550123.", "12125550123", true},
        {"+121255501234", "12125550123", false},
        {"+112125550123", "12125550123", false},
        {"x+12125550123", "12125550123", false},
        {"", "12125550123", false},
        {"1212555012", "12125550123", false},
        {"Kim@Example.com", "kim@example.com", true},
        {"akim@example.com", "kim@example.com", false},
        {"kim@example.com.au", "kim@example.com", false},
        {"of kim@example.com.", "kim@example.com", true},
        {"a.kim@example.com", "kim@example.com", false},
        {"+121255501234 12125550123", "12125550123", true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(person_named(str_z(cases[i].text), str_z(cases[i].word)), cases[i].named);
    assert_false(person_named(STR_NONE, STR("12125550123")));
}

static void test_what_is_left_is_a_text_of_its_kind(void **state)
{
    static const struct {
        enum person_manner manner;
        const char *text, *left;
    } cases[] = {
        {PERSON_WHOLE, "Kim +12125550123", "erased"},
        {PERSON_EMPTY, "+12125550123", ""},
        {PERSON_EACH, "0 ringing - +12125550123\n9 busy +12125550123\n", "0 ringing - erased\n9 busy erased\n"},
        {PERSON_LISTED, "+12125550123", ""},
        {PERSON_LISTED, "+1 +12125550123 +2", "+1 +2"},
        {PERSON_LISTED, "+1 +12125550123", "+1"},
        {PERSON_IN_JSON, "{\"caller\":\"+12125550123\",\"label\":\"Kim +12125550123\"}",
         "{\"caller\":null,\"label\":\"Kim erased\"}"},
        {PERSON_EACH, "Kim", "Kim"},
    };
    struct arena a;
    (void)state;
    arena_init(&a, NULL, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct str left = person_erase(str_z(cases[i].text), STR("12125550123"), cases[i].manner, &a);
        assert_true(str_eq(left, str_z(cases[i].left)));
    }
    assert_null(person_erase(STR("+12125550123"), STR("12125550123"), PERSON_BLANK, &a).p);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_word_is_a_number_in_e164_or_an_address),
        cmocka_unit_test(test_a_word_is_not_a_part_of_a_longer_one),
        cmocka_unit_test(test_what_is_left_is_a_text_of_its_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
