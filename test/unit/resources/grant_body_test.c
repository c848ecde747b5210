#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "api/query.h"
#include "resources/grant_body.h"

#define NOW     (1795167000LL * US_PER_S) /* 2026-11-20T09:30:00Z */
#define MINUTES (60 * US_PER_S)

static struct arena arena;
static struct tx tx;
static const struct id building = {"650000000000000000000001"};

static int setup(void **state)
{
    (void)state;
    arena_init(&arena, NULL, 0);
    tx = (struct tx){.arena = &arena, .now_us = NOW};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    arena_done(&arena);
    return 0;
}

/* ---- replies ---- */

static void check_json(const struct shape *shape, const void *body, const char *wanted)
{
    struct buf out = BUF(100000);
    schema_write(shape, body, &out);
    buf_char(&out, '\0');
    assert_string_equal(out.p, wanted);
    buf_done(&out);
}

static const struct grant timer = {.id = {"650000000000000000000002"},
                                   .type = GRANT_TIMER,
                                   .enabled = true,
                                   .label = {"Cleaner", 7},
                                   .remaining_uses = 2,
                                   .version = 7,
                                   .created_us = NOW,
                                   .updated_us = NOW + MINUTES,
                                   .starts_us = NOW + MINUTES,
                                   .ends_us = NOW + 2 * MINUTES,
                                   .request_id = {"a-key-0123456789", 16}};
static const struct grant passcode = {.id = {"650000000000000000000003"},
                                      .type = GRANT_PASSCODE,
                                      .enabled = true,
                                      .voice = true,
                                      .label = {"Guest", 5},
                                      .code = "007",
                                      .remaining_uses = GRANT_UNLIMITED,
                                      .created_us = NOW,
                                      .ends_us = GRANT_NO_END};
static const struct grant routine = {.id = {"650000000000000000000004"},
                                     .type = GRANT_ROUTINE,
                                     .label = {"Mail", 4},
                                     .revoked = true,
                                     .remaining_uses = GRANT_UNLIMITED,
                                     .created_us = NOW,
                                     .ends_us = GRANT_NO_END,
                                     .schedule = {{"Asia/Tokyo", 10}, 1, {{0x41, 485, 1050}}}};

#define TIMER_JSON                                                                                                     \
    "{\"building_id\":\"650000000000000000000001\",\"id\":\"650000000000000000000002\",\"type\":\"timer\","            \
    "\"label\":\"Cleaner\",\"enabled\":true,\"version\":7,\"status\":\"scheduled\",\"request_id\":"                    \
    "\"a-key-0123456789\",\"created_at\":\"2026-11-20T09:30:00.000Z\",\"updated_at\":\"2026-11-20T09:31:00.000Z\","    \
    "\"starts_at\":\"2026-11-20T09:31:00.000Z\",\"ends_at\":\"2026-11-20T09:32:00.000Z\",\"remaining_uses\":2}"
#define PASSCODE_JSON                                                                                                  \
    "{\"building_id\":\"650000000000000000000001\",\"id\":\"650000000000000000000003\",\"type\":\"passcode\","         \
    "\"label\":\"Guest\",\"enabled\":true,\"version\":0,\"status\":\"active\","                                        \
    "\"created_at\":\"2026-11-20T09:30:00.000Z\",\"access_code\":\"007\",\"remaining_uses\":null,"                     \
    "\"enter_code_with_voice\":true}"
#define ROUTINE_JSON                                                                                                   \
    "{\"building_id\":\"650000000000000000000001\",\"id\":\"650000000000000000000004\",\"type\":\"routine\","          \
    "\"label\":\"Mail\",\"enabled\":false,\"version\":0,\"status\":\"revoked\","                                       \
    "\"created_at\":\"2026-11-20T09:30:00.000Z\",\"days\":[\"sunday\",\"saturday\"],\"start\":\"08:05\","              \
    "\"end\":\"17:30\",\"timezone\":\"Asia/Tokyo\"}"

static void test_a_grant_shows_the_fields_of_its_type_and_no_others(void **state)
{
    (void)state;
    check_json(&unlock_shape, unlock_body(&tx, &building, &timer), TIMER_JSON);
    check_json(&unlock_shape, unlock_body(&tx, &building, &passcode), PASSCODE_JSON);
    check_json(&unlock_shape, unlock_body(&tx, &building, &routine), ROUTINE_JSON);
}

static void test_a_page_has_the_cursor_of_the_next(void **state)
{
    (void)state;
    struct grant both[] = {timer, passcode};
    check_json(&unlock_page_shape, unlock_page_body(&tx, &building, &(struct grant_page){both, 2, true, passcode.id}),
               "{\"data\":[" TIMER_JSON "," PASSCODE_JSON
               "],\"pagination\":{\"cursor\":\"650000000000000000000003\",\"has_more\":true}}");
    check_json(&unlock_page_shape, unlock_page_body(&tx, &building, &(struct grant_page){.items = both, .count = 1}),
               "{\"data\":[" TIMER_JSON "],\"pagination\":{\"cursor\":null,\"has_more\":false}}");
    check_json(&unlock_page_shape, unlock_page_body(&tx, &building, &(struct grant_page){.count = 0}),
               "{\"data\":[],\"pagination\":{\"cursor\":null,\"has_more\":false}}");
}

static void test_a_revocation_names_the_grant(void **state)
{
    (void)state;
    check_json(&unlock_revoked_shape, unlock_revoked_body(&tx, &timer.id),
               "{\"id\":\"650000000000000000000002\",\"deleted\":true,\"status\":\"revoked\"}");
}

/* ---- requests ---- */

static bool read_body(const struct shape *shape, const char *text, struct grant_input *ret,
                      struct schema_fault *ret_fault)
{
    json_t *json;
    assert_int_equal(json_read(str_z(text), &json), ERR_NONE);
    const bool read = schema_read(shape, json, ERR_INVALID_UNLOCK, &arena, ret, ret_fault);
    json_decref(json);
    return read;
}

struct refused {
    const char *body;
    enum err error;
    const char *message; /* the message's beginning */
};

static void check_refused(const struct shape *shape, const struct refused *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct grant_input in;
        struct schema_fault fault = {ERR_NONE, STR_NONE};
        if (read_body(shape, cases[i].body, &in, &fault))
            fail_msg("%s is accepted", cases[i].body);
        assert_int_equal(fault.error, cases[i].error);
        if (!str_starts(fault.message, str_z(cases[i].message)))
            fail_msg("%s: %.*s", cases[i].body, STR_ARG(fault.message));
    }
}

static void test_a_creation_with_a_wrong_field_is_refused(void **state)
{
    (void)state;
    static const struct refused cases[] = {
        {"{}", ERR_INVALID_TYPE, "type "},
        {"{\"expires_in_minutes\":5}", ERR_INVALID_TYPE, "type "},
        {"{\"type\":\"gate\"}", ERR_INVALID_TYPE, "type must be one of timer, passcode, routine"},
        {"{\"type\":\"Timer\"}", ERR_INVALID_TYPE, "type "},
        {"{\"type\":null}", ERR_INVALID_TYPE, "type "},
        {"{\"type\":1}", ERR_INVALID_TYPE, "type "},
        {"{\"type\":\"timer\",\"active\":true}", ERR_INVALID_UNLOCK, "active is not a known field"},
        {"{\"type\":\"timer\",\"expires_in_minutes\":0}", ERR_INVALID_UNLOCK, "expires_in_minutes must be"},
        {"{\"type\":\"timer\",\"expires_in_minutes\":10081}", ERR_INVALID_UNLOCK, "expires_in_minutes must be"},
        {"{\"type\":\"timer\",\"expires_in_minutes\":1.5}", ERR_INVALID_UNLOCK, "expires_in_minutes must be"},
        {"{\"type\":\"timer\",\"expires_in_minutes\":\"5\"}", ERR_INVALID_UNLOCK, "expires_in_minutes must be"},
        {"{\"type\":\"timer\",\"expires_in_minutes\":null}", ERR_INVALID_UNLOCK, "expires_in_minutes must be"},
        {"{\"type\":\"timer\",\"ends_at\":\"2026-11-20\"}", ERR_INVALID_UNLOCK, "ends_at must be"},
        {"{\"type\":\"passcode\",\"ends_at\":null}", ERR_INVALID_UNLOCK, "ends_at must be"},
        {"{\"type\":\"timer\",\"starts_at\":\"2026-11-20T09:30:00\"}", ERR_INVALID_UNLOCK, "starts_at must be"},
        {"{\"type\":\"timer\",\"enabled\":1}", ERR_INVALID_UNLOCK, "enabled must be"},
        {"{\"type\":\"timer\",\"label\":null}", ERR_INVALID_UNLOCK, "label must be"},
        {"{\"type\":\"passcode\",\"remaining_uses\":0}", ERR_INVALID_UNLOCK, "remaining_uses must be"},
        {"{\"type\":\"passcode\",\"remaining_uses\":101}", ERR_INVALID_UNLOCK, "remaining_uses must be"},
        {"{\"type\":\"passcode\",\"access_code\":\"1\"}", ERR_INVALID_UNLOCK, "access_code must"},
        {"{\"type\":\"passcode\",\"access_code\":\"\"}", ERR_INVALID_UNLOCK, "access_code must"},
        {"{\"type\":\"passcode\",\"access_code\":\"123456\"}", ERR_INVALID_UNLOCK, "access_code must"},
        {"{\"type\":\"passcode\",\"access_code\":\"12 4\"}", ERR_INVALID_UNLOCK, "access_code must"},
        {"{\"type\":\"passcode\",\"access_code\":\"12\\n\"}", ERR_INVALID_UNLOCK, "access_code must"},
        {"{\"type\":\"passcode\",\"access_code\":1234}", ERR_INVALID_UNLOCK, "access_code must"},
        {"{\"type\":\"passcode\",\"enter_code_with_voice\":\"yes\"}", ERR_INVALID_UNLOCK,
         "enter_code_with_voice must be"},
        {"{\"type\":\"routine\",\"days\":[]}", ERR_INVALID_UNLOCK, "days must"},
        {"{\"type\":\"routine\",\"days\":\"monday\"}", ERR_INVALID_UNLOCK, "days must"},
        {"{\"type\":\"routine\",\"days\":[\"mon\"]}", ERR_INVALID_UNLOCK, "days[0] must"},
        {"{\"type\":\"routine\",\"start\":\"9:00\"}", ERR_INVALID_UNLOCK, "start must"},
        {"{\"type\":\"routine\",\"end\":\"24:00\"}", ERR_INVALID_UNLOCK, "end must"},
        {"{\"type\":\"routine\",\"timezone\":\"\"}", ERR_INVALID_UNLOCK, "timezone must"},
    };
    check_refused(&unlock_create_shape, cases, sizeof cases / sizeof *cases);
}

static void test_an_update_has_no_type(void **state)
{
    (void)state;
    static const struct refused cases[] = {
        {"{\"type\":\"timer\"}", ERR_INVALID_UNLOCK, "type is not a known field"},
        {"{\"version\":1}", ERR_INVALID_UNLOCK, "version is not a known field"},
        {"{\"enabled\":null}", ERR_INVALID_UNLOCK, "enabled must be"},
        {"{\"access_code\":null}", ERR_INVALID_UNLOCK, "access_code must be"},
        {"{\"remaining_uses\":0}", ERR_INVALID_UNLOCK, "remaining_uses must be"},
    };
    check_refused(&unlock_update_shape, cases, sizeof cases / sizeof *cases);
}

static void test_null_is_accepted_only_for_nullable_fields(void **state)
{
    (void)state;
    struct grant_input in;
    struct schema_fault fault;
    assert_true(read_body(&unlock_update_shape, "{\"ends_at\":null,\"remaining_uses\":null}", &in, &fault));
    assert_int_equal(in.ends_at.kind, VAL_NULL);
    assert_int_equal(in.remaining_uses.kind, VAL_NULL);
    assert_int_equal(in.label.kind, VAL_ABSENT);
    assert_true(read_body(&unlock_create_shape, "{\"type\":\"passcode\",\"remaining_uses\":null}", &in, &fault));
    assert_int_equal(in.remaining_uses.kind, VAL_NULL);
}

static void test_a_whole_routine_is_read(void **state)
{
    (void)state;
    struct grant_input in;
    struct schema_fault fault;
    assert_true(read_body(&unlock_create_shape,
                          "{\"type\":\"routine\",\"label\":\"\\u00e9\",\"enabled\":false,\"days\":[\"Sunday\","
                          "\"SATURDAY\"],\"start\":\"00:00\",\"end\":\"23:59\",\"timezone\":\"Asia/Tokyo\"}",
                          &in, &fault));
    assert_true(str_eq(in.label.s, STR("é")));
    assert_int_equal(in.days.count, 2);
    assert_true(str_eq(((const struct val *)in.days.ptr)[1].s, STR("saturday")));
    assert_false(in.enabled.b);
}

static void test_a_label_has_at_most_120_characters(void **state)
{
    (void)state;
    struct grant_input in;
    struct schema_fault fault;
    char body[400] = "{\"type\":\"passcode\",\"label\":\"";
    size_t n = strlen(body);
    for (int i = 0; i < 120; i++, n += 2)
        memcpy(body + n, "é", 3);
    memcpy(body + n, "\"}", 3);
    assert_true(read_body(&unlock_create_shape, body, &in, &fault));
    memcpy(body + n, "x\"}", 4);
    assert_false(read_body(&unlock_create_shape, body, &in, &fault));
    assert_true(str_eq(fault.message, STR("label must be at most 120 characters")));
}

static void test_each_filter_of_the_list_has_its_own_error(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        enum err error;
    } cases[] = {
        {"enabled=yes", ERR_INVALID_FILTER},
        {"enabled=", ERR_INVALID_FILTER},
        {"status=revoked", ERR_INVALID_FILTER},
        {"status=open", ERR_INVALID_FILTER},
        {"type=gate", ERR_INVALID_TYPE},
        {"limit=0", ERR_INVALID_LIMIT},
        {"limit=101", ERR_INVALID_LIMIT},
        {"limit=ten", ERR_INVALID_LIMIT},
        {"limit=5&limit=6", ERR_INVALID_LIMIT},
        {"cursor=65", ERR_INVALID_CURSOR},
        {"cursor=650000000000000000000z01", ERR_INVALID_CURSOR},
    };
    struct grant_filter f;
    struct schema_fault fault;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_false(query_read(&unlock_query_shape, str_z(cases[i].query), &arena, &f, &fault));
        assert_int_equal(fault.error, cases[i].error);
    }
    assert_true(query_read(&unlock_query_shape,
                           STR("status=active&type=timer&enabled=true&limit=100&cursor=65000000000000000000000F&x=1"),
                           &arena, &f, &fault));
    assert_true(f.enabled.b);
    assert_int_equal(f.limit.i, 100);
    assert_true(str_eq(f.cursor.s, STR("65000000000000000000000f")));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_a_grant_shows_the_fields_of_its_type_and_no_others),
        TEST(test_a_page_has_the_cursor_of_the_next),
        TEST(test_a_revocation_names_the_grant),
        TEST(test_a_creation_with_a_wrong_field_is_refused),
        TEST(test_an_update_has_no_type),
        TEST(test_null_is_accepted_only_for_nullable_fields),
        TEST(test_a_whole_routine_is_read),
        TEST(test_a_label_has_at_most_120_characters),
        TEST(test_each_filter_of_the_list_has_its_own_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
