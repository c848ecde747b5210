/* Commands that follow from rows: their options, their operands, and the query and body that options become. */
#include "client/operation.h"
#include "client/operation_input.h"

#include "base/unit.h"
#include <unistd.h>

#define GIVEN_MAX 6

static const struct operation *operation_of(const char *name)
{
    const struct command *noun, *verb;
    for (size_t i = 0; (noun = operation_noun(i)); i++)
        for (size_t j = 0; (verb = noun->verb(noun, j)); j++)
            if (strcmp(verb->name, name) == 0 && verb->run == operation_command_run)
                return (const struct operation *)verb;
    fail_msg("no command %s", name);
    return NULL;
}

static const struct option_row *option_of(const struct command *c, const char *name)
{
    for (size_t i = 0; i < c->option_count; i++)
        if (strcmp(c->options[i].name, name) == 0 || (c->options[i].also && strcmp(c->options[i].also, name) == 0))
            return &c->options[i];
    return NULL;
}

/* ---- the commands ---- */

static const struct {
    const char *name, *operands; /* NULL: none */
    int least, most;
    const char *options[GIVEN_MAX]; /* some that it has */
    const char *lacks;
} commands[] = {
    {"unlock list", NULL, 0, 0, {"status", "limit", "cursor", "building", "all"}, "body"},
    {"unlock show", "ID", 1, 1, {"building", "json", "dry-run", "profile", "ca-file"}, "all"},
    {"unlock create", NULL, 0, 0, {"type", "label", "days", "body", "idempotency-key"}, "if-match"},
    {"unlock update", "ID", 1, 1, {"label", "enabled", "if-match", "body"}, "idempotency-key"},
    {"account show", NULL, 0, 0, {"json"}, "building"},
};

static void a_command_has_the_options_of_its_row(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(commands); i++) {
        const struct command *c = &operation_of(commands[i].name)->command;
        assert_int_equal(c->operands_least, commands[i].least);
        assert_int_equal(c->operands_most, commands[i].most);
        if (commands[i].operands)
            assert_string_equal(c->operands, commands[i].operands);
        else
            assert_null(c->operands);
        for (const char *const *name = commands[i].options; *name; name++)
            if (!option_of(c, *name))
                fail_msg("%s lacks --%s", commands[i].name, *name);
        assert_null(option_of(c, commands[i].lacks));
    }
}

/* For each command of each row: help that says something, and options that can be told apart. */
static void every_option_has_a_name_of_its_own_and_a_description(void **state)
{
    (void)state;
    const struct command *noun, *c;
    size_t count = 0;
    for (size_t i = 0; (noun = operation_noun(i)); i++) {
        assert_true(strlen(noun->summary) > 2);
        for (size_t j = 0; (c = noun->verb(noun, j)); j++, count++) {
            assert_true(strncmp(c->name, noun->name, strlen(noun->name)) == 0 && c->name[strlen(noun->name)] == ' ');
            assert_true(strlen(c->summary) > 5);
            for (size_t k = 0; k < c->option_count; k++) {
                const struct option_row *row = &c->options[k];
                assert_ptr_equal(option_of(c, row->name), row);
                assert_true(strspn(row->name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(row->name));
                assert_true(strlen(row->doc) > 2);
            }
        }
    }
    assert_true(count > 50);
}

static void lists_of_several_pages_are_known(void **state)
{
    (void)state;
    assert_true(operation_is_paged(operation_of("unlock list")));
    assert_false(operation_is_paged(operation_of("unlock show")));
    assert_false(operation_is_paged(operation_of("plan list")));
}

/* ---- options as query and body ---- */

struct option {
    const char *name, *value;
};

static const struct {
    const char *command;
    struct option given[GIVEN_MAX];
    const char *body_option;  /* --body; NULL: not given */
    const char *query, *body; /* JSON; body NULL: none. query NULL: refused */
} inputs[] = {
    {"unlock list", {{NULL, NULL}}, NULL, "{}", NULL},
    {"unlock list",
     {{"status", "active"}, {"limit", "5"}, {"enabled", "false"}},
     NULL,
     "{\"status\":\"active\",\"limit\":5,\"enabled\":false}",
     NULL},
    {"unlock list", {{"limit", "five"}}, NULL, NULL, NULL},
    {"unlock list", {{"limit", "5x"}}, NULL, NULL, NULL},
    {"unlock list", {{"limit", "0"}}, NULL, NULL, NULL},
    {"unlock list", {{"limit", "99999999999999999999"}}, NULL, NULL, NULL},
    {"unlock list", {{"enabled", "yes"}}, NULL, NULL, NULL},
    {"unlock list", {{"status", "open"}}, NULL, NULL, NULL},
    {"unlock create",
     {{"type", "timer"}, {"label", "Party, at \"home\""}, {"expires-in-minutes", "60"}},
     NULL,
     "{}",
     "{\"type\":\"timer\",\"label\":\"Party, at \\\"home\\\"\",\"expires_in_minutes\":60}"},
    {"unlock create",
     {{"type", "routine"}, {"days", "mon-wed"}, {"start", "09:00"}, {"end", "11:00"}, {"timezone", "Europe/Paris"}},
     NULL,
     "{}",
     "{\"type\":\"routine\",\"days\":[\"monday\",\"tuesday\",\"wednesday\"],\"start\":\"09:00\",\"end\":\"11:00\","
     "\"timezone\":\"Europe/Paris\"}"},
    {"unlock create", {{"type", "routine"}, {"days", "noday"}}, NULL, NULL, NULL},
    {"unlock create", {{"label", "x"}}, NULL, NULL, NULL}, /* without its type */
    {"unlock create", {{"type", "timer"}, {"expires-in-minutes", "0"}}, NULL, NULL, NULL},
    {"unlock create",
     {{"label", "b"}},
     "{\"type\":\"timer\",\"label\":\"a\",\"expires_in_minutes\":5}",
     "{}",
     "{\"type\":\"timer\",\"label\":\"b\",\"expires_in_minutes\":5}"},
    {"unlock create", {{NULL, NULL}}, "[]", NULL, NULL},
    {"unlock create", {{NULL, NULL}}, "{\"type\":\"timer\",\"other\":1}", NULL, NULL},
    {"unlock create", {{NULL, NULL}}, "@/nonexistent", NULL, NULL},
    {"unlock update", {{"remaining-uses", "null"}}, NULL, "{}", "{\"remaining_uses\":null}"},
    {"unlock update", {{"enabled", "true"}}, NULL, "{}", "{\"enabled\":true}"},
    {"unlock update", {{"label", "null"}}, NULL, "{}", "{\"label\":\"null\"}"},
    {"unlock update", {{"label", "\xff"}}, NULL, NULL, NULL},
};

static void set_option(const struct command *c, struct operation_options *to, const struct option *o)
{
    const struct option_row *row = option_of(c, o->name);
    if (!row)
        fail_msg("%s lacks --%s", c->name, o->name);
    else
        *(const char **)(void *)((char *)to + row->offset) = o->value;
}

static void assert_json(const json_t *got, const char *want)
{
    json_t *expected = json_loads(want, 0, NULL);
    char *text = json_dumps(got, JSON_COMPACT);
    assert_non_null(expected);
    if (!json_equal(got, expected))
        fail_msg("%s is not %s", text, want);
    free(text);
    json_decref(expected);
}

static void options_become_a_query_and_a_body_that_the_service_takes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(inputs); i++) {
        const struct operation *o = operation_of(inputs[i].command);
        struct operation_options given = {.body = inputs[i].body_option};
        struct operation_input in;
        struct arena a;
        arena_init(&a, NULL, 0);
        for (const struct option *option = inputs[i].given; option->name; option++)
            set_option(&o->command, &given, option);
        const int status = operation_input_read(o, &given, &a, &in);
        if (status != (inputs[i].query ? EXIT_DONE : EXIT_USAGE))
            fail_msg("%zu: %s: %d", i, inputs[i].command, status);
        if (inputs[i].query) {
            assert_json(in.query, inputs[i].query);
            assert_int_equal(in.body != NULL, inputs[i].body != NULL);
            assert_int_equal(in.body_text.p != NULL, inputs[i].body != NULL);
            if (inputs[i].body) {
                json_t *sent = json_loadb(in.body_text.p, in.body_text.n, 0, NULL);
                assert_json(sent, inputs[i].body);
                json_decref(sent);
            }
            json_decref(in.query);
            json_decref(in.body);
        }
        arena_done(&a);
    }
}

static void a_body_is_read_from_a_file(void **state)
{
    (void)state;
    char path[] = "/tmp/portero-body-XXXXXX", option[64];
    const int fd = mkstemp(path);
    struct operation_options given = {.body = option};
    struct operation_input in;
    struct arena a;
    assert_true(fd >= 0 && dprintf(fd, "{\"type\":\"timer\",\"expires_in_minutes\":7}\n") > 0);
    snprintf(option, sizeof option, "@%s", path);
    arena_init(&a, NULL, 0);
    assert_int_equal(operation_input_read(operation_of("unlock create"), &given, &a, &in), EXIT_DONE);
    assert_json(in.body, "{\"type\":\"timer\",\"expires_in_minutes\":7}");
    json_decref(in.query);
    json_decref(in.body);
    arena_done(&a);
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_has_the_options_of_its_row),
        cmocka_unit_test(every_option_has_a_name_of_its_own_and_a_description),
        cmocka_unit_test(lists_of_several_pages_are_known),
        cmocka_unit_test(options_become_a_query_and_a_body_that_the_service_takes),
        cmocka_unit_test(a_body_is_read_from_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
