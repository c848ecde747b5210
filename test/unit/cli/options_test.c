#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/options.h"

struct given {
    const char *name;
    int64_t days;
    bool json;
};

static const struct option_row rows[] = {
    OPTION_TEXT(struct given, name, "name", "NAME", "its name"),
    OPTION_NUMBER(struct given, days, "days", "N", 1, 90, "days until it expires"),
    OPTION_SWITCH(struct given, json, "json", "prints JSON"),
};
static const struct command operand_free = {
    .name = "example", .summary = "does something", COMMAND_OPTIONS(struct given, rows)};
static const struct command with_operand = {.name = "example",
                                            .summary = "does something",
                                            .operands = "NUMBER",
                                            .operands_least = 1,
                                            .operands_most = 1,
                                            COMMAND_OPTIONS(struct given, rows)};
static const struct command with_verb = {.name = "example",
                                         .summary = "does something",
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

static void reads_each_kind_of_option(void **state)
{
    (void)state;
    assert_int_equal(PARSE(&operand_free, "--name", "Front door", "--days=30", "--json"), OPTIONS_READ);
    assert_string_equal(got.name, "Front door");
    assert_int_equal(got.days, 30);
    assert_true(got.json);
    assert_int_equal(operands.count, 0);
}

static void what_is_not_given_stays_empty(void **state)
{
    (void)state;
    assert_int_equal(PARSE(&operand_free, "--json"), OPTIONS_READ);
    assert_null(got.name);
    assert_int_equal(got.days, 0);
}

static void refuses_numbers_out_of_range_and_what_is_no_number(void **state)
{
    (void)state;
    assert_int_equal(PARSE(&operand_free, "--days", "0"), OPTIONS_WRONG);
    assert_int_equal(PARSE(&operand_free, "--days", "91"), OPTIONS_WRONG);
    assert_int_equal(PARSE(&operand_free, "--days", "7x"), OPTIONS_WRONG);
    assert_int_equal(PARSE(&operand_free, "--days", ""), OPTIONS_WRONG);
    assert_int_equal(PARSE(&operand_free, "--days", "99999999999999999999"), OPTIONS_WRONG);
    assert_int_equal(PARSE(&operand_free, "--days", "90"), OPTIONS_READ);
}

static void refuses_unknown_options_and_missing_values(void **state)
{
    (void)state;
    assert_int_equal(PARSE(&operand_free, "--colour"), OPTIONS_WRONG);
    assert_int_equal(PARSE(&operand_free, "-x"), OPTIONS_WRONG);
    assert_int_equal(PARSE(&operand_free, "--name"), OPTIONS_WRONG);
    assert_int_equal(PARSE(&operand_free, "--json=yes"), OPTIONS_WRONG);
}

static void help_goes_before_everything_that_follows(void **state)
{
    (void)state;
    assert_int_equal(PARSE(&with_operand, "--help"), OPTIONS_HELP);
    assert_int_equal(PARSE(&with_verb, "--help", "key"), OPTIONS_HELP);
}

static void counts_operands(void **state)
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

static void leaves_a_verbs_options_to_the_verb(void **state)
{
    (void)state;
    assert_int_equal(PARSE(&with_verb, "--json", "key", "create", "--scopes", "logs:read"), OPTIONS_READ);
    assert_true(got.json);
    assert_int_equal(operands.count, 4);
    assert_string_equal(operands.words[2], "--scopes");
    assert_int_equal(PARSE(&with_verb, "key"), OPTIONS_WRONG);
}

static void refuses_to_go_without_what_must_be_given(void **state)
{
    (void)state;
    static const struct option_row needed[] = {
        OPTION_NEEDED(struct given, name, "name", "NAME", "its name"),
        OPTION_SWITCH(struct given, json, "json", "prints JSON"),
    };
    static const struct command c = {
        .name = "example", .summary = "does something", COMMAND_OPTIONS(struct given, needed)};
    char text[2048] = "";
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    assert_int_equal(PARSE(&c, "--json"), OPTIONS_WRONG);
    assert_int_equal(PARSE(&c, "--name", ""), OPTIONS_READ);
    options_help(&c, out);
    fclose(out);
    assert_non_null(strstr(text, "Usage: portero example --name NAME [OPTION]…\n"));
}

static void help_names_every_option(void **state)
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
        cmocka_unit_test(reads_each_kind_of_option),
        cmocka_unit_test(what_is_not_given_stays_empty),
        cmocka_unit_test(refuses_numbers_out_of_range_and_what_is_no_number),
        cmocka_unit_test(refuses_unknown_options_and_missing_values),
        cmocka_unit_test(help_goes_before_everything_that_follows),
        cmocka_unit_test(counts_operands),
        cmocka_unit_test(leaves_a_verbs_options_to_the_verb),
        cmocka_unit_test(refuses_to_go_without_what_must_be_given),
        cmocka_unit_test(help_names_every_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
