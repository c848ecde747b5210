#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "client/print.h"

static void assert_prints(const char *json, const char *expected)
{
    char text[2048] = "";
    json_t *answer = json_loads(json, 0, NULL);
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(answer);
    assert_non_null(out);
    print_text(answer, out);
    fclose(out);
    json_decref(answer);
    assert_string_equal(text, expected);
}

static void an_object_prints_as_aligned_lines(void **state)
{
    (void)state;
    assert_prints("{\"id\": \"a1\", \"number\": null, \"scopes\": [\"x\", \"y\"], \"days\": 30, \"primary\": true}",
                  "id       a1\nnumber   -\nscopes   x,y\ndays     30\nprimary  yes\n");
}

static void a_list_prints_as_a_table(void **state)
{
    (void)state;
    assert_prints(
        "{\"data\": [{\"number\": \"+15550100000\", \"held\": null}, {\"number\": \"+1555\", \"held\": \"b\"}]}",
        "number        held\n+15550100000  -\n+1555         b\n");
}

static void a_list_within_an_object_prints_as_a_table_under_its_name(void **state)
{
    (void)state;
    assert_prints("{\"id\": 1, \"rows\": [{\"a\": \"x\", \"b\": \"long\"}, {\"a\": \"yy\", \"b\": null}]}",
                  "id    1\nrows\n  a   b\n  x   long\n  yy  -\n");
}

static void columns_are_as_wide_as_characters_not_bytes(void **state)
{
    (void)state;
    assert_prints("{\"data\": [{\"name\": \"Zoë\", \"id\": 1}, {\"name\": \"Anna\", \"id\": 2}]}",
                  "name  id\nZoë   1\nAnna  2\n");
}

static void columns_come_from_all_rows_but_the_hidden_and_empty_ones(void **state)
{
    static const char *const hidden[] = {"b", NULL};
    char text[256] = "";
    json_t *answer =
        json_loads("{\"data\": [{\"a\": 1, \"b\": 2, \"d\": null}, {\"a\": 3, \"c\": \"x\", \"d\": null}]}", 0, NULL);
    FILE *out = fmemopen(text, sizeof text, "w");
    (void)state;
    print_text_without(answer, hidden, 0, out);
    fclose(out);
    json_decref(answer);
    assert_string_equal(text, "a  c\n1  -\n3  x\n");
    assert_prints("{\"data\": [{\"a\": 1}, {\"a\": 2, \"d\": null}]}", "a  d\n1  -\n2  -\n");
}

static void members_of_an_object_within_have_both_names(void **state)
{
    (void)state;
    assert_prints("{\"id\": 1, \"usage\": {\"visits\": 2, \"of\": {\"days\": [\"a\", \"b\"]}}, \"none\": {}}",
                  "id             1\nusage.visits   2\nusage.of.days  a,b\nnone           {}\n");
    assert_prints("{\"a\": {\"b\": {\"c\": {\"d\": {\"e\": 1}}}}}", "a.b.c.d  {\"e\":1}\n");
}

static void a_table_wider_than_the_terminal_prints_as_lines(void **state)
{
    char text[512];
    json_t *answer = json_loads(
        "{\"data\": [{\"id\": \"0123456789\", \"label\": \"Zo\u00eb\"}, {\"id\": \"1\", \"label\": null}]}", 0, NULL);
    static const struct {
        int columns;
        const char *expected;
    } cases[] = {{17, "id          label\n0123456789  Zo\u00eb\n1           -\n"},
                 {16, "id     0123456789\nlabel  Zo\u00eb\n\nid     1\nlabel  -\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(text, 0, sizeof text);
        FILE *out = fmemopen(text, sizeof text, "w");
        print_text_without(answer, NULL, cases[i].columns, out);
        fclose(out);
        assert_string_equal(text, cases[i].expected);
    }
    json_decref(answer);
}

static void a_list_wider_than_the_terminal_has_the_columns_that_fit(void **state)
{
    char text[512];
    static const char *const hidden[] = {"b", NULL};
    json_t *answer =
        json_loads("{\"data\": [{\"id\": \"0123456789\", \"label\": \"Zo\u00eb, who waters the plants on Sundays\","
                   " \"b\": 1, \"status\": \"active\", \"n\": 7}]}",
                   0, NULL);
    static const struct {
        int columns;
        const char *expected;
    } cases[] = {{60, "id          label                                  status  n\n"
                      "0123456789  Zo\u00eb, who waters the plants on Sundays  active  7\n"},
                 {53, "id          label                           status  n\n"
                      "0123456789  Zo\u00eb, who waters the plants on\u2026  active  7\n"},
                 {49, "id          label                           n\n"
                      "0123456789  Zo\u00eb, who waters the plants on\u2026  7\n"},
                 {20, "id          status\n0123456789  active\n"},
                 {5, "id\n0123456789\n"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        memset(text, 0, sizeof text);
        FILE *out = fmemopen(text, sizeof text, "w");
        print_text_without(answer, hidden, cases[i].columns, out);
        fclose(out);
        assert_string_equal(text, cases[i].expected);
    }
    json_decref(answer);
}

static void an_empty_list_says_so(void **state)
{
    (void)state;
    assert_prints("{\"data\": []}", "none\n");
}

static void control_characters_do_not_reach_the_terminal(void **state)
{
    (void)state;
    assert_prints("{\"label\": \"a\\u001b[2Jb\\n\"}", "label  a?[2Jb?\n");
    assert_prints("{\"label\": \"\\u009b2J\\u007f\\u00e9\"}", "label  ?2J?é\n");
    assert_prints("{\"a\\u001b\": 1, \"b\": {\"\\u202e\": 2}, \"c\\u009b\": [{\"d\\u0007\": 3}]}",
                  "a?   1\nb.?  2\nc?\n  d?\n  3\n");
    assert_prints("{\"data\": [{\"\\u001b[31m\": \"abcdef\", \"b\": \"\\u202e\"}]}", "?[31m   b\nabcdef  ?\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_prints_as_aligned_lines),
        cmocka_unit_test(a_list_prints_as_a_table),
        cmocka_unit_test(a_list_within_an_object_prints_as_a_table_under_its_name),
        cmocka_unit_test(columns_are_as_wide_as_characters_not_bytes),
        cmocka_unit_test(columns_come_from_all_rows_but_the_hidden_and_empty_ones),
        cmocka_unit_test(members_of_an_object_within_have_both_names),
        cmocka_unit_test(a_table_wider_than_the_terminal_prints_as_lines),
        cmocka_unit_test(a_list_wider_than_the_terminal_has_the_columns_that_fit),
        cmocka_unit_test(an_empty_list_says_so),
        cmocka_unit_test(control_characters_do_not_reach_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
