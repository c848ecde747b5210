#include "base/json_nodes.h"
#include "unit.h"

/* Both readers agree about every text. */
static bool reads(struct str text)
{
    json_t *value = NULL;
    const struct json_node *nodes;
    struct arena arena;
    enum err e = json_read(text, &value);
    arena_init(&arena, NULL, 0);
    assert_true(e == ERR_NONE || e == ERR_INVALID_JSON);
    assert_int_equal(json_nodes_read(text, &arena, &nodes), e);
    arena_done(&arena);
    assert_int_equal(value != NULL, e == ERR_NONE);
    json_decref(value);
    return e == ERR_NONE;
}

static void every_type_of_json_text_is_read(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "{}",
        " [ ] ",
        "\"x\"",
        "1",
        "-0",
        "1.5e3",
        "true",
        "null",
        "\t{\"a\":\r\n[1,2]}",
        "{\"\":1}",
        "\"\\u00e9\\ud83d\\ude00\"",
        "\"\xf0\x9f\x98\x80\"",
        "\"\\\"[{\\\\\"",
        "9223372036854775807",
        "-9223372036854775808",
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        if (!reads(str_z(cases[i])))
            fail_msg("refused: %s", cases[i]);
}

static void invalid_json_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        " ",
        "{",
        "}",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "{'a':1}",
        "[1 2]",
        "01",
        "+1",
        ".5",
        "1.",
        "NaN",
        "Infinity",
        "nul",
        "\"a",
        "\"\n\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\ud800\"",
        "\"\\udc00\\ud800\"",
        "\"\\u0000\"",
        "{\"\\u0000\":1}",
        "// x\n1",
        "{} {}",
        "{}x",
        "1 1",
        "{\"a\":1,\"a\":2}",
        "{\"a\":1,\"b\":{\"c\":1,\"c\":1}}",
        "{\"a\":1,\"\\u0061\":2}",
        "9223372036854775808",
        "-9223372036854775809",
        "1e400",
        "-1e400",
        "\"\xff\"",
        "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"",
        "\"\xf4\x90\x80\x80\"",
        "\"\xe2\x82\"",
        "\xef\xbb\xbf{}",
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        if (reads(str_z(cases[i])))
            fail_msg("accepted: %s", cases[i]);
    assert_false(reads(STR("{}\0")));
    assert_false(reads(STR("6\0")));
    assert_false(reads(STR("{\"a\":6\0}")));
    assert_false(reads(STR("\"a\0b\"")));
    assert_false(reads(STR_NONE));
}

/* A value nested in n containers. */
static struct str nested(char *text, size_t n, bool objects)
{
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        at += (size_t)sprintf(text + at, "%s", objects ? "{\"[\\\"{\":" : "[");
    text[at++] = '1';
    for (size_t i = 0; i < n; i++)
        text[at++] = objects ? '}' : ']';
    return str_n(text, at);
}

/* HTTP-8 */
static void containers_nest_32_deep_and_no_deeper(void **state)
{
    (void)state;
    char text[4096];
    assert_true(reads(nested(text, 32, false)));
    assert_false(reads(nested(text, 33, false)));
    assert_true(reads(nested(text, 32, true)));
    assert_false(reads(nested(text, 33, true)));
    static char deep[100000];
    memset(deep, '[', sizeof deep);
    assert_false(reads(str_n(deep, sizeof deep)));
}

static void adjacent_brackets_and_brackets_in_strings_do_not_nest(void **state)
{
    (void)state;
    char text[4096] = "[";
    for (int i = 0; i < 100; i++)
        strcat(text, "[],{},\"[[\\\\\",\"\\\"{\",");
    strcat(text, "1]");
    assert_true(reads(str_z(text)));
}

static void assert_canonical(const char *text, const char *want)
{
    json_t *value = NULL;
    struct buf b = BUF(10000);
    assert_int_equal(json_read(str_z(text), &value), ERR_NONE);
    json_canonical(value, &b);
    assert_text(buf_view(&b), want);
    json_decref(value);
    buf_done(&b);
}

static void equal_bodies_have_the_same_canonical_form(void **state)
{
    (void)state;
    assert_canonical(" { \"b\" : [ 1 , { \"z\":null, \"y\":true } ] , \"a\":\"x\" } ",
                     "{\"a\":\"x\",\"b\":[1,{\"y\":true,\"z\":null}]}");
    assert_canonical("{\"a\":\"x\",\"b\":[1,{\"y\":true,\"z\":null}]}",
                     "{\"a\":\"x\",\"b\":[1,{\"y\":true,\"z\":null}]}");
    assert_canonical("\"\\u00e9\\/\\u0041\\n\"", "\"\xc3\xa9/A\\n\"");
    assert_canonical("[100, -0, 1e2, 100.0, 1.00E+2]", "[100,0,100,100,100]");
    assert_canonical("{\"aa\":1,\"a\":2,\"B\":3,\"\":4}", "{\"\":4,\"B\":3,\"a\":2,\"aa\":1}");
    assert_canonical("[1,2]", "[1,2]");
    assert_canonical("[2,1]", "[2,1]");
}

/* HTTP-9 */
static void a_number_without_a_fraction_is_an_integer_in_any_notation(void **state)
{
    (void)state;
    assert_canonical("5.0", "5");
    assert_canonical("[5, 5.0, 5e0, 0.5e1, 50e-1, 5.0000E+0]", "[5,5,5,5,5,5]");
    assert_canonical("{\"a\":{\"b\":[-1e1,[-0.0,0e9,-0]]},\"c\":1e-400}", "{\"a\":{\"b\":[-10,[0,0,0]]},\"c\":0}");
    assert_canonical("[5.5,5e-1,-0.25]", "[5.5,0.5,-0.25]");
    /* From 2^53, doubles skip integers. */
    assert_canonical("[9007199254740991.0,-9007199254740991.0]", "[9007199254740991,-9007199254740991]");
    assert_canonical("[9007199254740992.0,9007199254740993.0]", "[9007199254740992.0,9007199254740992.0]");
    assert_canonical("[9223372036854775807,1e18]", "[9223372036854775807,1e18]");
}

static void the_canonical_form_respects_the_maximum(void **state)
{
    (void)state;
    json_t *value = NULL;
    struct buf b = BUF(5);
    assert_int_equal(json_read(STR("[1,2,3,4]"), &value), ERR_NONE);
    json_canonical(value, &b);
    assert_true(b.full);
    assert_true(b.n <= 5);
    json_decref(value);
    buf_done(&b);
}

static struct str written(struct buf *b, struct str s)
{
    b->n = 0;
    json_put_str(b, s);
    return buf_view(b);
}

static void strings_are_quoted_and_escaped(void **state)
{
    (void)state;
    struct buf b = BUF(1000);
    assert_text(written(&b, STR("")), "\"\"");
    assert_text(written(&b, STR_NONE), "\"\"");
    assert_text(written(&b, STR("plain")), "\"plain\"");
    assert_text(written(&b, STR("a\"b\\c/d")), "\"a\\\"b\\\\c/d\"");
    assert_text(written(&b, STR("\b\f\n\r\t")), "\"\\b\\f\\n\\r\\t\"");
    assert_text(written(&b, STR("\x01\x1f\x7f")), "\"\\u0001\\u001f\x7f\"");
    assert_text(written(&b, STR("a\0b")), "\"a\\u0000b\"");
    assert_text(written(&b, STR("\xc3\xa9\xf0\x9f\x98\x80")), "\"\xc3\xa9\xf0\x9f\x98\x80\"");
    buf_done(&b);
}

/* Tests every byte that needs an escape at every position, with different neighbours. */
static void escapes_are_found_at_every_position(void **state)
{
    (void)state;
    static const char *const neighbours[] = {"a", "\x7f", "!", "#", "[", "]", " ", "\xc3\xbf"};
    struct buf b = BUF(1000);
    for (size_t k = 0; k < COUNT(neighbours); k++) {
        for (size_t at = 0; at < 24; at++) {
            for (int c = 1; c < 0x80; c++) {
                char text[64] = "";
                json_t *value = NULL;
                for (size_t i = 0; i < 24; i++)
                    strcat(text, i == at ? (char[]){(char)c, 0} : neighbours[k]);
                assert_int_equal(json_read(written(&b, str_z(text)), &value), ERR_NONE);
                assert_string_equal(json_string_value(value), text);
                assert_int_equal(b.n > strlen(text) + 2, c < 0x20 || c == '"' || c == '\\');
                json_decref(value);
            }
        }
    }
    buf_done(&b);
}

static void a_string_that_does_not_fit_marks_the_buffer_full(void **state)
{
    (void)state;
    for (size_t max = 0; max < 20; max++) {
        struct buf b = BUF(max);
        json_put_str(&b, STR("12345678\n90123456"));
        assert_int_equal(b.full, max < 20); /* 17 characters, one of them escaped, and two quotes */
        assert_true(b.n <= max);
        buf_done(&b);
    }
    struct buf b = BUF(20);
    json_put_str(&b, STR("12345678\n90123456"));
    assert_false(b.full);
    buf_done(&b);
}

static void times_are_quoted(void **state)
{
    (void)state;
    struct buf b = BUF(26);
    json_put_time(&b, 1795167000000000);
    assert_text(buf_view(&b), "\"2026-11-20T09:30:00.000Z\"");
    json_put_time(&b, 0);
    assert_true(b.full);
    assert_int_equal(b.n, 26);
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_of_json_text_is_read),
        cmocka_unit_test(invalid_json_is_refused),
        cmocka_unit_test(containers_nest_32_deep_and_no_deeper),
        cmocka_unit_test(adjacent_brackets_and_brackets_in_strings_do_not_nest),
        cmocka_unit_test(equal_bodies_have_the_same_canonical_form),
        cmocka_unit_test(a_number_without_a_fraction_is_an_integer_in_any_notation),
        cmocka_unit_test(the_canonical_form_respects_the_maximum),
        cmocka_unit_test(strings_are_quoted_and_escaped),
        cmocka_unit_test(escapes_are_found_at_every_position),
        cmocka_unit_test(a_string_that_does_not_fit_marks_the_buffer_full),
        cmocka_unit_test(times_are_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
