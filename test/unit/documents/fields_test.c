/* Fields and parameters in the words of the reference pages. */
#include "documents/fields.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants those first */
#include <cmocka.h>

/* ---- one field ---- */

static const char *const words[] = {"alpha", "beta", NULL}, *const only[] = {"v1", NULL};

static const struct {
    struct field field;
    const char *text; /* Markdown, after the name */
} types[] = {
    {{.type = T_STRING}, "(string)"},
    {{.type = T_STRING, .flags = F_NONBLANK}, "(string, not empty)"},
    {{.type = T_STRING, .flags = F_NONBLANK, .max = 120}, "(string, 1 to 120 characters)"},
    {{.type = T_STRING, .min = 4, .max = 4}, "(string, 4 characters)"},
    {{.type = T_STRING, .max = 9, .format = "email"}, "(string (email), at most 9 characters)"},
    {{.type = T_STRING, .pattern = "^[0-9]{2}$"}, "(string, `^[0-9]{2}$`)"},
    {{.type = T_STRING, .values = words}, "(string: `alpha`, `beta`)"},
    {{.type = T_STRING, .flags = F_UPPER, .values = words}, "(string: `alpha`, `beta` (in any case))"},
    {{.type = T_STRING, .flags = F_NULLABLE, .values = words}, "(string: `alpha`, `beta`, `null`, or null)"},
    {{.type = T_STRING, .flags = F_CONST, .values = only}, "(string, always `v1`)"},
    {{.type = T_ID}, "(string (an ID of 24 hexadecimal digits))"},
    {{.type = T_TIME, .flags = F_NULLABLE}, "(string (date-time), or null)"},
    {{.type = T_INT}, "(integer)"},
    {{.type = T_INT, .max = 9}, "(integer, 0 to 9)"},
    {{.type = T_INT, .min = 1, .max = INT64_MAX}, "(integer, at least 1)"},
    {{.type = T_NUMBER}, "(number)"},
    {{.type = T_BOOL}, "(boolean)"},
    {{.type = T_BOOL, .flags = F_CONST}, "(boolean, always `true`)"},
    {{.type = T_BOOL, .flags = F_CONST | F_FALSE | F_NULLABLE}, "(boolean: `false`, `null`, or null)"},
    {{.type = T_STRINGS, .flags = F_NONBLANK, .max = 7}, "(list of string, not empty, at most 7 entries)"},
    {{.type = T_STRINGS, .flags = F_LOWER, .values = words, .min = 1, .max = 2},
     "(list of string: `alpha`, `beta` (in any case), 1 to 2 entries)"},
};

static void a_type_is_told_with_its_bounds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        struct field f = types[i].field;
        char expected[128];
        struct buf text = BUF(4096);
        f.name = "x";
        docs_put_parameter(&(struct parameter){PARAMETER_QUERY, "query", &f},
                           &(struct docs_out){&text, .markdown = true});
        buf_char(&text, '\0');
        snprintf(expected, sizeof expected, "- `x` (query, %s\n", types[i].text + 1);
        assert_string_equal(text.p, expected);
        buf_done(&text);
    }
}

/* ---- bodies ---- */

struct thing {
    struct val kind, name, secret, inner, list;
};
static const struct field inner_fields[] = {
    FIELD(struct thing, name, T_STRING, .flags = F_REQUIRED, .doc = "its *name*")};
static const struct shape inner = SHAPE(struct thing, "Inner", inner_fields), empty = {.name = "Empty"};
static const struct field thing_fields[] = {
    FIELD(struct thing, secret, T_STRING, .flags = F_SECRET),
    FIELD(struct thing, inner, T_OBJECT, .flags = F_REQUIRED | F_NULLABLE, .sub = &inner),
    FIELD(struct thing, list, T_OBJECTS, .sub = &empty),
};
static const struct shape thing = SHAPE(struct thing, "Thing", thing_fields, .doc = "A thing."),
                          open_thing = SHAPE(struct thing, "OpenThing", inner_fields, .open = true);

static void assert_fields(const struct shape *shape, enum schema_use use, const char *expected)
{
    struct buf text = BUF(4096);
    docs_put_fields(shape, use, &(struct docs_out){&text, .markdown = true});
    buf_char(&text, '\0');
    assert_string_equal(text.p, expected);
    buf_done(&text);
}

static void a_request_says_what_is_required_and_a_reply_what_may_be_absent(void **state)
{
    (void)state;
    assert_fields(&thing, SCHEMA_REQUEST,
                  "\nA thing.\n\n"
                  "- `secret` (string)\n  A secret: keep it out of logs.\n"
                  "- `inner` (object, or null) **required**\n  Fields of `inner`:\n"
                  "  - `name` (string) **required**\n    its *name*\n"
                  "- `list` (list of objects)\n");
    assert_fields(&thing, SCHEMA_REPLY,
                  "\nA thing.\n\n"
                  "- `secret` (string) **may be absent**\n  A secret: keep it out of logs.\n"
                  "- `inner` (object, or null)\n  Fields of `inner`:\n"
                  "  - `name` (string)\n    its *name*\n"
                  "- `list` (list of objects) **may be absent**\n");
    assert_fields(&open_thing, SCHEMA_REQUEST, "\n- `name` (string)\n  its *name*\n");
}

static const char *const a[] = {"a", NULL}, *const b[] = {"b", NULL};
static const struct field a_fields[] = {
    FIELD(struct thing, kind, T_STRING, .flags = F_REQUIRED | F_CONST, .values = a)};
static const struct field b_fields[] = {FIELD(struct thing, kind, T_STRING, .flags = F_REQUIRED | F_CONST, .values = b),
                                        FIELD(struct thing, name, T_STRING)};
static const struct shape a_shape = SHAPE(struct thing, "A", a_fields), b_shape = SHAPE(struct thing, "B", b_fields);
static const struct shape *const tagged[] = {&a_shape, &b_shape, NULL}, *const untagged[] = {&inner, &thing, NULL};
static const struct shape by_tag = SHAPE_OF_VARIANTS(struct thing, "ByTag", tagged),
                          by_name = SHAPE(struct thing, "ByName", thing_fields, .variants = untagged);

static void variants_are_told_apart_by_their_constant_or_their_name(void **state)
{
    (void)state;
    assert_fields(&by_tag, SCHEMA_REQUEST,
                  "\nIf `kind` is `a`:\n\n- `kind` (string, always `a`) **required**\n"
                  "\nIf `kind` is `b`:\n\n- `kind` (string, always `b`) **required**\n- `name` (string)\n");
    assert_fields(&by_name, SCHEMA_REPLY,
                  "\nInner:\n\n- `name` (string)\n  its *name*\n"
                  "\nThing:\n\n"
                  "- `secret` (string) **may be absent**\n  A secret: keep it out of logs.\n"
                  "- `inner` (object, or null)\n  Fields of `inner`:\n  - `name` (string)\n    its *name*\n"
                  "- `list` (list of objects) **may be absent**\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_type_is_told_with_its_bounds),
        cmocka_unit_test(a_request_says_what_is_required_and_a_reply_what_may_be_absent),
        cmocka_unit_test(variants_are_told_apart_by_their_constant_or_their_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
