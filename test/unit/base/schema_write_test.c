#include "base/schema.h"
#include "unit.h"

struct item {
    struct val name;
};
static const struct field item_fields[] = {FIELD(struct item, name, T_STRING, .flags = F_REQUIRED)};
static const struct shape item_shape = SHAPE(struct item, "Item", item_fields);

struct body {
    struct val id, label, version, uptime, on, at, uses, item, days, items;
};
static const struct field fields[] = {
    FIELD(struct body, id, T_ID, ),
    FIELD(struct body, label, T_STRING, ),
    FIELD(struct body, version, T_INT, ),
    FIELD(struct body, uptime, T_NUMBER, ),
    FIELD(struct body, on, T_BOOL, ),
    FIELD(struct body, at, T_TIME, .flags = F_NULLABLE),
    FIELD(struct body, uses, T_INT, .flags = F_NULLABLE),
    FIELD(struct body, item, T_OBJECT, .flags = F_NULLABLE, .sub = &item_shape),
    FIELD(struct body, days, T_STRINGS, ),
    FIELD(struct body, items, T_OBJECTS, .sub = &item_shape),
};
static const struct shape shape = SHAPE(struct body, "Body", fields);

static void assert_written(const struct body *b, const char *want)
{
    struct buf out = BUF(10000);
    schema_write(&shape, b, &out);
    assert_text(buf_view(&out), want);
    buf_done(&out);
}

static void absent_members_are_omitted_and_null_is_written(void **state)
{
    (void)state;
    assert_written(&(struct body){0}, "{}");
    assert_written(&(struct body){.at = v_null(), .uses = v_null(), .item = v_null()},
                   "{\"at\":null,\"uses\":null,\"item\":null}");
    assert_written(&(struct body){.label = v_str(STR("x")), .on = v_bool(false)}, "{\"label\":\"x\",\"on\":false}");
}

static void every_type_is_written(void **state)
{
    (void)state;
    const struct val days[] = {v_str(STR("sunday")), v_str(STR("mon\"day"))};
    const struct item items[] = {{v_str(STR("a"))}, {v_str(STR("b"))}};
    const struct body b = {
        .id = v_str(STR("0123456789abcdef01234567")),
        .label = v_str(STR("a\"\n\xc3\xa9")),
        .version = v_int(INT64_MIN),
        .uptime = v_int(12),
        .on = v_bool(true),
        .at = v_time(1795167000000000),
        .uses = v_int(0),
        .item = v_object(&items[0]),
        .days = v_list(days, 2),
        .items = v_list(items, 2),
    };
    assert_written(
        &b, "{\"id\":\"0123456789abcdef01234567\",\"label\":\"a\\\"\\n\xc3\xa9\",\"version\":-9223372036854775808,"
            "\"uptime\":12,\"on\":true,\"at\":\"2026-11-20T09:30:00.000Z\",\"uses\":0,\"item\":{\"name\":\"a\"},"
            "\"days\":[\"sunday\",\"mon\\\"day\"],\"items\":[{\"name\":\"a\"},{\"name\":\"b\"}]}");
}

static void empty_lists_are_lists(void **state)
{
    (void)state;
    assert_written(&(struct body){.days = v_list(NULL, 0), .items = v_list(NULL, 0)}, "{\"days\":[],\"items\":[]}");
}

static void a_row_without_a_prepared_key_is_written_the_same(void **state)
{
    (void)state;
    static const struct field plain[] = {
        {.name = "first", .type = T_INT, .offset = 0},
        {.name = "second", .type = T_INT, .offset = sizeof(struct val)},
    };
    static const struct shape pair = {
        .name = "Pair", .fields = plain, .field_count = 2, .size = 2 * sizeof(struct val)};
    struct val values[] = {v_int(1), v_int(2)};
    struct buf out = BUF(100);
    schema_write(&pair, values, &out);
    assert_text(buf_view(&out), "{\"first\":1,\"second\":2}");
    buf_done(&out);
}

static void a_small_buffer_is_marked_full(void **state)
{
    (void)state;
    const struct body b = {.id = v_str(STR("0123456789abcdef01234567")), .version = v_int(7), .at = v_time(0)};
    struct buf whole = BUF(1000);
    schema_write(&shape, &b, &whole);
    for (size_t max = 0; max <= whole.n; max++) {
        struct buf out = BUF(max);
        schema_write(&shape, &b, &out);
        assert_int_equal(out.full, max < whole.n);
        assert_true(out.n <= max);
        buf_done(&out);
    }
    buf_done(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(absent_members_are_omitted_and_null_is_written),
        cmocka_unit_test(every_type_is_written),
        cmocka_unit_test(empty_lists_are_lists),
        cmocka_unit_test(a_row_without_a_prepared_key_is_written_the_same),
        cmocka_unit_test(a_small_buffer_is_marked_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
