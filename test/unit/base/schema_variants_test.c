/* A body that has one of several shapes, told apart by its first field. */
#include "base/schema.h"
#include "unit.h"

struct shapely {
    struct val kind, radius, width, height;
};
static const char *const circle[] = {"circle", NULL};
static const char *const box[] = {"box", NULL};
static const struct field circle_fields[] = {
    FIELD(struct shapely, kind, T_STRING, .flags = F_REQUIRED | F_CONST, .values = circle),
    FIELD(struct shapely, radius, T_INT, .flags = F_REQUIRED, .min = 1, .max = 9),
};
static const struct field box_fields[] = {
    FIELD(struct shapely, kind, T_STRING, .flags = F_REQUIRED | F_CONST, .values = box),
    FIELD(struct shapely, width, T_INT, .flags = F_REQUIRED),
    FIELD(struct shapely, height, T_INT, ),
};
static const struct shape circle_shape = SHAPE(struct shapely, "Circle", circle_fields);
static const struct shape box_shape = SHAPE(struct shapely, "Box", box_fields);
static const struct shape *const variants[] = {&circle_shape, &box_shape, NULL};
static const struct shape shape = SHAPE_OF_VARIANTS(struct shapely, "Shapely", variants, .doc = "either");

static struct arena arena;
static struct shapely body;
static struct schema_fault fault;

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, NULL, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

static bool read_text(const char *text)
{
    json_t *json = json_loads(text, 0, NULL);
    assert_non_null(json);
    fault = (struct schema_fault){0};
    bool fine = schema_read(&shape, json, ERR_INVALID_UNLOCK, &arena, &body, &fault);
    json_decref(json);
    return fine;
}

static void refused(const char *text, const char *message)
{
    assert_false(read_text(text));
    assert_int_equal(fault.error, ERR_INVALID_UNLOCK);
    assert_text(fault.message, message);
}

static void each_is_read_by_its_own_fields(void **state)
{
    (void)state;
    assert_true(read_text("{\"radius\": 5, \"kind\": \"circle\"}"));
    assert_int_equal(body.radius.i, 5);
    assert_false(v_given(body.width));
    assert_true(read_text("{\"kind\": \"box\", \"width\": 7}"));
    assert_text(body.kind.s, "box");
    assert_int_equal(body.width.i, 7);
}

static void what_belongs_to_another_is_refused(void **state)
{
    (void)state;
    refused("{\"kind\": \"circle\", \"radius\": 5, \"width\": 7}", "width is not a known field");
    refused("{\"kind\": \"box\"}", "width is required");
    refused("{\"kind\": \"circle\", \"radius\": 10}", "radius must be an integer from 1 to 9");
}

static void the_first_field_must_name_one(void **state)
{
    (void)state;
    refused("{}", "kind is required");
    refused("{\"width\": 7}", "kind is required");
    refused("{\"kind\": \"line\"}", "kind must be one of circle, box");
    refused("{\"kind\": null}", "kind must be a string");
    refused("{\"kind\": 5}", "kind must be a string");
}

static void each_is_written_by_its_own_fields(void **state)
{
    (void)state;
    struct buf out = BUF(200);
    schema_write(&shape, &(struct shapely){.kind = v_str(STR("box")), .width = v_int(1), .height = v_int(2)}, &out);
    schema_write(&shape, &(struct shapely){.kind = v_str(STR("circle")), .radius = v_int(3)}, &out);
    assert_text(buf_view(&out), "{\"kind\":\"box\",\"width\":1,\"height\":2}{\"kind\":\"circle\",\"radius\":3}");
    buf_done(&out);
}

static void the_document_has_all_of_them(void **state)
{
    (void)state;
    struct buf out = BUF(2000);
    schema_document_for(&shape, SCHEMA_REPLY, &out);
    assert_text(
        buf_view(&out),
        "{\"title\":\"Shapely\",\"description\":\"either\",\"oneOf\":["
        "{\"title\":\"Circle\",\"type\":\"object\",\"properties\":{"
        "\"kind\":{\"type\":\"string\",\"const\":\"circle\"},"
        "\"radius\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":9}},\"required\":[\"kind\",\"radius\"]},"
        "{\"title\":\"Box\",\"type\":\"object\",\"properties\":{"
        "\"kind\":{\"type\":\"string\",\"const\":\"box\"},"
        "\"width\":{\"type\":\"integer\"},\"height\":{\"type\":\"integer\"}},\"required\":[\"kind\",\"width\"]}]}");
    buf_done(&out);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(each_is_read_by_its_own_fields), TEST(what_belongs_to_another_is_refused),
        TEST(the_first_field_must_name_one),  TEST(each_is_written_by_its_own_fields),
        TEST(the_document_has_all_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
