/* The call machine, event by event: each row has a script of events and the actions they lead to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "call/call.h"

/* ---- a script language: one letter an event ----
 *
 *   a  arrived                        0-9 * # A  keys
 *   R  decided: reject                v  spoken "1234"     V  spoken "12345"     w  spoken "12x4"
 *   S  decided: self-call             t  timeout
 *   G  decided: release               f  failed
 *   C  decided: collect               d  decided (nothing: the answer to forwarded)
 *   W  decided: wrong                 y  the resident answered
 *   X  decided: wrong, guard closed   n  the resident did not answer
 *   F  decided: forward               b  the resident's phone is busy
 *   u  speech was not understood      o  the resident opens the door
 *   g  unclear speech, a guess        I  decided: incomplete
 *   k  failed, but the door is known  K  failed, and the number is unknown
 *   Y  decided: answer first
 *   h  hung up                        e  the resident hung up
 */

struct greetings {
    const char *welcome, *granted, *denied, *forwarding, *forward_to;
    bool voice;
    bool before, accept, message;
    const char *second;
    int lengths;
    bool rests; /* the second phone is left out in quiet hours */
};

static const struct greetings all = {"W", "G", "D", "F", "+15551112222", false, false, false, false, NULL, 0, false};

static enum access_verdict verdict_of(char letter)
{
    switch (letter) {
    case 'R':
        return ACCESS_REJECT;
    case 'S':
        return ACCESS_SELF_CALL;
    case 'G':
        return ACCESS_RELEASE;
    case 'C':
        return ACCESS_COLLECT;
    case 'W':
    case 'X':
        return ACCESS_WRONG;
    case 'I':
        return ACCESS_INCOMPLETE;
    case 'Y':
        return ACCESS_ANSWER;
    default:
        return ACCESS_FORWARD;
    }
}

static struct access_decision decision_of(char letter, const struct greetings *g)
{
    struct access_decision d = {
        .verdict = verdict_of(letter),
        .tones = "9#",
        .building_id = {"0123456789abcdef01234567"},
        .grant_id = {"aaaaaaaaaaaaaaaaaaaaaaaa"},
        .greeting_welcome = str_z(g->welcome),
        .greeting_granted = str_z(g->granted),
        .greeting_denied = str_z(g->denied),
        .greeting_forwarding = str_z(g->forwarding),
        .greeting_message = STR("message"),
        .forward_to = str_z(g->forward_to),
        .release = {.before_greeting = g->before},
        .ring = {.seconds = 30,
                 .accept = g->accept,
                 .message = g->message,
                 .numbers = {str_z(g->second)},
                 .count = g->second && !g->rests,
                 .quiet = g->rests},
        .voice = g->voice,
        .lengths = g->lengths ? g->lengths : 0x1e,
        .reason = letter == 'F' ? ACCESS_NO_GRANT : ACCESS_UNDECIDED,
        .near = {{.grant_id = {"bbbbbbbbbbbbbbbbbbbbbbbb"}, .why = NEAR_EXPIRED, .label = STR("label")}},
        .near_count = letter == 'd',
        .closing = {.minutes = letter == 'X' ? 10 : 0},
    };
    return d;
}

static void write_action(const struct call_action *a, FILE *out)
{
    switch (a->kind) {
    case CALL_ASK_ARRIVE:
        fputs("ask-arrive ", out);
        return;
    case CALL_ASK_CODE:
        fprintf(out, "ask-%s%s ",
                a->ask.way == ACCESS_SPOKEN    ? "spoken-"
                : a->ask.way == ACCESS_UNCLEAR ? "unclear"
                                               : "",
                a->ask.code);
        return;
    case CALL_ASK_FORWARDED:
        fputs("ask-forwarded ", out);
        return;
    case CALL_REJECT:
        fprintf(out, "reject-%d ", a->status);
        return;
    case CALL_ANSWER:
        fputs("answer ", out);
        return;
    case CALL_SAY:
        fprintf(out, "say-%d%s%s ", a->say.prompt, strlen(a->say.text) < 4 ? a->say.text : "",
                a->say.interruptible ? "!" : "");
        return;
    case CALL_COLLECT:
        fprintf(out, "collect-%ld%s ", (long)a->collect.wait_ms, a->collect.speech ? "-speech" : "");
        return;
    case CALL_SEND_TONES:
        fprintf(out, "tones-%s ", a->tones.keys);
        return;
    case CALL_FORWARD:
        fprintf(out, "forward-%s-%ld%s%s ", a->forward->phones[0], (long)a->forward->seconds,
                a->forward->count > 1 ? "+" : "", a->forward->accept ? "!" : "");
        return;
    case CALL_TAKE_MESSAGE:
        fprintf(out, "message-%ld ", (long)a->max_s);
        return;
    case CALL_HANG_UP:
        fputs("hang-up ", out);
        return;
    }
}

static void step(struct call *c, char letter, const struct greetings *g, struct call_actions *out)
{
    struct access_decision d = decision_of(letter, g);
    struct call_event e = {.kind = CALL_DIGIT, .digit = letter, .decision = &d};
    switch (letter) {
    case 'a':
        e.kind = CALL_ARRIVED, e.hears = true;
        break;
    case 'v':
        e.kind = CALL_SPOKEN, e.spoken = STR("1234");
        break;
    case 'V':
        e.kind = CALL_SPOKEN, e.spoken = STR("12345");
        break;
    case 'w':
        e.kind = CALL_SPOKEN, e.spoken = STR("12x4");
        break;
    case 't':
        e.kind = CALL_TIMEOUT;
        break;
    case 'f':
        e.kind = CALL_FAILED, e.decision = NULL;
        break;
    case 'q':
        e.kind = CALL_FAILED, e.decision = NULL, e.gone = true;
        break;
    case 'z':
        e.kind = CALL_FAILED, e.decision = NULL, e.away = true;
        break;
    case 'k':
        e.kind = CALL_FAILED, e.away = true;
        break;
    case 'K':
        d = decision_of('R', g);
        e.kind = CALL_FAILED, e.away = true;
        break;
    case 'y':
        e.kind = CALL_FORWARD_ANSWERED;
        break;
    case 'n':
        e.kind = CALL_FORWARD_FAILED;
        break;
    case 'b':
        e.kind = CALL_FORWARD_FAILED, e.failure = CALL_BUSY;
        break;
    case 'o':
        e.kind = CALL_FORWARD_OPEN;
        break;
    case 'e':
        e.kind = CALL_FORWARD_ENDED;
        break;
    case 'u':
        e.kind = CALL_UNCLEAR;
        break;
    case 'g':
        e.kind = CALL_UNCLEAR, e.guess = true;
        break;
    case 'h':
        e.kind = CALL_HUNG_UP;
        break;
    case 'R':
    case 'S':
    case 'G':
    case 'C':
    case 'W':
    case 'X':
    case 'F':
    case 'I':
    case 'Y':
    case 'd':
        e.kind = CALL_DECIDED;
        break;
    default:
        break;
    }
    call_step(c, &e, out);
}

/* The actions of a whole script; `.` ends the actions of one event. The caller frees it. */
static char *play(struct call *c, const char *script, const struct greetings *g)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    call_init(c);
    for (; *script; script++) {
        struct call_actions actions;
        step(c, *script, g, &actions);
        for (size_t i = 0; i < actions.n; i++)
            write_action(&actions.v[i], out);
        fputc('.', out);
    }
    fclose(out);
    return text;
}

#define ARRIVE "ask-arrive ."
#define ASK    ARRIVE "answer say-0W! collect-8000 ."

static const struct {
    const char *what, *script, *actions;
    enum call_state state;
    enum call_outcome outcome;
} table[] = {
    {"an unknown number is refused", "aR", ARRIVE "reject-404 .", CALL_OVER, CALL_REJECTED},
    {"the owner hears that the line works", "aS", ARRIVE "answer say-11 hang-up .", CALL_ENDING, CALL_OWNER},
    {"a grant opens at once", "aG", ARRIVE "answer say-1G tones-9# hang-up .", CALL_ENDING, CALL_RELEASED},
    {"a call whose audio is unknown is answered, then decided", "aYG",
     ARRIVE "answer ask-arrive .say-1G tones-9# hang-up .", CALL_ENDING, CALL_RELEASED},
    {"and forwarded if it takes no audio", "aYFd",
     ARRIVE "answer ask-arrive .ask-forwarded .say-3F forward-+15551112222-30 .", CALL_RINGING, CALL_FORWARDED},
    {"and forwarded if the store fails then", "aYf", ARRIVE "answer ask-arrive .say-3F forward-+15551112222-30 .",
     CALL_RINGING, CALL_FORWARDED},
    {"a failing store refuses the call", "af", ARRIVE "reject-500 .", CALL_OVER, CALL_NO_OUTCOME},
    {"a store that is away sends the caller to another node", "az", ARRIVE "reject-503 .", CALL_OVER, CALL_NO_OUTCOME},
    {"a door that is known is forwarded without the store", "ak", ARRIVE "forward-+15551112222-30 .", CALL_RINGING,
     CALL_FORWARDED},
    {"the resident opens it", "ako", ARRIVE "forward-+15551112222-30 .answer say-1G tones-9# hang-up .", CALL_ENDING,
     CALL_FORWARDED},
    {"an unknown number is refused without the store", "aK", ARRIVE "reject-404 .", CALL_OVER, CALL_REJECTED},
    {"a passcode is asked for", "aC", ASK, CALL_COLLECTING, CALL_NO_OUTCOME},
    {"four digits are a code", "aC1234", ASK "collect-2000 .collect-2000 .collect-2000 .ask-1234 .", CALL_CHECKING,
     CALL_NO_OUTCOME},
    {"# ends a code", "aC12#", ASK "collect-2000 .collect-2000 .ask-12 .", CALL_CHECKING, CALL_NO_OUTCOME},
    {"silence ends a code", "aC7t", ASK "collect-2000 .ask-7 .", CALL_CHECKING, CALL_NO_OUTCOME},
    {"# alone has no effect", "aC#", ASK ".", CALL_COLLECTING, CALL_NO_OUTCOME},
    {"* restarts the code", "aC12*34#",
     ASK "collect-2000 .collect-2000 .collect-8000 .collect-2000 .collect-2000 .ask-34 .", CALL_CHECKING,
     CALL_NO_OUTCOME},
    {"the keys A to D have no effect", "aCA", ASK ".", CALL_COLLECTING, CALL_NO_OUTCOME},
    {"digits after four are dropped", "aC12345#", ASK "collect-2000 .collect-2000 .collect-2000 .ask-1234 ...",
     CALL_CHECKING, CALL_NO_OUTCOME},
    {"# after four digits has no effect, even after the decision", "aC1234W#",
     ASK "collect-2000 .collect-2000 .collect-2000 .ask-1234 .say-2D collect-8000 ..", CALL_COLLECTING,
     CALL_NO_OUTCOME},
    {"the right code opens", "aC1#G", ASK "collect-2000 .ask-1 .say-1G tones-9# hang-up .", CALL_ENDING, CALL_RELEASED},
    {"a wrong code is denied, and another one collected", "aC1#W", ASK "collect-2000 .ask-1 .say-2D collect-8000 .",
     CALL_COLLECTING, CALL_NO_OUTCOME},
    {"the second code may be right", "aC1#W2#G",
     ASK "collect-2000 .ask-1 .say-2D collect-8000 .collect-2000 .ask-2 .say-1G tones-9# hang-up .", CALL_ENDING,
     CALL_RELEASED},
    {"the third wrong code is denied, and the call forwarded", "aC1#W2#W3#Wd",
     ASK "collect-2000 .ask-1 .say-2D collect-8000 .collect-2000 .ask-2 .say-2D collect-8000 ."
         "collect-2000 .ask-3 .ask-forwarded .say-2D say-3F forward-+15551112222-30 .",
     CALL_RINGING, CALL_FORWARDED},
    {"the code that closes the guard is denied, and the call forwarded", "aC1#Xd",
     ASK "collect-2000 .ask-1 .ask-forwarded .say-2D say-3F forward-+15551112222-30 .", CALL_RINGING, CALL_FORWARDED},
    {"a closed guard forwards without a denial", "aC1#Fd",
     ASK "collect-2000 .ask-1 .ask-forwarded .say-3F forward-+15551112222-30 .", CALL_RINGING, CALL_FORWARDED},
    {"a building that was released meanwhile forwards", "aC1#R", ASK "collect-2000 .ask-1 .ask-forwarded .",
     CALL_RECORDING, CALL_FORWARDED},
    {"silence forwards", "aCtd", ASK "ask-forwarded .say-3F forward-+15551112222-30 .", CALL_RINGING, CALL_FORWARDED},
    {"silence after a wrong code forwards", "aC1#Wtd",
     ASK "collect-2000 .ask-1 .say-2D collect-8000 .ask-forwarded .say-3F forward-+15551112222-30 .", CALL_RINGING,
     CALL_FORWARDED},
    {"silence after * forwards", "aC1*t", ASK "collect-2000 .collect-8000 .ask-forwarded .", CALL_RECORDING,
     CALL_FORWARDED},
    {"a call that nothing opens is forwarded unanswered", "aFd", ARRIVE "ask-forwarded .forward-+15551112222-30 .",
     CALL_RINGING, CALL_FORWARDED},
    {"a call that cannot be recorded is still forwarded", "aFf", ARRIVE "ask-forwarded .forward-+15551112222-30 .",
     CALL_RINGING, CALL_FORWARDED},
    {"the resident answers", "aFdy", ARRIVE "ask-forwarded .forward-+15551112222-30 ..", CALL_BRIDGED, CALL_FORWARDED},
    {"the resident does not answer", "aFdn", ARRIVE "ask-forwarded .forward-+15551112222-30 .answer say-5 hang-up .",
     CALL_ENDING, CALL_FORWARDED},
    {"the resident does not answer after a prompt", "aCtdn",
     ASK "ask-forwarded .say-3F forward-+15551112222-30 .say-5 hang-up .", CALL_ENDING, CALL_FORWARDED},
    {"the resident's phone is busy", "aFdb", ARRIVE "ask-forwarded .forward-+15551112222-30 .answer say-6 hang-up .",
     CALL_ENDING, CALL_FORWARDED},
    {"the resident opens the door instead of talking", "aFdo",
     ARRIVE "ask-forwarded .forward-+15551112222-30 .answer say-1G tones-9# hang-up .", CALL_ENDING, CALL_FORWARDED},
    {"the resident opens the door twice while talking", "aFdyoo",
     ARRIVE "ask-forwarded .forward-+15551112222-30 ..tones-9# .tones-9# .", CALL_BRIDGED, CALL_FORWARDED},
    {"the resident hangs up", "aFdye", ARRIVE "ask-forwarded .forward-+15551112222-30 ..hang-up .", CALL_ENDING,
     CALL_FORWARDED},
    {"nobody opens the door before it rings", "aoFod", ARRIVE ".ask-forwarded ..forward-+15551112222-30 .",
     CALL_RINGING, CALL_FORWARDED},
    {"a code that cannot be checked in time lets the phone ring", "aC1#f",
     ASK "collect-2000 .ask-1 .say-3F forward-+15551112222-30 .", CALL_RINGING, CALL_FORWARDED},
    {"a building that is removed during a call ends it", "aC1#q", ASK "collect-2000 .ask-1 .say-5 hang-up .",
     CALL_ENDING, CALL_NO_OUTCOME},
    {"keys before the decision have no effect", "a1234C", ARRIVE "....answer say-0W! collect-8000 .", CALL_COLLECTING,
     CALL_NO_OUTCOME},
    {"nothing follows a rejection", "aRdGt1h", ARRIVE "reject-404 ......", CALL_OVER, CALL_REJECTED},
    {"nothing follows the release", "aGdtC19f", ARRIVE "answer say-1G tones-9# hang-up .......", CALL_ENDING,
     CALL_RELEASED},
    {"nothing follows a hang-up", "aChtd1", ASK "....", CALL_OVER, CALL_NO_OUTCOME},
    {"a hang-up before the decision ends it", "ahG", ARRIVE "..", CALL_OVER, CALL_NO_OUTCOME},
    {"a hang-up while a code is checked ends it", "aC1#hG", ASK "collect-2000 .ask-1 ...", CALL_OVER, CALL_NO_OUTCOME},
    {"a hang-up while it rings ends it", "aFdhn", ARRIVE "ask-forwarded .forward-+15551112222-30 ...", CALL_OVER,
     CALL_FORWARDED},
    {"a hang-up of a bridged call ends it", "aFdyh", ARRIVE "ask-forwarded .forward-+15551112222-30 ...", CALL_OVER,
     CALL_FORWARDED},
    {"events before the arrival have no effect", "1tGfnya", "......" ARRIVE, CALL_ARRIVING, CALL_NO_OUTCOME},
    {"a second arrival has no effect", "aaCa", ARRIVE ".answer say-0W! collect-8000 ..", CALL_COLLECTING,
     CALL_NO_OUTCOME},
    {"speech that was not asked for has no effect", "aCv", ASK ".", CALL_COLLECTING, CALL_NO_OUTCOME},
};

/* CALL-7 */
static void test_every_sequence_of_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct call c;
        char *actions = play(&c, table[i].script, &all);
        if (strcmp(actions, table[i].actions) != 0)
            fail_msg("%s: %s: expected %s, got %s", table[i].what, table[i].script, table[i].actions, actions);
        if (c.state != table[i].state || c.outcome != table[i].outcome)
            fail_msg("%s: state %s, outcome %d", table[i].what, call_state_name(c.state), c.outcome);
        free(actions);
    }
}

static void expect(const char *script, const struct greetings *g, const char *actions)
{
    struct call c;
    char *got = play(&c, script, g);
    assert_string_equal(got, actions);
    free(got);
}

/* BUILDING-42 */
static void test_empty_greetings_are_not_said(void **state)
{
    (void)state;
    struct greetings quiet = {
        .welcome = "", .granted = "", .denied = "", .forwarding = "", .forward_to = "+15551112222"};
    expect("aC1#Wt", &quiet, ARRIVE "answer collect-8000 .collect-2000 .ask-1 .collect-8000 .ask-forwarded .");
    expect("aG", &quiet, ARRIVE "answer tones-9# hang-up .");
    expect("aC1#Xd", &quiet,
           ARRIVE "answer collect-8000 .collect-2000 .ask-1 .ask-forwarded .forward-+15551112222-30 .");
}

/* CALL-11 */
static void test_without_a_phone_no_call_is_forwarded(void **state)
{
    (void)state;
    struct greetings alone = all;
    alone.forward_to = NULL;
    expect("aFd", &alone, ARRIVE "ask-forwarded .answer say-5 hang-up .");
    expect("aCtd", &alone, ASK "ask-forwarded .say-3F say-5 hang-up .");
}

static void test_spoken_digits_count_only_where_the_building_allows_them(void **state)
{
    (void)state;
    struct greetings voice = all;
    voice.voice = true;
#define LISTEN ARRIVE "answer say-0W! collect-8000-speech ."
    expect("aCv", &voice, LISTEN "ask-spoken-1234 .");
    expect("aCV", &voice, LISTEN ".");
    expect("aCw", &voice, LISTEN ".");
    expect("aC1v", &voice, LISTEN "collect-2000 .."); /* the keypad comes first */
    expect("aC1*v", &voice, LISTEN "collect-2000 .collect-8000-speech .ask-spoken-1234 .");
    expect("aCvWv", &voice, LISTEN "ask-spoken-1234 .say-2D collect-8000-speech .ask-spoken-1234 .");
}

static void test_ids_are_kept(void **state)
{
    (void)state;
    struct call c;
    free(play(&c, "aG", &all));
    assert_string_equal(c.building_id.text, "0123456789abcdef01234567");
    assert_string_equal(c.grant_id.text, "aaaaaaaaaaaaaaaaaaaaaaaa");
}

static void test_the_facts_for_the_log_are_kept(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        int keys, wrong;
        bool hung_up;
    } scripts[] = {
        {"a", 0, 0, false},         {"aR", 0, 0, false},    {"ah", 0, 0, true},    {"aC12h", 2, 0, true},
        {"aC1#W2#Wh", 4, 2, true},  {"aCtdh", 0, 0, true},  {"aG", 0, 0, false},   {"aGh", 0, 0, false},
        {"aC*1234G9", 5, 0, false}, {"aFdyh", 0, 0, false}, {"aFdn", 0, 0, false}, {"aRh", 0, 0, false},
    };
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        struct call c;
        free(play(&c, scripts[i].script, &all));
        if (c.keys != scripts[i].keys || c.wrong != scripts[i].wrong || c.hung_up != scripts[i].hung_up)
            fail_msg("%s: keys=%d wrong=%d hung_up=%d", scripts[i].script, c.keys, c.wrong, c.hung_up);
    }
    struct call c;
    free(play(&c, "aF", &all));
    assert_int_equal(c.reason, ACCESS_NO_GRANT);
    free(play(&c, "aFd", &all));
    assert_int_equal(c.reason, ACCESS_NO_GRANT); /* recording does not change the reason */
    assert_int_equal(c.near_count, 1);
    assert_string_equal(c.near[0].grant_id.text, "bbbbbbbbbbbbbbbbbbbbbbbb");
    free(play(&c, "af", &all));
    assert_int_equal(c.reason, ACCESS_FAILED);
}

static void test_a_code_does_not_stay_in_memory(void **state)
{
    (void)state;
    struct call c;
    free(play(&c, "aC1234", &all));
    assert_int_equal(c.code[0] | c.code[1] | c.code[2] | c.code[3], 0);
    free(play(&c, "aC12h", &all));
    assert_int_equal(c.code[0] | c.code[1], 0);
}

static void test_the_tone_may_come_before_the_greeting(void **state)
{
    (void)state;
    struct greetings before = all;
    before.before = true;
    expect("aG", &before, ARRIVE "answer tones-9# say-1G hang-up .");
    expect("aFdo", &before, ARRIVE "ask-forwarded .forward-+15551112222-30 .answer tones-9# say-1G hang-up .");
}

static void test_a_ring_group_adds_its_phones_once(void **state)
{
    (void)state;
    struct greetings group = all, same = all, alone = all;
    struct call c;
    group.second = alone.second = "+15553334444";
    same.second = all.forward_to;
    group.accept = true;
    alone.forward_to = NULL;
    expect("aFd", &group, ARRIVE "ask-forwarded .forward-+15551112222-30+! .");
    expect("aFd", &same, ARRIVE "ask-forwarded .forward-+15551112222-30 .");
    free(play(&c, "aFd", &alone));
    assert_int_equal(c.ring.count, 1);
    assert_string_equal(c.ring.phones[0], "+15553334444");
}

/* ACCOUNT-46 */
static void test_a_phone_in_quiet_hours_rings_where_no_other_can(void **state)
{
    (void)state;
    struct greetings two = all, one = all;
    struct call c;
    two.second = one.second = "+15553334444";
    two.rests = one.rests = true;
    one.forward_to = NULL;
    free(play(&c, "aFd", &two));
    assert_int_equal(c.ring.count, 1);
    assert_int_equal(c.ring.quiet, 1);
    assert_string_equal(c.ring.phones[1], "+15553334444");
    free(play(&c, "aFd", &one)); /* this front end has no browsers */
    assert_int_equal(c.ring.count, 1);
    assert_int_equal(c.ring.quiet, 0);
    assert_string_equal(c.ring.phones[0], "+15553334444");
}

/* CALL-39 */
static void test_a_visitor_may_leave_a_message_when_nobody_answers(void **state)
{
    (void)state;
    struct greetings taking = all;
    taking.message = true;
    expect("aFdn", &taking, ARRIVE "ask-forwarded .forward-+15551112222-30 .answer say-4 message-30 hang-up .");
    expect("aFdb", &taking, ARRIVE "ask-forwarded .forward-+15551112222-30 .answer say-4 message-30 hang-up .");
    taking.forward_to = NULL;
    expect("aFd", &taking, ARRIVE "ask-forwarded .answer say-4 message-30 hang-up .");
}

/* CALL-43 */
static void test_unclear_speech_asks_for_the_keypad_and_then_only_keys_count(void **state)
{
    (void)state;
    struct greetings voice = all;
    voice.voice = true;
    expect("aCuuuv1#", &voice,
           ARRIVE "answer say-0W! collect-8000-speech .say-9! collect-8000-speech .say-9! collect-8000 ..."
                  "collect-2000 .ask-1 .");
    expect("aCu", &all, ASK ".");
}

/* CALL-45 */
static void test_unclear_speech_that_may_be_a_guess_is_counted_first(void **state)
{
    (void)state;
    struct greetings voice = all;
    voice.voice = true;
    expect("aCgWgWv1#", &voice,
           ARRIVE "answer say-0W! collect-8000-speech .ask-unclear .say-9! collect-8000-speech ."
                  "ask-unclear .say-9! collect-8000 ..collect-2000 .ask-1 .");
    expect("aCgXd", &voice,
           ARRIVE "answer say-0W! collect-8000-speech .ask-unclear .ask-forwarded .say-2D say-3F "
                  "forward-+15551112222-30 .");
    struct call c; /* speech does not count any more */
    free(play(&c, "aCv", &voice));
    struct greetings keys = all;
    struct call_actions actions;
    step(&c, 'C', &keys, &actions);
    assert_false(c.speech);
    assert_int_equal(actions.v[0].say.prompt, PROMPT_KEYPAD);
    assert_int_equal(c.state, CALL_COLLECTING);
}

/* CALL-7 */
static void test_a_code_ends_early_only_at_a_length_that_a_usable_code_has(void **state)
{
    (void)state;
    struct greetings four = all, two = all;
    four.lengths = 1 << 4;
    two.lengths = 1 << 4 | 1 << 2;
    expect("aC12t", &four, ASK "collect-8000 .collect-8000 .ask-12 .");
    expect("aC1234", &four, ASK "collect-8000 .collect-8000 .collect-8000 .ask-1234 .");
    expect("aC123", &two, ASK "collect-8000 .collect-2000 .collect-8000 .");
}

/* CALL-6 */
static void test_an_incomplete_code_is_said_and_is_no_wrong_one(void **state)
{
    (void)state;
    struct call c;
    char *got = play(&c, "aC1#I2#I3#Id", &all);
    assert_string_equal(got,
                        ASK "collect-2000 .ask-1 .say-13! collect-8000 .collect-2000 .ask-2 .say-13! collect-8000 ."
                            "collect-2000 .ask-3 .ask-forwarded .say-3F forward-+15551112222-30 .");
    free(got);
    assert_int_equal(c.wrong, 0);
}

static void test_a_long_greeting_is_cut_at_a_character_boundary(void **state)
{
    (void)state;
    char text[1024];
    for (size_t i = 0; i + 2 < sizeof text; i += 2)
        memcpy(text + i, "\xc3\xa9", 3);
    struct greetings longer = {.welcome = text, .granted = "", .denied = "", .forwarding = ""};
    struct call c;
    free(play(&c, "aC", &longer));
    assert_int_equal(strlen(call_text(&c, PROMPT_WELCOME)), 510);
    text[510] = '\0';
    assert_string_equal(call_text(&c, PROMPT_WELCOME), text);
}

static void test_a_number_that_is_too_long_is_not_rung(void **state)
{
    (void)state;
    struct greetings far = all;
    far.forward_to = "+1234567890123456789012345678901234567890";
    struct call c;
    free(play(&c, "aF", &far));
    assert_int_equal(c.ring.count, 0);
}

/* Any order of events: the actions fit, no action follows the end, and only a decision or the resident opens the door.
 */
static void test_random_sequences_break_no_rule(void **state)
{
    (void)state;
    static const char letters[] = "aRSGCWXFd0123456789*#AvVwtfynboeuhz";
    unsigned seed = 1;
    for (int round = 0; round < 20000; round++) {
        struct call c;
        struct call_actions out;
        bool over = false;
        call_init(&c);
        step(&c, 'a', &all, &out);
        for (int i = 0; i < 30; i++) {
            char letter = letters[(unsigned)rand_r(&seed) % (sizeof letters - 1)];
            step(&c, letter, &all, &out);
            for (size_t k = 0; k < out.n; k++) {
                assert_false(over);
                if (out.v[k].kind == CALL_SEND_TONES)
                    assert_true(letter == 'G' || letter == 'o');
                over = out.v[k].kind == CALL_HANG_UP || out.v[k].kind == CALL_REJECT;
            }
            assert_true(strlen(c.code) < CALL_CODE_MAX);
            assert_true(c.wrong <= CALL_ATTEMPTS);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_sequence_of_the_table),
        cmocka_unit_test(test_empty_greetings_are_not_said),
        cmocka_unit_test(test_without_a_phone_no_call_is_forwarded),
        cmocka_unit_test(test_spoken_digits_count_only_where_the_building_allows_them),
        cmocka_unit_test(test_ids_are_kept),
        cmocka_unit_test(test_the_facts_for_the_log_are_kept),
        cmocka_unit_test(test_a_code_does_not_stay_in_memory),
        cmocka_unit_test(test_the_tone_may_come_before_the_greeting),
        cmocka_unit_test(test_a_ring_group_adds_its_phones_once),
        cmocka_unit_test(test_a_phone_in_quiet_hours_rings_where_no_other_can),
        cmocka_unit_test(test_a_visitor_may_leave_a_message_when_nobody_answers),
        cmocka_unit_test(test_unclear_speech_asks_for_the_keypad_and_then_only_keys_count),
        cmocka_unit_test(test_unclear_speech_that_may_be_a_guess_is_counted_first),
        cmocka_unit_test(test_a_code_ends_early_only_at_a_length_that_a_usable_code_has),
        cmocka_unit_test(test_an_incomplete_code_is_said_and_is_no_wrong_one),
        cmocka_unit_test(test_a_long_greeting_is_cut_at_a_character_boundary),
        cmocka_unit_test(test_a_number_that_is_too_long_is_not_rung),
        cmocka_unit_test(test_random_sequences_break_no_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
