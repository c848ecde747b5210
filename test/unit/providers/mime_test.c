#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>
#include <stdlib.h>

#include "providers/mime.h"

static int setup(void **state)
{
    *state = calloc(1, sizeof(struct arena));
    arena_init(*state, NULL, 0);
    return 0;
}

static int teardown(void **state)
{
    arena_done(*state);
    free(*state);
    return 0;
}

#define assert_str(s, wanted) assert_string_equal(arena_str(*state, (s)).p, (wanted))

static void test_the_address_of_a_mailbox_is_found(void **state)
{
    assert_str(mime_address(STR("Portero <portero@example.com>")), "portero@example.com");
    assert_str(mime_address(STR("portero@example.com")), "portero@example.com");
    assert_str(mime_address(STR(" portero@example.com ")), "portero@example.com");
    assert_null(mime_address(STR("Portero")).p);
    assert_null(mime_address(STR("Portero <portero>")).p);
    assert_null(mime_address(STR("")).p);
}

static void test_text_with_control_characters_is_not_clean(void **state)
{
    (void)state;
    assert_true(mime_clean(STR("Grüße, a \"b\"")));
    assert_false(mime_clean(STR("a\r\nBcc: b@example.com")));
    assert_false(mime_clean(STR("a\nb")));
    assert_false(mime_clean(STR("a\0b")));
    assert_false(mime_clean(STR("a\x7f")));
}

static void test_ascii_text_is_unchanged(void **state)
{
    assert_str(mime_text(*state, STR("Your sign-in code")), "Your sign-in code");
    assert_str(mime_text(*state, STR("")), "");
}

/* Decodes encoded words, as a reader does. */
static void decode(struct str text, GString *out)
{
    gchar **words = g_strsplit(text.p, "\r\n ", -1);
    for (gchar **w = words; *w; w++) {
        gsize n;
        assert_true(g_str_has_prefix(*w, "=?UTF-8?B?") && g_str_has_suffix(*w, "?="));
        assert_true(strlen(*w) <= 75);
        gchar *base64 = g_strndup(*w + 10, strlen(*w) - 12);
        guchar *bytes = g_base64_decode(base64, &n);
        assert_true(g_utf8_validate((const gchar *)bytes, (gssize)n, NULL)); /* no character is cut in two */
        g_string_append_len(out, (const gchar *)bytes, (gssize)n);
        g_free(bytes);
        g_free(base64);
    }
    g_strfreev(words);
}

static void test_other_text_becomes_encoded_words_that_read_back(void **state)
{
    const char *const texts[] = {"Grüße", "🚪 Tür",
                                 "Sehr lange Überschrift mit vielen Umlauten äöüßäöüßäöüßäöüß und Türen 🚪🚪🚪🚪🚪🚪🚪🚪"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        GString *read = g_string_new(NULL);
        decode(mime_text(*state, str_z(texts[i])), read);
        assert_string_equal(read->str, texts[i]);
        g_string_free(read, TRUE);
    }
}

static void test_a_mailbox_is_quoted_if_necessary(void **state)
{
    assert_str(mime_mailbox(*state, STR("Portero <p@example.com>")), "Portero <p@example.com>");
    assert_str(mime_mailbox(*state, STR("p@example.com")), "p@example.com");
    assert_str(mime_mailbox(*state, STR("<p@example.com>")), "p@example.com");
    assert_str(mime_mailbox(*state, STR("A. B, C <p@example.com>")), "\"A. B, C\" <p@example.com>");
    assert_str(mime_mailbox(*state, STR("\"A. B\" <p@example.com>")), "\"A. B\" <p@example.com>");
    assert_str(mime_mailbox(*state, STR("Türhüter <p@example.com>")), "=?UTF-8?B?VMO8cmjDvHRlcg==?= <p@example.com>");
}

static void test_dates_are_in_the_format_of_rfc_5322(void **state)
{
    assert_str(mime_date(*state, 1795167000LL * 1000000), "Fri, 20 Nov 2026 09:30:00 +0000");
    assert_str(mime_date(*state, 0), "Thu, 01 Jan 1970 00:00:00 +0000");
}

static struct str body(struct arena *a, struct str text)
{
    struct buf b = BUF(65536);
    mime_put_body(&b, text);
    struct str s = arena_str(a, buf_view(&b));
    buf_done(&b);
    return s;
}

static void test_short_ascii_lines_are_unchanged(void **state)
{
    assert_str(body(*state, STR("a\nb\r\nc")), "Content-Transfer-Encoding: 7bit\r\n\r\na\r\nb\r\nc\r\n");
    assert_str(body(*state, STR("")), "Content-Transfer-Encoding: 7bit\r\n\r\n\r\n");
}

static void test_long_lines_and_other_text_are_base64(void **state)
{
    for (size_t n = 990; n < 1010; n++) {
        char *text = arena_zalloc(*state, n + 1);
        memset(text, 'x', n);
        struct str b = body(*state, str_z(text));
        assert_int_equal(strstr(b.p, "base64") != NULL, n > 998);
        for (struct str line, rest = b; (line = str_cut(rest, '\n', &rest)).n;)
            assert_true(n <= 998 || line.n <= 77);
        gsize read;
        guchar *plain = n > 998 ? g_base64_decode(strstr(b.p, "\r\n\r\n"), &read) : NULL;
        assert_true(!plain || (read == n && memcmp(plain, text, n) == 0));
        g_free(plain);
    }
    assert_str(body(*state, STR("ü")), "Content-Transfer-Encoding: base64\r\n\r\nw7w=\r\n");
}

static void test_a_message_in_two_forms_has_both_between_boundaries(void **state)
{
    struct arena *a = *state;
    struct buf b = BUF(65536), again = BUF(65536);
    mime_put_alternative(&b, STR("plain\n"), STR("<p>ü</p>\n"));
    mime_put_alternative(&again, STR("plain\n"), STR("<p>ü</p>\n"));
    struct str rest = arena_str(a, buf_view(&b)), head = STR("Content-Type: multipart/alternative; boundary=\"");
    assert_true(str_starts(rest, head));
    struct str boundary = str_cut(str_from(rest, head.n), '"', &(struct str){0});
    assert_true(boundary.n >= 20 && boundary.n <= 70);
    struct str wanted =
        arena_printf(a,
                     "%.*s%.*s\"\r\n\r\n--%.*s\r\nContent-Type: text/plain; charset=utf-8\r\n"
                     "Content-Transfer-Encoding: 7bit\r\n\r\nplain\r\n--%.*s\r\n"
                     "Content-Type: text/html; charset=utf-8\r\n"
                     "Content-Transfer-Encoding: base64\r\n\r\nPHA+w7w8L3A+Cg==\r\n--%.*s--\r\n",
                     STR_ARG(head), STR_ARG(boundary), STR_ARG(boundary), STR_ARG(boundary), STR_ARG(boundary));
    assert_str(rest, wanted.p);
    assert_false(str_eq(buf_view(&b), buf_view(&again))); /* the boundary is random */
    buf_done(&b);
    buf_done(&again);
}

static void test_a_wav_file_is_attached(void **state)
{
    struct arena *a = *state;
    struct buf b = BUF(4096);
    mime_put_with_wav(&b, STR("plain\n"), STR("RIFF\xff"));
    struct str rest = arena_str(a, buf_view(&b)), head = STR("Content-Type: multipart/mixed; boundary=\"");
    assert_true(str_starts(rest, head));
    struct str boundary = str_cut(str_from(rest, head.n), '"', &(struct str){0});
    assert_str(rest,
               arena_printf(a,
                            "%.*s%.*s\"\r\n\r\n--%.*s\r\nContent-Type: text/plain; charset=utf-8\r\n"
                            "Content-Transfer-Encoding: 7bit\r\n\r\nplain\r\n--%.*s\r\n"
                            "Content-Type: audio/wav\r\n"
                            "Content-Disposition: attachment; filename=\"message.wav\"\r\n"
                            "Content-Transfer-Encoding: base64\r\n\r\nUklGRv8=\r\n--%.*s--\r\n",
                            STR_ARG(head), STR_ARG(boundary), STR_ARG(boundary), STR_ARG(boundary), STR_ARG(boundary))
                   .p);
    buf_done(&b);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_the_address_of_a_mailbox_is_found),
        TEST(test_a_wav_file_is_attached),
        TEST(test_text_with_control_characters_is_not_clean),
        TEST(test_ascii_text_is_unchanged),
        TEST(test_other_text_becomes_encoded_words_that_read_back),
        TEST(test_a_mailbox_is_quoted_if_necessary),
        TEST(test_short_ascii_lines_are_unchanged),
        TEST(test_long_lines_and_other_text_are_base64),
        TEST(test_a_message_in_two_forms_has_both_between_boundaries),
        TEST(test_dates_are_in_the_format_of_rfc_5322),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
