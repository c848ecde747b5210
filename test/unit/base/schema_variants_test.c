/* Bodies with several variants, selected by the first field. */
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

static void each_variant_is_read_with_its_own_fields(void **state)
{
    (void)state;
    assert_true(read_text("{\"radius\": 5, \"kind\": \"circle\"}"));
    assert_int_equal(body.radius.i, 5);
    assert_false(v_given(body.width));
    assert_true(read_text("{\"kind\": \"box\", \"width\": 7}"));
    assert_text(body.kind.s, "box");
    assert_int_equal(body.width.i, 7);
}

static void fields_of_another_variant_are_refused(void **state)
{
    (void)state;
    refused("{\"kind\": \"circle\", \"radius\": 5, \"width\": 7}", "width is not a known field");
    refused("{\"kind\": \"box\"}", "width is required");
    refused("{\"kind\": \"circle\", \"radius\": 10}", "radius must be an integer from 1 to 9");
}

static void the_first_field_must_select_a_variant(void **state)
{
    (void)state;
    refused("{}", "kind is required");
    refused("{\"width\": 7}", "kind is required");
    refused("{\"kind\": \"line\"}", "kind must be one of circle, box");
    refused("{\"kind\": null}", "kind must be a string");
    refused("{\"kind\": 5}", "kind must be a string");
}

static void each_variant_is_written_with_its_own_fields(void **state)
{
    (void)state;
    struct buf out = BUF(200);
    schema_write(&shape, &(struct shapely){.kind = v_str(STR("box")), .width = v_int(1), .height = v_int(2)}, &out);
    schema_write(&shape, &(struct shapely){.kind = v_str(STR("circle")), .radius = v_int(3)}, &out);
    assert_text(buf_view(&out), "{\"kind\":\"box\",\"width\":1,\"height\":2}{\"kind\":\"circle\",\"radius\":3}");
    buf_done(&out);
}

static void assert_document(const struct shape *of, const char *want)
{
    struct buf out = BUF(2000);
    schema_document(of, SCHEMA_REPLY, &out);
    assert_text(buf_view(&out), want);
    buf_done(&out);
}

static void all_variants_and_the_tag_are_documented(void **state)
{
    (void)state;
    assert_document(&shape, "{\"description\":\"either\",\"oneOf\":[{\"$ref\":\"#/components/schemas/Circle\"},"
                            "{\"$ref\":\"#/components/schemas/Box\"}],\"discriminator\":{\"propertyName\":\"kind\","
                            "\"mapping\":{\"circle\":\"#/components/schemas/Circle\","
                            "\"box\":\"#/components/schemas/Box\"}}}");
}

/* ---- variants that only document ---- */

static const struct field any_fields[] = {FIELD(struct shapely, radius, T_INT, ),
                                          FIELD(struct shapely, width, T_INT, )};
static const struct field round_fields[] = {FIELD(struct shapely, radius, T_INT, )};
static const struct field square_fields[] = {FIELD(struct shapely, width, T_INT, )};
static const struct shape round_shape = SHAPE(struct shapely, "Round", round_fields);
static const struct shape square_shape = SHAPE(struct shapely, "Square", square_fields);
static const struct shape *const guises[] = {&round_shape, &square_shape, NULL};
static const struct shape any_shape = SHAPE(struct shapely, "Any", any_fields, .variants = guises);

static void a_shape_with_fields_is_read_with_them_and_documented_by_variants(void **state)
{
    (void)state;
    json_t *json = json_pack("{s:i, s:i}", "radius", 1, "width", 2);
    assert_true(schema_read(&any_shape, json, ERR_INVALID_UNLOCK, &arena, &body, &fault));
    json_decref(json);
    assert_int_equal(body.radius.i + body.width.i, 3);
    assert_document(&any_shape, "{\"anyOf\":[{\"$ref\":\"#/components/schemas/Round\"},"
                                "{\"$ref\":\"#/components/schemas/Square\"}]}");
}

static const struct field tagged_fields[] = {
    FIELD(struct shapely, kind, T_STRING, .flags = F_REQUIRED | F_TAG, .values = circle, .error = ERR_INVALID_TYPE),
    FIELD(struct shapely, width, T_INT, )};
static const struct shape tagged_shape = SHAPE(struct shapely, "Tagged", tagged_fields);

static void a_tag_is_checked_before_unknown_fields(void **state)
{
    (void)state;
    json_t *json = json_pack("{s:i, s:s}", "other", 1, "kind", "line");
    assert_false(schema_read(&tagged_shape, json, ERR_INVALID_UNLOCK, &arena, &body, &fault));
    assert_int_equal(fault.error, ERR_INVALID_TYPE);
    json_object_set_new(json, "kind", json_string("circle"));
    assert_false(schema_read(&tagged_shape, json, ERR_INVALID_UNLOCK, &arena, &body, &fault));
    assert_int_equal(fault.error, ERR_INVALID_UNLOCK);
    assert_text(fault.message, "other is not a known field");
    json_decref(json);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(each_variant_is_read_with_its_own_fields),
        TEST(fields_of_another_variant_are_refused),
        TEST(the_first_field_must_select_a_variant),
        TEST(each_variant_is_written_with_its_own_fields),
        TEST(all_variants_and_the_tag_are_documented),
        TEST(a_shape_with_fields_is_read_with_them_and_documented_by_variants),
        TEST(a_tag_is_checked_before_unknown_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
