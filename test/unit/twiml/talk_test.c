/* A call through Twilio's webhooks as turns: the reports of Twilio, and the actions that answer each. */
#include "twiml/talk_scene.h"

#define OPENS    .arrival = ACCESS_RELEASE
#define COLLECTS .arrival = ACCESS_COLLECT
#define FORWARDS .arrival = ACCESS_FORWARD

static void test_an_arrival_is_answered_as_it_was_decided(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{OPENS}, "a", "answer granted tones9 hangup ?1 | "},
        {{.arrival = ACCESS_REJECT}, "a", "reject404 ?1 | "},
        {{.arrival = ACCESS_SELF_CALL}, "a", "answer line_works hangup ?1 | "},
        {{COLLECTS}, "a", "answer welcome collect8s ?1 | "},
        {{FORWARDS}, "a", "answer nobody hangup ?2 | "},
        {{FORWARDS, .phones = 1}, "a", "ring ?2 | "},
        {{FORWARDS, .phones = 1, .fails = ERR_BUILDING_NOT_FOUND}, "a", "ring ?2 | "},
        {{FORWARDS, .phones = 1, .fails = ERR_SERVICE_UNAVAILABLE}, "a", "?2 SERVICE_UNAVAILABLE | "},
    };
    ROWS(rows);
}

static void test_keys_are_a_code_as_soon_as_they_end(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{COLLECTS}, "a g1234", "answer welcome collect8s ?1 | granted tones9 hangup ?1 | "},
        {{COLLECTS}, "a g12", "answer welcome collect8s ?1 | incomplete collect8s ?1 | "},
        {{COLLECTS},
         "a g5678 g1234",
         "answer welcome collect8s ?1 | denied collect8s ?1 | granted tones9 hangup ?1 | "},
        {{COLLECTS},
         "a g567891234",
         "answer welcome collect8s ?1 | denied collect8s ?1 | "}, /* more than were asked for */
        {{COLLECTS}, "a g1*", "answer welcome collect8s ?1 | forwarding nobody hangup ?1 | "},
        {{COLLECTS, .phones = 1}, "a g", "answer welcome collect8s ?1 | forwarding ring ?1 | "},
        {{COLLECTS}, "a g#", "answer welcome collect8s ?1 | collect8s | "},
        {{COLLECTS, .phones = 1},
         "a g5678 g5678 g5678",
         "answer welcome collect8s ?1 | denied collect8s ?1 | denied collect8s ?1 | denied forwarding ring ?2 | "},
        {{COLLECTS, .fails = ERR_SERVICE_UNAVAILABLE},
         "a g1234",
         "answer welcome collect8s ?1 | ?1 SERVICE_UNAVAILABLE | "},
        {{COLLECTS, .fails = ERR_BUILDING_NOT_FOUND}, "a g1234", "answer welcome collect8s ?1 | reject404 ?1 | "},
    };
    ROWS(rows);
}

static void test_speech_is_a_code_where_it_is_understood(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{COLLECTS}, "a s:one_two_three_four", "answer welcome collect8s ?1 | granted tones9 hangup ?1 | "},
        {{COLLECTS}, "a s:hello g1234", "answer welcome collect8s ?1 | keypad collect8s | granted tones9 hangup ?1 | "},
        {{COLLECTS},
         "a s:hello s:hello s:one_two_three_four",
         "answer welcome collect8s ?1 | keypad collect8s | keypad collect8 | collect8 | "},
    };
    ROWS(rows);
}

static void test_phones_ring_until_somebody_talks(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{FORWARDS, .phones = 1}, "a d:no-answer", "ring ?2 | answer nobody hangup | "},
        {{FORWARDS, .phones = 1}, "a d:busy", "ring ?2 | answer busy hangup | "},
        {{FORWARDS, .phones = 1}, "a d:failed", "ring ?2 | answer unreachable hangup | "},
        {{FORWARDS, .phones = 1}, "a d:completed", "ring ?2 | answer declined hangup | "},
        {{FORWARDS, .phones = 2}, "a d:no-answer", "ring ?2 | answer nobody hangup | "},
        {{FORWARDS, .phones = 3, .in_order = true},
         "a d:busy d:no-answer d:busy",
         "ring0 ?2 | ring1 | ring2 | answer busy hangup | "},
        {{FORWARDS, .phones = 1, .message = true},
         "a d:no-answer x",
         "ring ?2 | answer message message hangup | hangup | "},
        {{FORWARDS, .phones = 1}, "a h", "ring ?2 | | "},
    };
    ROWS(rows);
}

static void test_a_resident_talks_or_opens(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{FORWARDS, .phones = 1}, "a c0: e", "ring ?2 | connect | hangup | "},
        {{FORWARDS, .phones = 1}, "a c0:9 d:completed", "ring ?2 | release answer granted tones9 hangup | | "},
        {{FORWARDS, .phones = 1, .accept = true}, "a c0: d:completed", "ring ?2 | release | answer declined hangup | "},
        {{FORWARDS, .phones = 1, .accept = true}, "a c0:1 c0:1", "ring ?2 | connect | connect | "},
        {{FORWARDS, .phones = 1, .accept = true}, "a c0:5", "ring ?2 | release | "},
        {{FORWARDS, .phones = 1, .accept = true, .no_tone = true}, "a c0:9", "ring ?2 | release | "},
        {{FORWARDS, .phones = 1}, "a c0:1 h c0:9", "ring ?2 | connect | | release | "},
    };
    ROWS(rows);
}

static void test_keys_of_a_conversation_are_heard_in_the_room(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {{FORWARDS, .phones = 1},
         "a c0:1 m v l1 v p1:9 v",
         "ring ?2 | connect | in | joins | asked | waits | in tones9 joins | waits | "},
        {{FORWARDS, .phones = 1}, "a c0:1 m v l1 p1: v", "ring ?2 | connect | in | joins | asked | in | joins | "},
        {{FORWARDS, .phones = 1}, "a c0:1 m v l1 p1:*", "ring ?2 | connect | in | joins | asked | out hangup | "},
        {{FORWARDS, .phones = 1}, "a c0:1 m l2 p2:9", "ring ?2 | connect | in | in | in | "}, /* another round */
        {{FORWARDS, .phones = 1}, "a m l1 p1:9", "ring ?2 | out | out | out | "},             /* nobody talks */
        {{FORWARDS, .phones = 1}, "a c0:1 v", "ring ?2 | connect | hangup | "},               /* not moved */
        {{FORWARDS, .phones = 1}, "a c0:1 m e", "ring ?2 | connect | in | hangup | "},
    };
    ROWS(rows);
}

static void test_a_decision_is_told_and_begins_the_record_of_a_forwarding(void **state)
{
    (void)state;
    static const struct {
        struct door door;
        const char *script, *fed, *recorded;
    } rows[] = {
        {{OPENS}, "a", "arrival ", ""}, /* the end of the turn writes the whole record */
        {{COLLECTS}, "a g5678 g1234", "arrival code code ", "none:wrong_code "}, /* the log has the wrong code now */
        {{FORWARDS, .phones = 1}, "a", "arrival forwarding ", "forwarded:no_grant "},
        {{.arrival = ACCESS_REJECT}, "a", "arrival ", ""},
        {{FORWARDS, .fails = ERR_SERVICE_UNAVAILABLE}, "a", "arrival ", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct talk t;
        run(&t, rows[i].door, rows[i].script);
        assert_string_equal(fed, rows[i].fed);
        assert_string_equal(recorded, rows[i].recorded);
        arena_done(&t.arena);
    }
}

static void test_a_closed_keypad_is_kept_for_the_log(void **state)
{
    (void)state;
    struct talk t;
    run(&t, (struct door){COLLECTS, .phones = 1}, "a g5678");
    assert_int_equal(t.turn.closed.closing.minutes, 0);
    arena_done(&t.arena);
    minutes_closed = 10;
    run(&t, (struct door){COLLECTS, .phones = 1}, "a g5678");
    minutes_closed = 0;
    assert_int_equal(t.turn.closed.closing.minutes, 10);
    assert_string_equal(t.turn.closed.building_id.text, BUILDING);
    assert_int_equal(t.turn.asked, 2); /* the code and the forwarding, which closes nothing */
    arena_done(&t.arena);
}

static void test_a_key_opens_unless_it_means_to_talk(void **state)
{
    (void)state;
    static const struct {
        const char *tones;
        char key;
        bool opens;
    } rows[] = {{"9", '9', true}, {"5", '9', true},   {"5", '5', true},   {"1", '1', false}, {"1", '9', true},
                {"", '9', false}, {"55", '5', false}, {"5", '\0', false}, {"", '\0', false}, {"5", '6', false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct call c = {.state = CALL_RINGING};
        memcpy(c.tones, rows[i].tones, strlen(rows[i].tones) + 1);
        assert_int_equal(twiml_opens(&c, rows[i].key), rows[i].opens);
    }
}

static void test_the_steps_of_the_phones_are_told(void **state)
{
    (void)state;
    static const struct {
        struct door door;
        const char *script, *want;
    } rows[] = {
        {{FORWARDS, .phones = 2},
         "a d:busy",
         "1000 arrived;1000 forwarded no_grant;1000 ringing - ...0000;1000 ringing - ...0001;2000 leg_busy - "
         "...0000;2000 leg_busy - ...0001;2000 unanswered busy;2000 answered;2000 said busy;"},
        {{FORWARDS, .phones = 2, .in_order = true},
         "a d:failed c1:9",
         "1000 arrived;1000 forwarded no_grant;1000 ringing - ...0000;2000 leg_failed - ...0000;2000 ringing - "
         "...0001;3000 leg_accepted - ...0001;3000 resident_opened;3000 answered;3000 said granted;3000 tone_sent;"},
        {{FORWARDS, .phones = 1, .accept = true},
         "a c0:1 e",
         "1000 arrived;1000 forwarded no_grant;1000 ringing - ...0000;2000 leg_accepted - ...0000;2000 connected;"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct talk t;
        char text[CALL_RECORD_STEPS_MAX + 1];
        run(&t, rows[i].door, rows[i].script);
        (void)snprintf(text, sizeof text, "%.*s", (int)t.s.story.n, t.s.story.steps);
        for (char *p = text; *p; p++)
            *p = *p == '\n' ? ';' : *p;
        if (strcmp(text, rows[i].want) != 0)
            print_error("%s\n  %s\n", rows[i].script, text);
        assert_string_equal(text, rows[i].want);
        arena_done(&t.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_arrival_is_answered_as_it_was_decided),
        cmocka_unit_test(test_keys_are_a_code_as_soon_as_they_end),
        cmocka_unit_test(test_speech_is_a_code_where_it_is_understood),
        cmocka_unit_test(test_phones_ring_until_somebody_talks),
        cmocka_unit_test(test_a_resident_talks_or_opens),
        cmocka_unit_test(test_keys_of_a_conversation_are_heard_in_the_room),
        cmocka_unit_test(test_a_decision_is_told_and_begins_the_record_of_a_forwarding),
        cmocka_unit_test(test_a_closed_keypad_is_kept_for_the_log),
        cmocka_unit_test(test_a_key_opens_unless_it_means_to_talk),
        cmocka_unit_test(test_the_steps_of_the_phones_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
