/* Characters, compared with GLib's for each code point. */
#include "base/utf8.h"

#include <glib.h>

#include "base/unit.h"

#define HIGHEST 0x10ffff

static void characters_are_read_as_glib_reads_them(void **state)
{
    (void)state;
    for (gunichar c = 0; c <= HIGHEST; c++) {
        char text[6];
        uint32_t got;
        const size_t n = (size_t)g_unichar_to_utf8(c, text);
        if (!g_unichar_validate(c)) {
            assert_int_equal(utf8_read(text, n, &got), 0);
            continue;
        }
        assert_int_equal(utf8_read(text, n, &got), n);
        assert_int_equal(got, c);
        assert_int_equal(utf8_read(text, n - 1, &got), 0);
    }
}

static void bytes_that_are_no_character_are_refused(void **state)
{
    static const char *const wrong[] = {"\x80",
                                        "\xbf",
                                        "\xc0\x80",
                                        "\xc1\xbf",
                                        "\xe0\x80\x80",
                                        "\xe0\x9f\xbf",
                                        "\xf0\x80\x80\x80",
                                        "\xf0\x8f\xbf\xbf",
                                        "\xed\xa0\x80",
                                        "\xf4\x90\x80\x80",
                                        "\xf8\x88\x80\x80\x80",
                                        "\xfe",
                                        "\xff",
                                        "\xc3(",
                                        "\xe2\x82("};
    uint32_t got;
    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_int_equal(utf8_read(wrong[i], strlen(wrong[i]), &got), 0);
}

/* GLib may know an earlier version of Unicode, in which a character was not assigned. */
static void controls_and_formats_of_glib_command_a_terminal(void **state)
{
    (void)state;
    for (gunichar c = 0; c <= HIGHEST; c++) {
        const GUnicodeType type = g_unichar_type(c);
        const bool commands = type == G_UNICODE_CONTROL || type == G_UNICODE_LINE_SEPARATOR ||
                              type == G_UNICODE_PARAGRAPH_SEPARATOR ||
                              (type == G_UNICODE_FORMAT && c != 0x200c && c != 0x200d);
        if (utf8_commands(c) != commands && type != G_UNICODE_UNASSIGNED)
            fail_msg("U+%04X", c);
    }
}

static void white_space_is_glibs_and_the_vertical_tab(void **state)
{
    (void)state;
    for (gunichar c = 0; c <= HIGHEST; c++)
        if (utf8_is_space(c) != (c == '\v' || g_unichar_isspace(c)))
            fail_msg("U+%04X", c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_are_read_as_glib_reads_them),
        cmocka_unit_test(bytes_that_are_no_character_are_refused),
        cmocka_unit_test(controls_and_formats_of_glib_command_a_terminal),
        cmocka_unit_test(white_space_is_glibs_and_the_vertical_tab),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
