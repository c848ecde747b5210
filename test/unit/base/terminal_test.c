#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/terminal.h"

static void becomes(struct str text, const char *expected)
{
    char copy[128];
    assert_true(text.n < sizeof copy);
    memcpy(copy, text.p, text.n);
    const size_t n = terminal_clean(copy, text.n);
    copy[n] = '\0';
    assert_string_equal(copy, expected);
}

/* SERVICE-31 */
static void control_characters_are_replaced(void **state)
{
    (void)state;
    becomes(STR("\x1b[31m\x7f\r\n\t\0x"), "?[31m?????x");
    becomes(STR("\xc2\x9b"
                "2J\xc2\x85"),
            "?2J?");
}

static void format_characters_are_replaced(void **state)
{
    (void)state;
    becomes(STR("a\u202e\u2066\u200f\u061c\u200b\ufeff\u2028\u2029\U000e0041z"), "a?????????z");
}

static void bytes_that_are_not_utf8_are_replaced(void **state)
{
    (void)state;
    becomes(STR("\x9b"
                "31m\xff\xc3"),
            "?31m??");
    becomes(STR("\xed\xa0\x80\xc0\x80"), "?????");
}

static void letters_of_all_scripts_and_emoji_stay(void **state)
{
    (void)state;
    becomes(STR("Zoë 東京 می\u200cخواهم 👩\u200d👧"), "Zoë 東京 می\u200cخواهم 👩\u200d👧");
    becomes(STR(""), "");
}

static void a_printed_line_is_one_line(void **state)
{
    char text[64] = "";
    (void)state;
    FILE *out = fmemopen(text, sizeof text, "w");
    terminal_print(out, "%s|%-4s|", "a\nb\x1b", "c");
    fclose(out);
    assert_string_equal(text, "a?b?|c   |");
}

static void a_text_keeps_its_lines_and_tabs(void **state)
{
    char text[64] = "";
    (void)state;
    FILE *out = fmemopen(text, sizeof text, "w");
    terminal_print_lines(STR("a\tb\nc\x1b[2J\r\n"), out);
    fclose(out);
    assert_string_equal(text, "a\tb\nc?[2J?\n");
}

#define HARD_JSON "{\"a\u202e\":\r\n\t\"\xc2\x9b\x7f\\u001bë\U000e0041\"}"

static void json_for_a_program_is_exact(void **state)
{
    char text[64] = "";
    (void)state;
    FILE *out = fmemopen(text, sizeof text, "w");
    terminal_print_json(STR(HARD_JSON), out);
    fclose(out);
    assert_string_equal(text, HARD_JSON);
}

/* SERVICE-31 */
static void json_for_a_terminal_has_escapes_of_the_same_value(void **state)
{
    char text[128] = "";
    (void)state;
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(master >= 0 && !grantpt(master) && !unlockpt(master));
    FILE *out = fopen(ptsname(master), "w");
    assert_non_null(out);
    terminal_print_json(STR(HARD_JSON "\n"), out);
    fclose(out);
    for (size_t n = 0; !strchr(text, '}');) {
        const ssize_t more = read(master, text + n, sizeof text - 1 - n);
        assert_true(more > 0);
        n += (size_t)more;
    }
    close(master);
    *(strchr(text, '}') + 1) = '\0';
    assert_non_null(strstr(text, "{\"a\\u202e\":"));
    assert_non_null(strstr(text, "\"\\u009b\\u007f\\u001bë\\udb40\\udc41\"}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_replaced),
        cmocka_unit_test(format_characters_are_replaced),
        cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
        cmocka_unit_test(letters_of_all_scripts_and_emoji_stay),
        cmocka_unit_test(a_printed_line_is_one_line),
        cmocka_unit_test(a_text_keeps_its_lines_and_tabs),
        cmocka_unit_test(json_for_a_program_is_exact),
        cmocka_unit_test(json_for_a_terminal_has_escapes_of_the_same_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
