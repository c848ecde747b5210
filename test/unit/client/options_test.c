#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "client/options.h"

struct given {
    const char *name;
    int64_t days;
    bool json;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct given, name, "name", "NAME", "name of the key"),
    OPTION_NUMBER(struct given, days, "days", "N", 1, 90, "days until the key expires"),
    OPTION_SWITCH(struct given, json, "json", "print JSON"),
};
static const struct command operand_free = {
    .name = "example", .summary = "Do something", COMMAND_OPTIONS(struct given, rows)};
static const struct command with_operand = {.name = "example",
                                            .summary = "Do something",
                                            .operands = "NUMBER",
                                            .operands_least = 1,
                                            .operands_most = 1,
                                            COMMAND_OPTIONS(struct given, rows)};
static const struct command with_verb = {.name = "example",
                                         .summary = "Do something",
                                         .operands = "NOUN VERB …",
                                         .operands_least = 2,
                                         .stops_at_operand = true,
                                         COMMAND_OPTIONS(struct given, rows)};

#define PARSE(command, ...)                                                                                            \
    parse((command), (char *[]){"example", __VA_ARGS__, NULL}, sizeof((char *[]){__VA_ARGS__}) / sizeof(char *) + 1)

static struct given got;
static struct arguments operands;

static enum options_result parse(const struct command *c, char **argv, size_t argc)
{
    got = (struct given){0};
    return options_parse(c, (int)argc, argv, &got, &operands);
}

static void every_kind_of_option_is_read(void **state)
{
    (void)state;
    assert_int_equal(PARSE(&operand_free, "--name", "Front door", "--days=30", "--json"), OPTIONS_READ);
    assert_string_equal(got.name, "Front door");
    assert_int_equal(got.days, 30);
    assert_true(got.json);
    assert_int_equal(operands.count, 0);
}

static void absent_options_keep_their_value(void **state)
{
    (void)state;
    assert_int_equal(PARSE(&operand_free, "--json"), OPTIONS_READ);
    assert_null(got.name);
    assert_int_equal(got.days, 0);
}

static void integers_out_of_range_and_non_integers_are_refused(void **state)
{
    (void)state;
    assert_int_equal(PARSE(&operand_free, "--days", "0"), OPTIONS_WRONG);
    assert_int_equal(PARSE(&operand_free, "--days", "91"), OPTIONS_WRONG);
    assert_int_equal(PARSE(&operand_free, "--days", "7x"), OPTIONS_WRONG);
    assert_int_equal(PARSE(&operand_free, "--days", ""), OPTIONS_WRONG);
    assert_int_equal(PARSE(&operand_free, "--days", "99999999999999999999"), OPTIONS_WRONG);
    assert_int_equal(PARSE(&operand_free, "--days", "90"), OPTIONS_READ);
}

static void unknown_options_and_missing_values_are_refused(void **state)
{
    (void)state;
    assert_int_equal(PARSE(&operand_free, "--colour"), OPTIONS_WRONG);
    assert_int_equal(PARSE(&operand_free, "-x"), OPTIONS_WRONG);
    assert_int_equal(PARSE(&operand_free, "--name"), OPTIONS_WRONG);
    assert_int_equal(PARSE(&operand_free, "--json=yes"), OPTIONS_WRONG);
}

static void help_ignores_the_arguments_after_it(void **state)
{
    (void)state;
    assert_int_equal(PARSE(&with_operand, "--help"), OPTIONS_HELP);
    assert_int_equal(PARSE(&with_verb, "--help", "key"), OPTIONS_HELP);
}

static void missing_and_extra_operands_are_refused(void **state)
{
    (void)state;
    assert_int_equal(PARSE(&operand_free, "extra"), OPTIONS_WRONG);
    assert_int_equal(PARSE(&with_operand, "--json"), OPTIONS_WRONG);
    assert_int_equal(PARSE(&with_operand, "+15550100000", "--json"), OPTIONS_READ);
    assert_string_equal(operands.words[0], "+15550100000");
    assert_true(got.json);
    assert_int_equal(PARSE(&with_operand, "--", "--json"), OPTIONS_READ);
    assert_string_equal(operands.words[0], "--json");
    assert_false(got.json);
}

static void parsing_stops_at_the_first_operand_if_asked(void **state)
{
    (void)state;
    assert_int_equal(PARSE(&with_verb, "--json", "key", "create", "--scopes", "logs:read"), OPTIONS_READ);
    assert_true(got.json);
    assert_int_equal(operands.count, 4);
    assert_string_equal(operands.words[2], "--scopes");
    assert_int_equal(PARSE(&with_verb, "key"), OPTIONS_WRONG);
}

static void a_required_option_must_be_given(void **state)
{
    (void)state;
    static const struct option_row needed[] = {
        OPTION_NEEDED(struct given, name, "name", "NAME", "name of the key"),
        OPTION_SWITCH(struct given, json, "json", "print JSON"),
    };
    static const struct command c = {
        .name = "example", .summary = "Do something", COMMAND_OPTIONS(struct given, needed)};
    char text[2048] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    assert_int_equal(PARSE(&c, "--json"), OPTIONS_WRONG);
    assert_int_equal(PARSE(&c, "--name", ""), OPTIONS_READ);
    options_help(&c, out);
    fclose(out);
    assert_non_null(strstr(text, "Usage: portero example --name NAME [OPTION]…\n"));
}

static void help_lists_every_option(void **state)
{
    (void)state;
    char text[2048] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    options_help(&with_operand, out);
    fclose(out);
    assert_non_null(strstr(text, "Usage: portero example [OPTION]… NUMBER\n"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_non_null(strstr(text, rows[i].name));
        assert_non_null(strstr(text, rows[i].doc));
    }
    assert_non_null(strstr(text, "--help"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_option_is_read),
        cmocka_unit_test(absent_options_keep_their_value),
        cmocka_unit_test(integers_out_of_range_and_non_integers_are_refused),
        cmocka_unit_test(unknown_options_and_missing_values_are_refused),
        cmocka_unit_test(help_ignores_the_arguments_after_it),
        cmocka_unit_test(missing_and_extra_operands_are_refused),
        cmocka_unit_test(parsing_stops_at_the_first_operand_if_asked),
        cmocka_unit_test(a_required_option_must_be_given),
        cmocka_unit_test(help_lists_every_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
