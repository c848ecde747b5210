#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "call/words.h"

static void assert_reads(const char *spoken, const char *expected)
{
    char digits[9] = "";
    assert_true(words_to_digits(str_z(spoken), digits, sizeof digits));
    assert_string_equal(digits, expected);
}

static void assert_refuses(const char *spoken)
{
    char digits[9] = "";
    assert_false(words_to_digits(str_z(spoken), digits, sizeof digits));
}

static void reads_every_digit(void **state)
{
    (void)state;
    assert_reads("one two three four", "1234");
    assert_reads("five six seven eight nine zero", "567890");
}

static void reads_zero_by_its_other_names(void **state)
{
    (void)state;
    assert_reads("oh seven", "07");
    assert_reads("o seven", "07");
}

static void reads_repeated_digits(void **state)
{
    (void)state;
    assert_reads("double five", "55");
    assert_reads("one triple oh", "1000");
    assert_reads("double 5 1", "551");
}

static void reads_written_digits_case_and_punctuation(void **state)
{
    (void)state;
    assert_reads("1234", "1234");
    assert_reads("1 2-3, 4.", "1234");
    assert_reads("  One TWO,three.Four ", "1234");
}

static void refuses_text_that_is_no_code(void **state)
{
    (void)state;
    assert_refuses("");
    assert_refuses(" . ");
    assert_refuses("hello");
    assert_refuses("one two please");
    assert_refuses("double");
    assert_refuses("one double");
    assert_refuses("double double five");
    assert_refuses("12a4");
}

static void refuses_more_digits_than_fit(void **state)
{
    (void)state;
    assert_reads("12345678", "12345678");
    assert_refuses("123456789");
    assert_refuses("triple one triple two triple three");
}

static void a_nul_is_no_digit(void **state)
{
    (void)state;
    char digits[9];
    assert_false(words_to_digits(str_n("1\0002", 3), digits, sizeof digits));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_digit),
        cmocka_unit_test(reads_zero_by_its_other_names),
        cmocka_unit_test(reads_repeated_digits),
        cmocka_unit_test(reads_written_digits_case_and_punctuation),
        cmocka_unit_test(refuses_text_that_is_no_code),
        cmocka_unit_test(refuses_more_digits_than_fit),
        cmocka_unit_test(a_nul_is_no_digit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
