#include "base/forms.h"
#include "base/schema.h"
#include "unit.h"

/* ---- bodies ---- */

struct place {
    struct val city, zip;
};
static const struct field place_fields[] = {
    FIELD(struct place, city, T_STRING, .flags = F_REQUIRED | F_TRIM | F_NONBLANK, .max = 10),
    FIELD(struct place, zip, T_STRING, FORM("^[0-9]{5}(-[0-9]{4})?$", "a postal code"),
          .error = ERR_INVALID_BUILDING_INPUT),
};
static const struct shape place_shape = SHAPE(struct place, "Place", place_fields);

static const char *const kinds[] = {"timer", "passcode", NULL};
static const char *const days[] = {"sunday", "monday", NULL};
static const char *const web[] = {"web", NULL};

struct body {
    struct val label, type, id, at, uses, count, on, yes, no, place, days, places, email, greeting, state, code,
        purpose;
};
static const struct field fields[] = {
    FIELD(struct body, label, T_STRING, .flags = F_TRIM | F_NONBLANK | F_NULLABLE, .max = 5),
    FIELD(struct body, type, T_STRING, .values = kinds, .error = ERR_INVALID_TYPE),
    FIELD(struct body, id, T_ID),
    FIELD(struct body, at, T_TIME, .flags = F_NULLABLE),
    FIELD(struct body, uses, T_INT, .flags = F_NULLABLE, .min = 1, .max = 100),
    FIELD(struct body, count, T_INT, ),
    FIELD(struct body, on, T_BOOL, ),
    FIELD(struct body, yes, T_BOOL, .flags = F_CONST),
    FIELD(struct body, no, T_BOOL, .flags = F_CONST | F_FALSE),
    FIELD(struct body, place, T_OBJECT, .flags = F_NULLABLE, .sub = &place_shape, .error = ERR_INVALID_QUOTE),
    FIELD(struct body, days, T_STRINGS, .flags = F_LOWER, .values = days, .min = 1, .max = 2),
    FIELD(struct body, places, T_OBJECTS, .sub = &place_shape, .max = 3),
    FIELD(struct body, email, T_STRING, .flags = F_TRIM | F_LOWER, .format = "email", .max = 254),
    FIELD(struct body, greeting, T_STRING, .flags = F_UTF16, .max = 4),
    FIELD(struct body, state, T_STRING, .flags = F_UPPER, .min = 2, .max = 2),
    FIELD(struct body, code, T_STRING, .flags = F_SECRET, SIX_DIGITS_FORM),
    FIELD(struct body, purpose, T_STRING, .flags = F_CONST, .values = web),
};
static const struct shape shape = SHAPE(struct body, "Body", fields);

static struct arena arena;
static struct body body;
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

static bool read_as(const struct shape *as, const char *text, void *ret)
{
    json_t *object = NULL;
    assert_int_equal(json_read(str_z(text), &object), ERR_NONE);
    bool fine = schema_read(as, object, ERR_INVALID_UNLOCK, &arena, ret, &fault);
    json_decref(object); /* values must not refer to it */
    return fine;
}

static void accept(const char *text)
{
    if (!read_as(&shape, text, &body))
        fail_msg("%s: %.*s", text, STR_ARG(fault.message));
}

static void refuse(const char *text, const char *message)
{
    if (read_as(&shape, text, &body))
        fail_msg("accepted: %s", text);
    assert_text(fault.message, message);
    assert_int_equal(fault.error, ERR_INVALID_UNLOCK);
}

/* ---- reading ---- */

static void absent_null_and_given_differ(void **state)
{
    (void)state;
    memset(&body, 0xff, sizeof body);
    accept("{}");
    for (size_t i = 0; i < sizeof body / sizeof(struct val); i++)
        assert_false(v_given(((struct val *)&body)[i]));
    accept("{\"label\":null,\"uses\":null,\"at\":null,\"place\":null}");
    assert_int_equal(body.label.kind, VAL_NULL);
    assert_int_equal(body.uses.kind, VAL_NULL);
    assert_int_equal(body.at.kind, VAL_NULL);
    assert_int_equal(body.place.kind, VAL_NULL);
    assert_int_equal(body.on.kind, VAL_ABSENT);
}

static void every_type_is_read_into_its_value(void **state)
{
    (void)state;
    accept("{\"label\":\" a "
           "b\\t\\n\",\"type\":\"timer\",\"id\":\"ABCDEFabcdef000000000000\",\"at\":\"2026-11-20T10:30:00+01:00\","
           "\"uses\":100,\"count\":-9223372036854775808,\"on\":false,\"yes\":true,\"no\":false,"
           "\"place\":{\"city\":\"x\",\"zip\":\"12345\"},\"days\":[\"MONDAY\",\"sunday\"],\"places\":[{\"city\":\"y\"},"
           "{\"city\":\"z\"}],"
           "\"email\":\" Ann@Example.COM \",\"state\":\"ca\",\"code\":\"012345\",\"purpose\":\"web\"}");
    assert_text(body.label.s, "a b");
    assert_text(body.type.s, "timer");
    assert_text(body.id.s, "abcdefabcdef000000000000");
    assert_int_equal(body.at.kind, VAL_TIME);
    assert_int_equal(body.at.i, 1795167000000000);
    assert_int_equal(body.uses.i, 100);
    assert_true(body.count.i == INT64_MIN);
    assert_int_equal(body.on.kind, VAL_BOOL);
    assert_false(body.on.b);
    assert_true(body.yes.b);
    assert_false(body.no.b);
    const struct place *p = body.place.ptr;
    assert_text(p->city.s, "x");
    assert_text(p->zip.s, "12345");
    assert_int_equal(body.days.count, 2);
    assert_text(((const struct val *)body.days.ptr)[0].s, "monday");
    assert_text(((const struct val *)body.days.ptr)[1].s, "sunday");
    assert_int_equal(body.places.count, 2);
    assert_text(((const struct place *)body.places.ptr)[1].city.s, "z");
    assert_false(v_given(((const struct place *)body.places.ptr)[1].zip));
    assert_text(body.email.s, "ann@example.com");
    assert_text(body.state.s, "CA");
    assert_int_equal(body.state.s.p[body.state.s.n], '\0');
}

static void a_wrong_type_is_refused_by_name(void **state)
{
    (void)state;
    refuse("{\"label\":1}", "label must be a string or null");
    refuse("{\"email\":null}", "email must be a string");
    refuse("{\"id\":\"x\"}", "id must be 24 hexadecimal characters");
    refuse("{\"id\":7}", "id must be 24 hexadecimal characters");
    refuse("{\"at\":\"2026-11-20\"}", "at must be an RFC 3339 date-time with offset or null");
    refuse("{\"at\":1795167000}", "at must be an RFC 3339 date-time with offset or null");
    refuse("{\"uses\":\"5\"}", "uses must be an integer from 1 to 100 or null");
    refuse("{\"uses\":5.5}", "uses must be an integer from 1 to 100 or null");
    refuse("{\"uses\":true}", "uses must be an integer from 1 to 100 or null");
    refuse("{\"count\":null}", "count must be an integer");
    refuse("{\"on\":1}", "on must be true or false");
    refuse("{\"on\":null}", "on must be true or false");
    refuse("{\"yes\":false}", "yes must be true");
    refuse("{\"no\":true}", "no must be false");
    refuse("{\"days\":\"monday\"}", "days must be a list");
    refuse("{\"days\":[1]}", "days[0] must be a string");
    refuse("{\"days\":[\"monday\",null]}", "days[1] must be a string");
    refuse("{\"places\":[{\"city\":\"x\"},3]}", "places[1] must be an object");
}

static void bounds_are_inclusive(void **state)
{
    (void)state;
    accept("{\"uses\":1}");
    accept("{\"uses\":100}");
    refuse("{\"uses\":0}", "uses must be an integer from 1 to 100 or null");
    refuse("{\"uses\":101}", "uses must be an integer from 1 to 100 or null");
    accept("{\"label\":\"12345\"}");
    refuse("{\"label\":\"123456\"}", "label must be at most 5 characters");
    refuse("{\"label\":\" \"}", "label must not be empty");
    refuse("{\"label\":\"\"}", "label must not be empty");
    refuse("{\"state\":\"c\"}", "state must be exactly 2 characters");
    refuse("{\"state\":\"cal\"}", "state must be exactly 2 characters");
    refuse("{\"days\":[]}", "days must have at least 1 item");
    refuse("{\"days\":[\"monday\",\"monday\",\"monday\"]}", "days must have at most 2 items");
    accept("{\"places\":[]}");
    assert_int_equal(body.places.kind, VAL_LIST);
    assert_int_equal(body.places.count, 0);
}

/* HTTP-12 */
static void lengths_count_code_points_or_utf16_units(void **state)
{
    (void)state;
    accept("{\"label\":\"\\u00e9\\u20ac\\ud83d\\ude00\\u00e9\\u00e9\"}");
    refuse("{\"label\":\"\\u00e9\\u20ac\\ud83d\\ude00\\u00e9\\u00e9x\"}", "label must be at most 5 characters");
    accept("{\"greeting\":\"\\ud83d\\ude00\\ud83d\\ude00\"}");
    refuse("{\"greeting\":\"\\ud83d\\ude00\\ud83d\\ude00x\"}", "greeting must be at most 4 UTF-16 code units");
    accept("{\"greeting\":\"\"}");
}

static void enumerations_patterns_and_formats_are_checked(void **state)
{
    (void)state;
    refuse("{\"days\":[\"monday\",\"moonday\"]}", "days[1] must be one of sunday, monday");
    refuse("{\"purpose\":\"app\"}", "purpose must be web");
    refuse("{\"code\":\"12345\"}", "code must be six digits");
    refuse("{\"code\":\"123456\\n\"}", "code must be six digits");
    refuse("{\"email\":\"nobody\"}", "email must be a valid e-mail address");
    refuse("{\"email\":\"\"}", "email must be a valid e-mail address");
}

static void the_innermost_error_code_is_reported(void **state)
{
    (void)state;
    assert_false(read_as(&shape, "{\"type\":\"door\"}", &body));
    assert_text(fault.message, "type must be one of timer, passcode");
    assert_int_equal(fault.error, ERR_INVALID_TYPE);
    assert_false(read_as(&shape, "{\"place\":5}", &body));
    assert_text(fault.message, "place must be an object or null");
    assert_int_equal(fault.error, ERR_INVALID_QUOTE);
    assert_false(read_as(&shape, "{\"place\":{}}", &body));
    assert_text(fault.message, "place.city is required");
    assert_int_equal(fault.error, ERR_INVALID_QUOTE);
    assert_false(read_as(&shape, "{\"places\":[{\"city\":\"x\"},{\"city\":\"y\",\"zip\":\"1\"}]}", &body));
    assert_text(fault.message, "places[1].zip must be a postal code");
    assert_int_equal(fault.error, ERR_INVALID_BUILDING_INPUT);
}

static void null_can_have_its_own_error_code(void **state)
{
    (void)state;
    struct one {
        struct val tone;
    };
    static const struct field tone[] = {
        FIELD(struct one, tone, T_STRING, TONE_FORM, .error = ERR_INVALID_TONE, .null_error = ERR_INVALID_SETTINGS)};
    static const struct shape one_shape = SHAPE(struct one, "One", tone);
    struct one one;
    assert_false(read_as(&one_shape, "{\"tone\":\"x\"}", &one));
    assert_int_equal(fault.error, ERR_INVALID_TONE);
    assert_false(read_as(&one_shape, "{\"tone\":null}", &one));
    assert_int_equal(fault.error, ERR_INVALID_SETTINGS);
    assert_text(fault.message, "tone must be a string");
}

static void an_unchecked_string_must_still_be_a_string(void **state)
{
    (void)state;
    struct one {
        struct val otp;
    };
    static const struct field otp[] = {
        FIELD(struct one, otp, T_STRING, .flags = F_UNCHECKED, SIX_DIGITS_FORM, .max = 6)};
    static const struct shape one_shape = SHAPE(struct one, "One", otp);
    struct one one;
    assert_true(read_as(&one_shape, "{\"otp\":\"none at all\"}", &one));
    assert_text(one.otp.s, "none at all");
    assert_false(read_as(&one_shape, "{\"otp\":123456}", &one));
    assert_text(fault.message, "otp must be a string");
}

static void errors_are_reported_in_table_order(void **state)
{
    (void)state;
    refuse("{\"on\":3,\"count\":\"x\",\"label\":7}", "label must be a string or null");
    refuse("{\"on\":3,\"count\":\"x\"}", "count must be an integer");
    refuse("{\"on\":3,\"count\":\"x\",\"extra\":1}", "extra is not a known field");
}

static void unknown_fields_are_refused_and_their_names_sanitised(void **state)
{
    (void)state;
    refuse("{\"lable\":1}", "lable is not a known field");
    refuse("{\"\":1}", "\"\" is not a known field");
    refuse("{\"a\\u001b[31m\\n<b>\\u00e9\":1}", "a??31m??b??? is not a known field");
    refuse("{\"aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd\":1}",
           "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd is not a known field");
    refuse("{\"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeee\":1}",
           "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd... is not a known field");
    refuse("{\"places\":[{\"city\":\"x\",\"town\":\"y\"}]}", "places[0].town is not a known field");
    refuse("{\"Label\":\"x\"}", "Label is not a known field");
}

static void an_open_shape_ignores_unknown_fields(void **state)
{
    (void)state;
    static const struct shape open = SHAPE(struct place, "Place", place_fields, .open = true);
    struct place p;
    assert_true(read_as(&open, "{\"town\":1,\"city\":\"x\"}", &p));
    assert_text(p.city.s, "x");
    assert_false(read_as(&open, "{\"town\":1}", &p));
    assert_text(fault.message, "city is required");
    assert_int_equal(fault.error, ERR_INVALID_UNLOCK);
}

/* HTTP-11 */
static void messages_never_contain_a_value(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "{\"code\":\"s3cr3t\"}",  "{\"label\":\"s3cr3t\"}", "{\"type\":\"s3cr3t\"}", "{\"id\":\"s3cr3t\"}",
        "{\"at\":\"s3cr3t\"}",    "{\"email\":\"s3cr3t\"}", "{\"uses\":\"s3cr3t\"}", "{\"days\":[\"s3cr3t\"]}",
        "{\"place\":\"s3cr3t\"}", "{\"on\":\"s3cr3t\"}",
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_false(read_as(&shape, cases[i], &body));
        assert_null(memmem(fault.message.p, fault.message.n, "s3cr3t", 6));
    }
}

/* ---- bounds of messages ---- */

static void long_names_and_lists_truncate_the_message(void **state)
{
    (void)state;
    static const char *const many[] = {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                                       "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
                                       "ccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc",
                                       "ddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd", NULL};
    struct one {
        struct val v;
    };
    static const struct field one_fields[] = {FIELD(struct one, v, T_STRING, .values = many)};
    static const struct shape one_shape = SHAPE(struct one, "One", one_fields);
    struct one one;
    assert_false(read_as(&one_shape, "{\"v\":\"x\"}", &one));
    assert_true(fault.message.n < 400);
    assert_true(str_starts(fault.message, STR("v must be one of aaa")));
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(absent_null_and_given_differ),
        T(every_type_is_read_into_its_value),
        T(a_wrong_type_is_refused_by_name),
        T(bounds_are_inclusive),
        T(lengths_count_code_points_or_utf16_units),
        T(enumerations_patterns_and_formats_are_checked),
        T(the_innermost_error_code_is_reported),
        T(null_can_have_its_own_error_code),
        T(an_unchecked_string_must_still_be_a_string),
        T(errors_are_reported_in_table_order),
        T(unknown_fields_are_refused_and_their_names_sanitised),
        T(an_open_shape_ignores_unknown_fields),
        T(messages_never_contain_a_value),
        T(long_names_and_lists_truncate_the_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
