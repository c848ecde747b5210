/* Log records as JSON. */
#include "base/log_json.h"

#include <jansson.h>
#include <stdio.h>

#include "unit.h"

static char line[4096];

static json_t *parsed(const char *message)
{
    const size_t n = log_json(line, sizeof line, "2026-11-22T10:00:00.000Z", "info", message);
    json_t *o = json_loadb(line, n - 1, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(o);
    assert_int_equal(line[n - 1], '\n');
    assert_null(memchr(line, '\n', n - 1));
    return o;
}

static void expect_members(const char *message, const char *members)
{
    char whole[2048];
    snprintf(whole, sizeof whole, "{\"time\":\"2026-11-22T10:00:00.000Z\",\"level\":\"info\",%s}", members);
    json_t *o = parsed(message), *wanted = json_loads(whole, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(wanted);
    if (!json_equal(o, wanted))
        fail_msg("%s is not %s", line, whole);
    json_decref(o);
    json_decref(wanted);
}

static void each_key_is_a_member_and_the_words_before_are_the_message(void **state)
{
    (void)state;
    expect_members(
        "ready https://[::1]:8443 sip:127.0.0.1:5060 mode=sandbox version=1.0",
        "\"message\":\"ready https://[::1]:8443 sip:127.0.0.1:5060\",\"mode\":\"sandbox\",\"version\":\"1.0\"");
    expect_members("call source=udp:192.0.2.7:5060 dialled=15550100000 keys=4 duration_ms=14210",
                   "\"message\":\"call\",\"source\":\"udp:192.0.2.7:5060\",\"dialled\":\"15550100000\",\"keys\":4,"
                   "\"duration_ms\":14210");
    expect_members("node lost its leases: it was silent, id=n1 new_id=",
                   "\"message\":\"node lost its leases: it was silent\",\"id\":\"n1\",\"new_id\":\"\"");
    expect_members("", "\"message\":\"\"");
    expect_members("a=b", "\"message\":\"\",\"a\":\"b\"");
}

static void values_may_have_blanks_and_quotes(void **state)
{
    (void)state;
    expect_members("mail dropped error=too late attempts=3",
                   "\"message\":\"mail dropped\",\"error\":\"too late\",\"attempts\":3");
    expect_members("reload reason=\"no x=1 in \"file\"\" id=7",
                   "\"message\":\"reload\",\"reason\":\"no x=1 in \\\"file\\\"\",\"id\":\"7\"");
}

static void only_a_number_is_a_number(void **state)
{
    (void)state;
    expect_members("x status=-5", "\"message\":\"x\",\"status\":-5");
    for (size_t i = 0; i < 6; i++) {
        const char *const texts[] = {"", "-", "007", "1e5", "12345678901234567", "none"};
        char message[64], members[64];
        snprintf(message, sizeof message, "x status=%s", texts[i]);
        snprintf(members, sizeof members, "\"message\":\"x\",\"status\":\"%s\"", texts[i]);
        expect_members(message, members);
    }
}

/* SERVICE-24 */
static void a_value_cannot_replace_another_member(void **state)
{
    (void)state;
    expect_members("call caller=x level=error time=0 caller=y building=b",
                   "\"message\":\"call\",\"caller\":\"x level=error time=0 caller=y\",\"building\":\"b\"");
}

static void hostile_bytes_are_escaped(void **state)
{
    (void)state;
    expect_members(
        "x name=\"\\\x01\x1b\n\x7f\xc2\x85\xff\xc3 \xf0\x9f\x9a\xaa",
        "\"message\":\"x\",\"name\":\"\\\"\\\\\\u0001\\u001b\\n\\u007f\\u0085\\ufffd\\ufffd \xf0\x9f\x9a\xaa\"");
}

static void a_long_record_is_cut_and_complete(void **state)
{
    char message[1999];
    (void)state;
    memset(message, '\x01', sizeof message - 1);
    memcpy(message, "x first=1 name=", 15);
    message[sizeof message - 1] = '\0';
    json_t *o = parsed(message);
    assert_string_equal(json_string_value(json_object_get(o, "first")), "1");
    assert_true(json_string_length(json_object_get(o, "name")) > 500);
    json_decref(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_key_is_a_member_and_the_words_before_are_the_message),
        cmocka_unit_test(values_may_have_blanks_and_quotes),
        cmocka_unit_test(only_a_number_is_a_number),
        cmocka_unit_test(a_value_cannot_replace_another_member),
        cmocka_unit_test(hostile_bytes_are_escaped),
        cmocka_unit_test(a_long_record_is_cut_and_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
