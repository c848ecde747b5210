/* TwiML: escaping, the release tone as <Play digits>, and each verb of a document. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/crypto.h"
#include "twiml/document.h"

#define BEGIN "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Response>"
#define END   "</Response>"
#define SID   "CA0123456789abcdef0123456789abcdef"
#define SAY   "<Say language=\"en-US\">"

static const struct config config = {
    .top_public_url = "https://door.example", .twilio_language = "en-US", .twilio_voice = ""};

static void expect(struct buf *b, const char *want)
{
    assert_false(b->full);
    buf_char(b, '\0');
    assert_string_equal(b->p, want);
    buf_done(b);
}

static void expect_escaped(const char *text, const char *want)
{
    struct buf b = BUF(1000);
    twiml_escape(str_z(text), &b);
    expect(&b, want);
}

static void test_text_is_escaped_and_has_only_characters_of_xml(void **state)
{
    (void)state;
    expect_escaped("a<b>&\"c\"'d'", "a&lt;b&gt;&amp;&quot;c&quot;'d'");
    expect_escaped("\xc3\xa9\xf0\x9f\x94\x94", "\xc3\xa9\xf0\x9f\x94\x94");
    expect_escaped("a\x01\x1f\n\x7f.", "a    .");
    expect_escaped("a\xef\xbf\xbf.\xef\xbf\xbe\xef\xbf\xbd\xef\xbf", "a . \xef\xbf\xbd\xef\xbf");
}

static void expect_digits(const char *keys, struct release form, bool first, const char *want)
{
    struct buf b = BUF(1000);
    twiml_digits(keys, &form, first, &b);
    expect(&b, want);
}

static void test_a_pause_of_the_release_tone_is_made_of_half_seconds(void **state)
{
    (void)state;
    const struct release usual = {.gap_ms = 400, .repeat = 1};
    expect_digits("9", usual, false, "9");
    expect_digits("9", usual, true, "w9");
    expect_digits("*9#", usual, false, "*w9w#");
    expect_digits("9#", (struct release){.gap_ms = 200, .repeat = 1}, false, "9#");
    expect_digits("9#", (struct release){.gap_ms = 1000, .delay_ms = 1500, .repeat = 2}, true, "www9ww#ww9ww#");
}

static struct twiml_session session(void)
{
    struct twiml_session s;
    twiml_session_init(&s, STR(SID), STR("+15550001111"), STR("+15550100000"), 0);
    s.step = 2;
    return s;
}

static void expect_document(const struct twiml_session *s, const struct call_actions *actions, const char *want)
{
    struct buf b = BUF(4000);
    twiml_visitor(&config, s, actions, false, &b);
    expect(&b, want);
}

static void test_a_code_is_asked_for_during_the_greeting(void **state)
{
    (void)state;
    struct twiml_session s = session();
    struct call_actions a = {.n = 3};
    a.v[0].kind = CALL_ANSWER;
    a.v[1] = (struct call_action){.kind = CALL_SAY,
                                  .say = {.prompt = PROMPT_WELCOME, .text = "W & B", .interruptible = true}};
    a.v[2] = (struct call_action){.kind = CALL_COLLECT, .collect = {8000, false}};
    expect_document(&s, &a,
                    BEGIN "<Gather input=\"dtmf\" numDigits=\"4\" finishOnKey=\"#\" timeout=\"8\" "
                          "action=\"/hooks/twilio/voice?step=2\" method=\"POST\" actionOnEmptyResult=\"true\">" SAY
                          "W &amp; B</Say></Gather>" END);
    memcpy(s.call.code, "1", 2);
    a.v[1].say.interruptible = false;
    a.v[2].collect.wait_ms = 2000;
    expect_document(&s, &a,
                    BEGIN SAY "W &amp; B</Say><Gather input=\"dtmf\" numDigits=\"3\" finishOnKey=\"#\" timeout=\"2\" "
                              "action=\"/hooks/twilio/voice?step=2\" method=\"POST\" "
                              "actionOnEmptyResult=\"true\"></Gather>" END);
}

static void test_the_tone_comes_before_or_after_the_greeting(void **state)
{
    (void)state;
    struct twiml_session s = session();
    struct call_action tones = {.kind = CALL_SEND_TONES, .tones = {"9", {.repeat = 1}}};
    struct call_action say = {.kind = CALL_SAY, .say = {.prompt = PROMPT_GRANTED, .text = "G", .interruptible = false}};
    struct call_action end = {.kind = CALL_HANG_UP};
    expect_document(&s, &(struct call_actions){{say, tones, end}, 3},
                    BEGIN SAY "G</Say><Play digits=\"9\"/><Hangup/>" END);
    expect_document(&s, &(struct call_actions){{tones, say, end}, 3},
                    BEGIN "<Play digits=\"w9\"/>" SAY "G</Say><Hangup/>" END);
}

static void test_phones_ring_at_once_or_one_after_the_other(void **state)
{
    (void)state;
    struct twiml_session s = session();
    struct call_ring *ring = &s.call.ring;
    memcpy(ring->phones[0], "+15551110001", 13);
    memcpy(ring->phones[1], "+15551110002", 13);
    ring->count = 2;
    ring->seconds = 25;
    s.phone = 1;
    const struct call_action forward = {.kind = CALL_FORWARD, .forward = ring};
    const struct call_actions a = {{forward}, 1};
#define DIAL                                                                                                           \
    "<Dial action=\"/hooks/twilio/voice?step=2\" method=\"POST\" answerOnBridge=\"true\" timeout=\"25\" "              \
    "timeLimit=\"7200\" callerId=\"+15550100000\">"
#define NUMBER(n, phone)                                                                                               \
    "<Number url=\"/hooks/twilio/resident?call=" SID "&amp;phone=" n "\" method=\"POST\">" phone "</Number>"
    ring->strategy = RING_ALL;
    expect_document(&s, &a, BEGIN DIAL NUMBER("0", "+15551110001") NUMBER("1", "+15551110002") "</Dial>" END);
    ring->strategy = RING_ORDER;
    expect_document(&s, &a, BEGIN DIAL NUMBER("1", "+15551110002") "</Dial>" END);
}

static void test_a_recorded_greeting_is_played_from_a_signed_address(void **state)
{
    (void)state;
    struct twiml_session s = session();
    struct id recording;
    crypto_set_master((const unsigned char[SHA256_LEN]){1}, NULL);
    assert_true(id_parse(STR("0123456789abcdef01234567"), &recording));
    struct call_action say = {
        .kind = CALL_SAY,
        .say = {.prompt = PROMPT_WELCOME, .text = "W", .recording = &recording, .interruptible = true}};
    const struct call_action collect = {.kind = CALL_COLLECT, .collect = {8000, false}};
#define PLAY                                                                                                           \
    "<Play>https://door.example/hooks/twilio/greeting/0123456789abcdef01234567?until=172800&amp;"                      \
    "mac=ed8c091d5af26f398c5288ea23bed547"                                                                             \
    "</Play>"
    expect_document(&s, &(struct call_actions){{say, collect}, 2},
                    BEGIN "<Gather input=\"dtmf\" numDigits=\"4\" finishOnKey=\"#\" timeout=\"8\" "
                          "action=\"/hooks/twilio/voice?step=2\" method=\"POST\" actionOnEmptyResult=\"true\">" PLAY
                          "</Gather>" END);
    say.say.interruptible = false;
    expect_document(&s, &(struct call_actions){{say}, 1}, BEGIN PLAY END);
}

static void test_a_message_is_recorded_and_silence_goes_on(void **state)
{
    (void)state;
    struct twiml_session s = session();
    const struct call_action say = {.kind = CALL_SAY, .say = {.prompt = PROMPT_MESSAGE, .text = "M"}},
                             take = {.kind = CALL_TAKE_MESSAGE, .max_s = 30}, end = {.kind = CALL_HANG_UP};
    expect_document(&s, &(struct call_actions){{say, take, end}, 3},
                    BEGIN SAY
                    "M</Say><Record maxLength=\"30\" timeout=\"5\" playBeep=\"true\" trim=\"do-not-trim\" "
                    "finishOnKey=\"1234567890*#\" action=\"/hooks/twilio/voice?step=2\" method=\"POST\" "
                    "recordingStatusCallback=\"/hooks/twilio/recording\" recordingStatusCallbackMethod=\"POST\"/>"
                    "<Redirect method=\"POST\">/hooks/twilio/voice?step=2</Redirect>" END);
}

#define ROOM                                                                                                           \
    "<Conference beep=\"false\" waitUrl=\"\" startConferenceOnEnter=\"true\" endConferenceOnExit=\"true\" "            \
    "maxParticipants=\"2\">" SID "</Conference></Dial>"

static void test_visitor_and_resident_meet_in_one_conference(void **state)
{
    (void)state;
    struct twiml_session s = session();
    struct buf b = BUF(4000);
    s.rounds = 3;
    twiml_visitor(&config, &s, &(struct call_actions){.n = 0}, true, &b);
    expect(&b, BEGIN "<Dial action=\"/hooks/twilio/voice?step=2\" method=\"POST\" timeLimit=\"7200\">" ROOM END);
    b = BUF(4000);
    twiml_resident_join(&s, &b);
    expect(&b, BEGIN "<Dial action=\"/hooks/twilio/resident?call=" SID "&amp;answer=3&amp;round=3\" method=\"POST\" "
                     "hangupOnStar=\"true\" timeLimit=\"7200\">" ROOM END);
    b = BUF(4000);
    twiml_wait(&s, &b);
    expect(&b, BEGIN "<Pause length=\"1\"/><Redirect method=\"POST\">/hooks/twilio/voice?step=2</Redirect>" END);
}

static void test_a_resident_who_left_the_room_is_asked_once_echoes_are_over(void **state)
{
    (void)state;
    struct twiml_session s = session();
    struct buf b = BUF(4000);
    s.rounds = 3;
    twiml_resident_ask(&config, &s, &b);
    expect(&b, BEGIN "<Pause length=\"1\"/><Gather input=\"dtmf\" numDigits=\"1\" finishOnKey=\"\" timeout=\"5\" "
                     "action=\"/hooks/twilio/resident?call=" SID "&amp;answer=4&amp;round=3\" method=\"POST\" "
                     "actionOnEmptyResult=\"true\">" SAY
                     "Press 9 to open the door, or star to hang up.</Say></Gather>" END);
}

static void test_a_call_that_is_refused_is_not_answered(void **state)
{
    (void)state;
    struct twiml_session s = session();
    const struct call_action unknown = {.kind = CALL_REJECT, .status = 404},
                             failed = {.kind = CALL_REJECT, .status = 500};
    expect_document(&s, &(struct call_actions){{unknown}, 1}, BEGIN "<Reject reason=\"rejected\"/>" END);
    expect_document(&s, &(struct call_actions){{failed}, 1}, BEGIN "<Reject reason=\"busy\"/>" END);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_escaped_and_has_only_characters_of_xml),
        cmocka_unit_test(test_a_pause_of_the_release_tone_is_made_of_half_seconds),
        cmocka_unit_test(test_a_code_is_asked_for_during_the_greeting),
        cmocka_unit_test(test_the_tone_comes_before_or_after_the_greeting),
        cmocka_unit_test(test_phones_ring_at_once_or_one_after_the_other),
        cmocka_unit_test(test_a_recorded_greeting_is_played_from_a_signed_address),
        cmocka_unit_test(test_a_message_is_recorded_and_silence_goes_on),
        cmocka_unit_test(test_visitor_and_resident_meet_in_one_conference),
        cmocka_unit_test(test_a_resident_who_left_the_room_is_asked_once_echoes_are_over),
        cmocka_unit_test(test_a_call_that_is_refused_is_not_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
