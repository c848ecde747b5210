#include "base/schema.h"
#include "unit.h"

static const char *const kinds[] = {"timer", "passcode", NULL};
static const char *const web[] = {"web", NULL};

struct place {
    struct val city;
};
static const struct field place_fields[] = {
    FIELD(struct place, city, T_STRING, .flags = F_REQUIRED | F_NONBLANK, .max = 120)};
static const struct shape place_shape = SHAPE(struct place, "Place", place_fields, .doc = "where it is");

struct one {
    struct val v;
};

/* The document of a single field. */
static void assert_field(struct field f, const char *want)
{
    const struct shape shape = {.name = "One", .fields = &f, .field_count = 1, .size = sizeof(struct one)};
    struct buf out = BUF(10000);
    char whole[2000];
    schema_document(&shape, SCHEMA_REQUEST, &out);
    snprintf(whole, sizeof whole, "{\"type\":\"object\",\"properties\":{\"v\":%s}%s,\"additionalProperties\":false}",
             want, f.flags & F_REQUIRED ? ",\"required\":[\"v\"]" : "");
    assert_text(buf_view(&out), whole);
    buf_done(&out);
}
#define V(type, ...) ((struct field)FIELD(struct one, v, type, __VA_ARGS__))

static void every_type_is_documented(void **state)
{
    (void)state;
    assert_field(V(T_STRING, .doc = "a \"text\""), "{\"type\":\"string\",\"description\":\"a \\\"text\\\"\"}");
    assert_field(V(T_ID, .flags = F_REQUIRED), "{\"type\":\"string\",\"pattern\":\"^[a-fA-F0-9]{24}$\"}");
    assert_field(V(T_TIME, .flags = F_NULLABLE), "{\"type\":[\"string\",\"null\"],\"format\":\"date-time\"}");
    assert_field(V(T_INT, .flags = F_NULLABLE, .min = 1, .max = 100),
                 "{\"type\":[\"integer\",\"null\"],\"minimum\":1,\"maximum\":100}");
    assert_field(V(T_INT, .min = 0, .max = INT64_MAX), "{\"type\":\"integer\",\"minimum\":0}");
    assert_field(V(T_INT, ), "{\"type\":\"integer\"}");
    assert_field(V(T_NUMBER, ), "{\"type\":\"number\"}");
    assert_field(V(T_BOOL, ), "{\"type\":\"boolean\"}");
    assert_field(V(T_BOOL, .flags = F_CONST), "{\"type\":\"boolean\",\"const\":true}");
    assert_field(V(T_BOOL, .flags = F_CONST | F_FALSE), "{\"type\":\"boolean\",\"const\":false}");
    assert_field(V(T_BOOL, .flags = F_CONST | F_NULLABLE), "{\"type\":[\"boolean\",\"null\"],\"enum\":[true,null]}");
}

static void rules_of_strings_are_documented(void **state)
{
    (void)state;
    assert_field(V(T_STRING, .values = kinds), "{\"type\":\"string\",\"enum\":[\"timer\",\"passcode\"]}");
    assert_field(V(T_STRING, .flags = F_NULLABLE, .values = kinds),
                 "{\"type\":[\"string\",\"null\"],\"enum\":[\"timer\",\"passcode\",null]}");
    assert_field(V(T_STRING, .flags = F_CONST, .values = web), "{\"type\":\"string\",\"const\":\"web\"}");
    assert_field(V(T_STRING, .flags = F_CONST | F_NULLABLE, .values = web),
                 "{\"type\":[\"string\",\"null\"],\"enum\":[\"web\",null]}");
    assert_field(V(T_STRING, .pattern = "^[0-9#*]{1,3}$"), "{\"type\":\"string\",\"pattern\":\"^[0-9#*]{1,3}$\"}");
    assert_field(V(T_STRING, .format = "email", .max = 254),
                 "{\"type\":\"string\",\"format\":\"email\",\"maxLength\":254}");
    assert_field(V(T_STRING, .min = 2, .max = 2), "{\"type\":\"string\",\"minLength\":2,\"maxLength\":2}");
    assert_field(V(T_STRING, .flags = F_NONBLANK), "{\"type\":\"string\",\"minLength\":1}");
    assert_field(V(T_STRING, .flags = F_NONBLANK, .max = 120),
                 "{\"type\":\"string\",\"minLength\":1,\"maxLength\":120}");
    assert_field(V(T_STRING, .flags = F_SECRET), "{\"type\":\"string\",\"x-sensitive\":true}");
}

static void values_in_either_case_become_a_pattern(void **state)
{
    (void)state;
    assert_field(V(T_STRING, .flags = F_UPPER, .values = web),
                 "{\"type\":\"string\",\"pattern\":\"^([Ww][Ee][Bb])$\"}");
    assert_field(V(T_STRINGS, .flags = F_LOWER, .values = kinds),
                 "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"pattern\":"
                 "\"^([Tt][Ii][Mm][Ee][Rr]|[Pp][Aa][Ss][Ss][Cc][Oo][Dd][Ee])$\"},\"uniqueItems\":true}");
}

static void objects_become_references_and_lists_are_inline(void **state)
{
    (void)state;
    assert_field(V(T_STRINGS, .values = kinds, .min = 1, .max = 7),
                 "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"timer\",\"passcode\"]},\"minItems\":1,"
                 "\"maxItems\":7,\"uniqueItems\":true}");
    assert_field(V(T_OBJECT, .sub = &place_shape, .doc = "here"),
                 "{\"$ref\":\"#/components/schemas/Place\",\"description\":\"here\"}");
    assert_field(V(T_OBJECT, .flags = F_NULLABLE, .sub = &place_shape),
                 "{\"anyOf\":[{\"$ref\":\"#/components/schemas/Place\"},{\"type\":\"null\"}]}");
    assert_field(
        V(T_OBJECTS, .sub = &place_shape, .max = 3, .doc = "all of them"),
        "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Place\"},\"maxItems\":3,\"description\":"
        "\"all of them\"}");
}

static void open_shapes_and_replies_allow_more_properties(void **state)
{
    (void)state;
    static const char want[] = "{\"description\":\"where it is\",\"type\":\"object\",\"properties\":{\"city\":"
                               "{\"type\":\"string\",\"minLength\":1,\"maxLength\":120}},\"required\":[\"city\"]}";
    struct shape open = place_shape;
    struct buf out = BUF(1000);
    open.open = true;
    schema_document(&open, SCHEMA_REQUEST, &out);
    assert_text(buf_view(&out), want);
    out.n = 0;
    schema_document(&place_shape, SCHEMA_REPLY, &out);
    assert_text(buf_view(&out), want);
    buf_done(&out);
}

static void minimum_fields_and_further_rules_are_documented(void **state)
{
    (void)state;
    struct shape patch = place_shape;
    struct buf out = BUF(1000);
    patch.least = 1;
    patch.rules = "\"not\":{\"required\":[\"city\"]}";
    schema_document(&patch, SCHEMA_REQUEST, &out);
    assert_text(buf_view(&out),
                "{\"description\":\"where it is\",\"type\":\"object\",\"properties\":{\"city\":"
                "{\"type\":\"string\",\"minLength\":1,\"maxLength\":120}},\"required\":[\"city\"],\"minProperties\":1,"
                "\"not\":{\"required\":[\"city\"]},\"additionalProperties\":false}");
    buf_done(&out);
}

static void documents_are_json(void **state)
{
    (void)state;
    struct buf out = BUF(10000);
    json_t *value = NULL;
    schema_document(&place_shape, SCHEMA_REQUEST, &out);
    assert_int_equal(json_read(buf_view(&out), &value), ERR_NONE);
    assert_true(json_is_object(value));
    json_decref(value);
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_documented),
        cmocka_unit_test(rules_of_strings_are_documented),
        cmocka_unit_test(values_in_either_case_become_a_pattern),
        cmocka_unit_test(objects_become_references_and_lists_are_inline),
        cmocka_unit_test(open_shapes_and_replies_allow_more_properties),
        cmocka_unit_test(minimum_fields_and_further_rules_are_documented),
        cmocka_unit_test(documents_are_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
