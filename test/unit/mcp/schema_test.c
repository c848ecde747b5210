/* Field tables as compact schemas of arguments and results. */
#include "mcp/schema.h"

#include "base/unit.h"

struct body {
    struct val kind, name, when, count, days, place, places, note;
};
static const char *const colours[] = {"red", "blue", NULL};
static const struct field place_fields[] = {
    FIELD(struct body, name, T_STRING, .flags = F_REQUIRED, .pattern = "^[a-z]+$"),
    FIELD(struct body, note, T_BOOL, .doc = "a \"note\""),
};
static const struct shape place = SHAPE(struct body, "Place", place_fields);

/* ---- one field ---- */

static const struct {
    struct field field;
    const char *input, *output;
} fields[] = {
    {{.type = T_STRING, .max = 9, .format = "email", .doc = "a name"},
     "{\"type\":\"string\",\"description\":\"a name\"}",
     "{\"type\":\"string\"}"},
    {{.type = T_STRING, .flags = F_NULLABLE, .values = colours},
     "{\"type\":[\"string\",\"null\"],\"enum\":[\"red\",\"blue\",null]}",
     "{\"type\":[\"string\",\"null\"]}"},
    {{.type = T_STRING, .pattern = "^a$"}, "{\"type\":\"string\",\"pattern\":\"^a$\"}", "{\"type\":\"string\"}"},
    {{.type = T_ID}, "{\"type\":\"string\"}", "{\"type\":\"string\"}"},
    {{.type = T_TIME}, "{\"type\":\"string\",\"format\":\"date-time\"}", "{\"type\":\"string\"}"},
    {{.type = T_INT, .min = 1, .max = 100},
     "{\"type\":\"integer\",\"minimum\":1,\"maximum\":100}",
     "{\"type\":\"integer\"}"},
    {{.type = T_INT}, "{\"type\":\"integer\"}", "{\"type\":\"integer\"}"},
    {{.type = T_NUMBER}, "{\"type\":\"number\"}", "{\"type\":\"number\"}"},
    {{.type = T_BOOL, .flags = F_NULLABLE}, "{\"type\":[\"boolean\",\"null\"]}", "{\"type\":[\"boolean\",\"null\"]}"},
    {{.type = T_STRINGS, .values = colours},
     "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"red\",\"blue\"]}}",
     "{\"type\":\"array\"}"},
    {{.type = T_OBJECT, .sub = &place},
     "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"},"
     "\"note\":{\"type\":\"boolean\",\"description\":\"a \\\"note\\\"\"}},\"required\":[\"name\"]}",
     "{\"type\":\"object\"}"},
    {{.type = T_OBJECT, .flags = F_NULLABLE, .sub = &place},
     "{\"type\":[\"object\",\"null\"]}",
     "{\"type\":[\"object\",\"null\"]}"},
    {{.type = T_OBJECTS, .sub = &place},
     "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\",\"pattern\":"
     "\"^[a-z]+$\"},\"note\":{\"type\":\"boolean\",\"description\":\"a \\\"note\\\"\"}},\"required\":[\"name\"]}}",
     "{\"type\":\"array\"}"},
};

static void a_field_is_told_briefly(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(fields); i++) {
        struct field f = fields[i].field;
        struct buf input = BUF(4096), output = BUF(4096), expected = BUF(4096);
        f.name = "x";
        const struct shape shape = {.name = "X", .fields = &f, .field_count = 1};
        mcp_put_properties(&shape, &(struct mcp_members){.out = &input});
        buf_printf(&expected, "\"x\":%s%c", fields[i].input, '\0');
        assert_text(buf_view(&input), expected.p);
        mcp_put_output(&shape, &output);
        expected.n = 0;
        buf_printf(&expected, "{\"type\":\"object\",\"properties\":{\"x\":%s}}%c", fields[i].output, '\0');
        assert_text(buf_view(&output), expected.p);
        buf_done(&input);
        buf_done(&output);
        buf_done(&expected);
    }
}

/* ---- variants ---- */

static const char *const add[] = {"add", NULL}, *const removal[] = {"remove", NULL};
static const struct field add_fields[] = {
    FIELD(struct body, kind, T_STRING, .flags = F_REQUIRED | F_CONST, .values = add),
    FIELD(struct body, name, T_STRING, .flags = F_REQUIRED, .doc = "the new one's"),
    FIELD(struct body, count, T_INT, .flags = F_REQUIRED),
};
static const struct field remove_fields[] = {
    FIELD(struct body, kind, T_STRING, .flags = F_REQUIRED | F_CONST, .values = removal),
    FIELD(struct body, count, T_INT),
    FIELD(struct body, note, T_STRING, .flags = F_REQUIRED),
};
static const struct shape adding = SHAPE(struct body, "Add", add_fields),
                          removing = SHAPE(struct body, "Remove", remove_fields);
static const struct shape *const both[] = {&adding, &removing, NULL};
static const struct shape merged = SHAPE_OF_VARIANTS(struct body, "Change", both);

static void variants_become_one_object(void **state)
{
    (void)state;
    struct buf out = BUF(4096);
    bool any = false;
    mcp_put_properties(&merged, &(struct mcp_members){.out = &out});
    assert_text(buf_view(&out), "\"kind\":{\"type\":\"string\",\"enum\":[\"add\",\"remove\"]},"
                                "\"name\":{\"type\":\"string\",\"description\":\"the new one's\"},"
                                "\"count\":{\"type\":\"integer\"},\"note\":{\"type\":\"string\"}");
    out.n = 0;
    mcp_put_required(&merged, &out, &any);
    assert_text(buf_view(&out), "\"kind\"");
    assert_true(any);
    buf_done(&out);
}

static void several_tables_share_one_list(void **state)
{
    (void)state;
    struct buf out = BUF(4096);
    struct mcp_members properties = {.out = &out};
    bool any = false;
    mcp_put_properties(NULL, &properties);
    mcp_put_properties(&place, &properties);
    mcp_put_name(&properties, "if_match");
    assert_text(buf_view(&out), "\"name\":{\"type\":\"string\",\"pattern\":\"^[a-z]+$\"},\"note\":{\"type\":"
                                "\"boolean\",\"description\":\"a \\\"note\\\"\"},\"if_match\":");
    out.n = 0;
    mcp_put_required(NULL, &out, &any);
    assert_false(any);
    mcp_put_required(&place, &out, &any);
    mcp_put_required(&adding, &out, &any);
    assert_text(buf_view(&out), "\"name\",\"kind\",\"name\",\"count\"");
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_is_told_briefly),
        cmocka_unit_test(variants_become_one_object),
        cmocka_unit_test(several_tables_share_one_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
