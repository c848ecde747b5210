/* The list of a call's recordings, as Twilio gives it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "twiml/message.h"

#define CALL      "CA0123456789abcdef0123456789abcdef"
#define OTHER     "CAffffffffffffffffffffffffffffffff"
#define RECORDING "RE0123456789abcdef0123456789abcdef"
#define ENTRY(sid, call, source, status)                                                                               \
    "{\"sid\":\"" sid "\",\"call_sid\":\"" call "\",\"source\":\"" source "\",\"status\":\"" status "\"}"

static bool read_list(const char *text, struct twiml_recordings *ret)
{
    json_t *list;
    assert_int_equal(json_read(str_z(text), &list), ERR_NONE);
    const bool fine = twiml_recordings_read(list, STR(CALL), ret);
    json_decref(list);
    return fine;
}

static void expect_list(const char *text, size_t count, bool pending)
{
    struct twiml_recordings r;
    assert_true(read_list(text, &r));
    assert_int_equal(r.count, count);
    assert_int_equal(r.pending, pending);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(r.sids[i], RECORDING);
}

static void test_a_message_is_a_recording_of_the_call_by_the_verb(void **state)
{
    (void)state;
    expect_list("{\"recordings\":[]}", 0, false);
    expect_list("{\"recordings\":[" ENTRY(RECORDING, CALL, "RecordVerb", "completed") "]}", 1, false);
    expect_list("{\"recordings\":[" ENTRY(RECORDING, CALL, "DialVerb", "completed") "]}", 0, false);
    expect_list("{\"recordings\":[" ENTRY(RECORDING, OTHER, "RecordVerb", "completed") "]}", 0, false);
    expect_list("{\"recordings\":[" ENTRY("RE1/../..", CALL, "RecordVerb", "completed") "]}", 0, false);
    expect_list("{\"recordings\":[" ENTRY(RECORDING, CALL, "RecordVerb", "absent") "]}", 0, false);
    expect_list("{\"recordings\":[" ENTRY(RECORDING, CALL, "RecordVerb", "processing") "]}", 0, true);
    expect_list("{\"recordings\":[5,null,[],{}," ENTRY(RECORDING, CALL, "RecordVerb", "in-progress") "]}", 0, true);
}

static void test_a_list_is_bounded_and_has_its_form(void **state)
{
    (void)state;
#define TWO ENTRY(RECORDING, CALL, "RecordVerb", "completed") "," ENTRY(RECORDING, CALL, "RecordVerb", "completed")
    struct twiml_recordings r;
    expect_list("{\"recordings\":[" TWO "," TWO "," TWO "]}", TWIML_RECORDINGS_MAX, false);
    assert_false(read_list("{}", &r));
    assert_false(read_list("[]", &r));
    assert_false(read_list("{\"recordings\":{}}", &r));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_message_is_a_recording_of_the_call_by_the_verb),
        cmocka_unit_test(test_a_list_is_bounded_and_has_its_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
