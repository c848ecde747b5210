/* A call as text: everything but the code comes back, and nothing that no call can be is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "call/save.h"

static struct call some_call(void)
{
    struct call c;
    call_init(&c);
    c.state = CALL_RINGING;
    c.outcome = CALL_FORWARDED;
    c.reason = ACCESS_WRONG_CODE;
    c.building_id = (struct id){"0123456789abcdef01234567"};
    c.near[1] = (struct access_near){.grant_id = {"76543210fedcba9876543210"}, .why = NEAR_USED_UP};
    c.near_count = 2;
    c.answered = c.speech = c.denied = true;
    c.keys = 12;
    c.wrong = 3;
    memcpy(c.tones, "*9#", 4);
    c.release = (struct release){200, 400, 500, 2, RELEASE_INBAND, true};
    memcpy(c.ring.phones[4], "+15551112222", 13);
    memcpy(c.ring.phones[CALL_PHONES_MAX - 1], "+15551113333", 13);
    c.ring.count = CALL_PHONES_MAX;
    c.ring.strategy = RING_ORDER;
    c.ring.seconds = 45;
    c.ring.accept = true;
    snprintf(c.greetings[GREETING_DENIED], CALL_TEXT_MAX, "D\xc3\xa9sol\xc3\xa9 \"<&>\"");
    return c;
}

static void test_a_call_comes_back_without_its_code(void **state)
{
    (void)state;
    struct call before = some_call(), after;
    memcpy(before.code, "12", 3);
    json_t *saved = call_save(&before);
    char *text = json_dumps(saved, JSON_COMPACT);
    assert_null(strstr(text, "\"12\""));
    assert_true(call_load(saved, &after));
    assert_int_equal(after.code[0], '\0');
    memset(before.code, 0, sizeof before.code);
    json_t *again = call_save(&after);
    assert_true(json_equal(saved, again));
    assert_int_equal(after.state, CALL_RINGING);
    assert_string_equal(after.ring.phones[4], "+15551112222");
    assert_string_equal(after.greetings[GREETING_DENIED], before.greetings[GREETING_DENIED]);
    assert_int_equal(after.near[1].why, NEAR_USED_UP);
    assert_true(after.release.before_greeting);
    json_decref(again);
    json_decref(saved);
    free(text);
}

static void test_a_story_comes_back(void **state)
{
    (void)state;
    struct story before, after;
    struct call c = some_call();
    story_begin(&before, CALL_FRONT_WEBHOOK, "twilio", "+15550100000", "+15550001111");
    story_event(&before, 3, &c, &(struct call_event){.kind = CALL_ARRIVED, .hears = true});
    story_note(&before, 5, CALL_STEP_RINGING, NULL, "+15551112222");
    story_ended_by(&before, CALL_ENDED_RESIDENT);
    json_t *saved = call_save_story(&before);
    assert_true(call_load_story(saved, &after));
    assert_int_equal(before.n, after.n);
    assert_memory_equal(before.steps, after.steps, before.n);
    assert_string_equal(before.arrival.id.text, after.arrival.id.text);
    assert_true(before.arrival.started_us == after.arrival.started_us);
    assert_true(after.ended && after.end.ended_by == CALL_ENDED_RESIDENT);
    json_decref(saved);
}

static void test_anything_that_is_no_call_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"{\"state\":9}",
                                      "{\"state\":-1}",
                                      "{\"state\":\"ringing\"}",
                                      "{\"near_count\":6}",
                                      "{\"phone_count\":11}",
                                      "{\"phone_count\":8,\"quiet_count\":3}",
                                      "{\"phones\":[]}",
                                      "{\"phones\":\"+1555\"}",
                                      "{\"tones\":\"1234\"}",
                                      "{\"tones\":\"9\\\"\"}",
                                      "{\"tones\":\"9\\u007f\"}",
                                      "{\"speech\":1}",
                                      "{\"mode\":4}",
                                      "{\"strategy\":2}",
                                      "{\"reason\":99}",
                                      "{\"wrong\":1e9}",
                                      "{\"building\":\"0123456789abcdef012345678\"}",
                                      "[]",
                                      "{\"greetings\":[\"\",\"\",\"\",5]}"};
    struct call c = some_call();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        json_t *object;
        assert_int_equal(json_read(str_z(bad[i]), &object), ERR_NONE);
        if (call_load(object, &c))
            fail_msg("%s", bad[i]);
        json_decref(object);
    }
    assert_int_equal(c.state, CALL_RINGING);
    struct story s;
    json_t *object = json_pack("{s:i}", "front", CALL_FRONT_WEBHOOK + 1);
    assert_false(call_load_story(object, &s));
    json_decref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_call_comes_back_without_its_code),
        cmocka_unit_test(test_a_story_comes_back),
        cmocka_unit_test(test_anything_that_is_no_call_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
