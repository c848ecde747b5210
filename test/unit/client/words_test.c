/* Words that people type, and words of the service that are printed for them. */
#include "client/day_words.h"
#include "client/login_scopes.h"
#include "client/operation_input.h"
#include "client/pass_words.h"
#include "client/request_words.h"

#include "base/unit.h"

/* ---- days ---- */

static const struct {
    const char *typed, *days;
} weeks[] = {
    {"monday", "[\"monday\"]"},
    {"mon", "[\"monday\"]"},
    {"MO", "[\"monday\"]"},
    {"Sun, tue", "[\"sunday\",\"tuesday\"]"},
    {"tue,mon,tue", "[\"monday\",\"tuesday\"]"},
    {"weekdays", "[\"monday\",\"tuesday\",\"wednesday\",\"thursday\",\"friday\"]"},
    {"Weekend", "[\"sunday\",\"saturday\"]"},
    {"daily", "[\"sunday\",\"monday\",\"tuesday\",\"wednesday\",\"thursday\",\"friday\",\"saturday\"]"},
    {"mon-wed", "[\"monday\",\"tuesday\",\"wednesday\"]"},
    {"fri-mon", "[\"sunday\",\"monday\",\"friday\",\"saturday\"]"},
    {"sat - sun", "[\"sunday\",\"saturday\"]"},
    {"wed-wed", "[\"wednesday\"]"},
    {"mon-fri,sat", "[\"monday\",\"tuesday\",\"wednesday\",\"thursday\",\"friday\",\"saturday\"]"},
    /* for the service's check, which names what is allowed */
    {"m", "[\"m\"]"},
    {"mondays", "[\"mondays\"]"},
    {"mon-", "[\"mon-\"]"},
    {"mon,nosuchday", "[\"nosuchday\",\"monday\"]"},
    {"", "[\"\"]"},
};

static void days_are_read_as_people_write_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(weeks); i++) {
        json_t *days = day_words_read(str_z(weeks[i].typed));
        char *text = json_dumps(days, JSON_COMPACT);
        assert_string_equal(text, weeks[i].days);
        free(text);
        json_decref(days);
    }
}

/* ---- passes ---- */

#define SUNDAY 20786 /* 2026-11-29 */

static const struct {
    const char *typed, *body; /* NULL: refused */
} passes[] = {
    {"{'days': ['tuesday'], 'from': '09:00', 'to': '12:00', 'until': '2027-03-01'}",
     "{'until': '2027-03-02T00:00', 'windows': [{'days': ['tuesday'], 'start': '09:00', 'end': '12:00'}]}"},
    {"{'on': 'tomorrow', 'hours': '08:00-12:00'}", "{'from': '2026-11-30T08:00', 'until': '2026-11-30T12:00'}"},
    {"{'on': 'saturday', 'from': '22:00', 'to': '02:00'}", "{'from': '2026-12-05T22:00', 'until': '2026-12-06T02:00'}"},
    {"{'on': 'sunday'}", "{'from': '2026-12-06T00:00', 'until': '2026-12-07T00:00'}"},
    {"{'from': '2027-08-01', 'until': '2027-08-31'}", "{'from': '2027-08-01T00:00', 'until': '2027-09-01T00:00'}"},
    {"{'from': 'today', 'hours': '22:00-06:00', 'until': '2028-02-29'}",
     "{'from': '2026-11-29T22:00', 'until': '2028-03-01T06:00', 'windows': [{'days': ['sunday', 'monday', 'tuesday', "
     "'wednesday', 'thursday', 'friday', 'saturday'], 'start': '22:00', 'end': '06:00'}]}"},
    {"{'days': ['monday']}", "{'windows': [{'days': ['monday'], 'start': '00:00', 'end': '00:00'}]}"},
    {"{'from': '2026-12-01T08:00:00Z', 'until': null}", "{'from': '2026-12-01T08:00:00Z', 'until': null}"},
    {"{'label': 'x', 'windows': []}", "{'label': 'x', 'windows': []}"},
    {"{'from': '09:00'}", NULL},
    {"{'to': '12:00'}", NULL},
    {"{'hours': '9-12'}", NULL},
    {"{'hours': '09:00-12:00', 'windows': []}", NULL},
    {"{'on': 'someday'}", NULL},
    {"{'on': 'monday', 'days': ['monday']}", NULL},
    {"{'on': 'monday', 'until': '2027-01-01'}", NULL},
};

/* With ' for each quote. */
static json_t *json_of(const char *text)
{
    char copy[1024];
    snprintf(copy, sizeof copy, "%s", text);
    for (char *p = copy; *p; p++)
        *p = *p == '\'' ? '"' : *p;
    json_t *value = json_loads(copy, 0, NULL);
    assert_non_null(value);
    return value;
}

static void a_pass_is_read_as_people_write_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(passes); i++) {
        json_t *body = json_of(passes[i].typed), *expected = passes[i].body ? json_of(passes[i].body) : NULL;
        const char *why = pass_words_read(body, SUNDAY);
        if (!!why == !!expected || (expected && !json_equal(body, expected)))
            fail_msg("%s: %s", passes[i].typed, why ? why : json_dumps(body, 0));
        json_decref(expected);
        json_decref(body);
    }
}

static void a_pass_of_a_list_is_told_in_a_sentence(void **state)
{
    (void)state;
    json_t *rows = json_of(
        "[{'label': 'Cleaner', 'type': 'passcode', 'ends_at': '2027-03-01T23:00:00.000Z', 'remaining_uses': 3, 'pass': "
        "{'from': null, 'until': '2027-03-01T23:00:00.000Z', 'timezone': 'Europe/Madrid', 'windows': "
        "[{'days': ['tuesday', 'friday'], 'start': '22:00', 'end': '06:00'}]}}, {'label': 'Other', 'ends_at': 'x'}]");
    json_t *told =
        json_of("[{'label': 'Cleaner', 'type': 'passcode', 'opens': 'with the code on Tuesdays and Fridays from 22:00 "
                "to 06:00 the next "
                "day, until 2027-03-02 00:00, at most 3 times (Europe/Madrid)'}, {'label': 'Other', 'ends_at': 'x'}]");
    pass_words_tell(rows);
    assert_true(json_equal(rows, told));
    json_decref(rows);
    json_decref(told);
}

/* ---- requests in texts ---- */

static const struct {
    const char *text, *printed;
} texts[] = {
    {"Start a checkout with POST /v1/billing/checkout.", "Start a checkout with `portero checkout create`."},
    {"GET /v1/account", "`portero account show`"},
    {"GET /v1/unlock/6b018faceb9d0c2ba6000001 tells more.",
     "`portero unlock show 6b018faceb9d0c2ba6000001` tells more."},
    {"Read GET /v1/unlock/{id} again.", "Read `portero unlock show` again."},
    {"GET /v1/account, then GET /v1/plans.", "`portero account show`, then `portero plan list`."},
    /* no commands: they stay */
    {"GET /v1/unlock?limit=1", "GET /v1/unlock?limit=1"},
    {"GET /v1/nothing", "GET /v1/nothing"},
    {"PUT /v1/account", "PUT /v1/account"},
    {"GET /v1/account/", "GET /v1/account/"},
    {"WIDGET /v1/account", "WIDGET /v1/account"},
    {"GET the account", "GET the account"},
    {"", ""},
};

static void requests_are_printed_as_commands(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct buf out = BUF(4096);
        request_words_put(str_z(texts[i].text), &out);
        assert_text(buf_view(&out), texts[i].printed);
        buf_done(&out);
    }
}

static void only_next_actions_and_commands_of_an_answer_are_changed(void **state)
{
    (void)state;
    json_t *answer = json_loads("{\"label\":\"GET /v1/account\",\"error\":{\"next_action\":\"GET /v1/account\"},"
                                "\"list\":[{\"test_command\":\"GET /v1/account\",\"command\":5}],"
                                "\"commands\":\"GET /v1/account\"}",
                                0, NULL);
    request_words_replace(answer);
    char *text = json_dumps(answer, JSON_COMPACT);
    assert_string_equal(text, "{\"label\":\"GET /v1/account\",\"error\":{\"next_action\":\"`portero account show`\"},"
                              "\"list\":[{\"test_command\":\"`portero account show`\",\"command\":5}],"
                              "\"commands\":\"GET /v1/account\"}");
    free(text);
    json_decref(answer);
}

/* ---- scopes ---- */

static const struct {
    const char *word;
    bool is;
} scopes[] = {
    {"access:read", true},     {"setup:write", true}, {"calls:listen", true},  {"keys:write", false},
    {"webhooks:write", false}, {"access:", false},    {"access:readx", false}, {"", false},
    {"ACCESS:READ", false},
};

static void a_login_asks_for_scopes_that_a_key_for_programs_can_have(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, 0);
    const struct str all = login_all_scopes(&a);
    for (size_t i = 0; i < COUNT(scopes); i++) {
        assert_int_equal(login_is_scope(str_z(scopes[i].word)), scopes[i].is);
        if (*scopes[i].word && scopes[i].is)
            assert_non_null(memmem(all.p, all.n, scopes[i].word, strlen(scopes[i].word)));
    }
    for (struct str rest = all; rest.p;)
        assert_true(login_is_scope(str_trim(str_cut(rest, ',', &rest))));
    for (struct str rest = STR(LOGIN_SCOPES_TYPED); rest.p;)
        assert_true(login_is_scope(str_cut(rest, ',', &rest)));
    arena_done(&a);
}

/* ---- addresses and headers ---- */

static const struct {
    const char *query, *text;
} queries[] = {
    {"{}", ""},
    {"{\"limit\":10}", "?limit=10"},
    {"{\"status\":\"active\",\"enabled\":true}", "?status=active&enabled=true"},
    {"{\"label\":\"a b&c=d/\\u00e9\"}", "?label=a%20b%26c%3Dd%2F%C3%A9"},
};

static void a_query_is_encoded(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(queries); i++) {
        struct buf out = BUF(4096);
        json_t *query = json_loads(queries[i].query, 0, NULL);
        operation_put_query(query, &out);
        assert_text(buf_view(&out), queries[i].text);
        json_decref(query);
        buf_done(&out);
    }
}

static void a_header_has_no_control_character_and_is_not_empty(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is;
    } cases[] = {{NULL, true},    {"a", true},     {"\xc3\xa9", true}, {"", false},
                 {"a\nb", false}, {"\x7f", false}, {"\t", false}};
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(operation_is_header("unlock list", "building", cases[i].text), cases[i].is);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_are_read_as_people_write_them),
        cmocka_unit_test(a_pass_is_read_as_people_write_it),
        cmocka_unit_test(a_pass_of_a_list_is_told_in_a_sentence),
        cmocka_unit_test(requests_are_printed_as_commands),
        cmocka_unit_test(only_next_actions_and_commands_of_an_answer_are_changed),
        cmocka_unit_test(a_login_asks_for_scopes_that_a_key_for_programs_can_have),
        cmocka_unit_test(a_query_is_encoded),
        cmocka_unit_test(a_header_has_no_control_character_and_is_not_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
