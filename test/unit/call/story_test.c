/* The story of a call: its steps, and its bounds. */
#include "call/story_task.h"

#include "base/clock.h"
#include "domain/feed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#define BUILDING "0123456789abcdef01234567"
#define GRANT    "aaaaaaaaaaaaaaaaaaaaaaaa"

/* ---- in place of domain/call_record.c ---- */

static char steps_written[CALL_RECORD_STEPS_MAX];
static int records, begun;
static enum call_record_outcome outcome_written;

enum err call_record_write(struct tx *tx, const struct call_arrival *arrival, const struct call_end *end)
{
    (void)tx;
    (void)arrival;
    if (!end->ended_us) {
        begun++;
        return ERR_NONE;
    }
    outcome_written = end->outcome;
    (void)snprintf(steps_written, sizeof steps_written, "%.*s", STR_ARG(end->steps));
    records++;
    return ERR_NONE;
}

enum err call_record_get(struct tx *tx, const struct id *building, const struct id *id, struct recorded_call *ret)
{
    (void)tx, (void)building, (void)id, (void)ret;
    return begun ? ERR_NONE : ERR_NOT_FOUND;
}

/* ---- in place of domain/access.c ---- */

static int entries;
static int64_t entry_us;

enum err access_forwarded_late(struct tx *tx, const struct id *building, int64_t at_us, struct access_decision *ret)
{
    (void)tx;
    entries++;
    entry_us = at_us;
    *ret = (struct access_decision){.verdict = ACCESS_FORWARD, .building_id = *building};
    return ERR_NONE;
}

/* ---- in place of domain/feed_call.c ---- */

static char steps_fed[CALL_RECORD_STEPS_MAX];

enum err feed_steps(struct tx *tx, const struct call_arrival *call, const struct id *building, struct str steps)
{
    (void)tx;
    (void)call;
    assert_string_equal(building->text, BUILDING);
    (void)snprintf(steps_fed, sizeof steps_fed, "%.*s", STR_ARG(steps));
    return ERR_NONE;
}

static char decisions_fed[100];

enum err feed_decided(struct tx *tx, const struct call_arrival *call, enum feed_decision what,
                      const struct access_decision *d, enum access_reason reason)
{
    const size_t n = strlen(decisions_fed);
    assert_string_equal(d->building_id.text, BUILDING);
    (void)snprintf(decisions_fed + n, sizeof decisions_fed - n, "%lld %s %s\n",
                   (long long)(tx->now_us - call->started_us) / 1000, what == FEED_ARRIVAL ? "ring" : "forwarded",
                   access_reason_names[reason]);
    return ERR_NONE;
}

bool feed_tells(struct str steps)
{
    return steps.n > 0;
}

enum err feed_ended(struct tx *tx, const struct call_arrival *call, const struct call_end *end)
{
    (void)tx;
    (void)call;
    assert_true(end->ended_us != 0);
    return ERR_NONE;
}

/* ---- in place of the store, and of time ---- */

static struct store_task *submitted;
static int64_t monotonic_us = US_PER_S;

void store_submit(struct store *s, struct store_task *task)
{
    (void)s;
    assert_null(submitted);
    submitted = task;
}

int64_t __wrap_clock_monotonic_us(void);
int64_t __wrap_clock_monotonic_us(void)
{
    return monotonic_us;
}

/* The store takes the write, or fails. Returns false if there is no write. */
static bool store_answers(bool writes)
{
    struct store_task *task = submitted;
    submitted = NULL;
    if (!task)
        return false;
    task->done(task, writes ? task->run(task, NULL) : ERR_SERVICE_UNAVAILABLE);
    return true;
}

/* ---- a front end ---- */

static void begin(struct story *s)
{
    story_begin(s, CALL_FRONT_WEBHOOK, "twilio", "+15550100000", "+15551112222");
}

/* Drives the machine and the story with one event. */
static void step(struct story *s, struct call *c, int64_t at_ms, struct call_event e)
{
    struct call_actions actions;
    call_step(c, &e, &actions);
    story_event(s, at_ms, c, &e);
    for (size_t i = 0; i < actions.n; i++)
        story_action(s, at_ms, &actions.v[i]);
}

static void decided(struct story *s, struct call *c, int64_t at_ms, const struct access_decision *d)
{
    step(s, c, at_ms, (struct call_event){.kind = CALL_DECIDED, .decision = d});
}

static struct access_decision decision(enum access_verdict verdict, enum access_reason reason)
{
    return (struct access_decision){.verdict = verdict,
                                    .reason = reason,
                                    .account_id = {BUILDING},
                                    .building_id = {BUILDING},
                                    .grant_id = {GRANT},
                                    .tones = "9",
                                    .greeting_welcome = STR("Hello"),
                                    .greeting_denied = STR("No"),
                                    .forward_to = STR("+15557654321"),
                                    .ring = {.seconds = 30}};
}

/* The steps as they would be written. */
static const char *written(struct story *s, int64_t at_ms)
{
    struct tx tx = {.db = NULL};
    records = 0;
    assert_int_equal(story_write(&tx, s, at_ms), ERR_NONE);
    return steps_written;
}

static void type(struct story *s, struct call *c, int64_t at_ms, const char *keys, const char *way)
{
    for (; *keys; keys++)
        step(s, c, at_ms, (struct call_event){.kind = CALL_DIGIT, .digit = *keys, .way = way});
}

/* CALL-15 */
static void test_a_story_tells_every_step_but_no_digit(void **state)
{
    (void)state;
    struct story s;
    struct call c;
    begin(&s);
    call_init(&c);
    step(&s, &c, 0, (struct call_event){.kind = CALL_ARRIVED, .hears = true});
    struct access_decision collect = decision(ACCESS_COLLECT, ACCESS_NO_CODE);
    collect.grant_id.text[0] = '\0';
    decided(&s, &c, 3, &collect);
    type(&s, &c, 900, "77", "tone");
    step(&s, &c, 2900, (struct call_event){.kind = CALL_TIMEOUT});
    struct access_decision wrong = decision(ACCESS_WRONG, ACCESS_WRONG_CODE);
    decided(&s, &c, 2904, &wrong);
    type(&s, &c, 4000, "5678", "event");
    struct access_decision right = decision(ACCESS_RELEASE, ACCESS_PASSCODE);
    s.tone_way = "event";
    decided(&s, &c, 4006, &right);
    step(&s, &c, 5000, (struct call_event){.kind = CALL_HUNG_UP});
    assert_string_equal(written(&s, 5000), "0 arrived\n"
                                           "3 asked_code\n3 answered\n3 said welcome\n"
                                           "900 key tone\n900 key tone\n"
                                           "2904 code_wrong wrong_code\n2904 said denied\n"
                                           "4000 key event\n4000 key event\n4000 key event\n4000 key event\n"
                                           "4006 released passcode " GRANT "\n4006 tone_sent event\n"
                                           "5000 ended service\n");
    assert_int_equal(s.end.outcome, CALL_RECORD_RELEASED);
    assert_string_equal(s.end.building_id.text, BUILDING);
}

static void test_a_story_tells_who_rang_and_what_the_resident_did(void **state)
{
    (void)state;
    struct story s;
    struct call c;
    begin(&s);
    call_init(&c);
    step(&s, &c, 0, (struct call_event){.kind = CALL_ARRIVED, .hears = true});
    struct access_decision forward = decision(ACCESS_FORWARD, ACCESS_NO_GRANT);
    forward.grant_id.text[0] = '\0';
    decided(&s, &c, 1, &forward);
    forward.near[0] = (struct access_near){.grant_id = {GRANT}, .why = NEAR_EXPIRED};
    forward.near_count = 1;
    decided(&s, &c, 2, &forward);
    story_note(&s, 3, CALL_STEP_RINGING, NULL, "+15557654321");
    story_note(&s, 4, CALL_STEP_LEG_FAILED, "503", "12");
    step(&s, &c, 9000, (struct call_event){.kind = CALL_FORWARD_ANSWERED});
    step(&s, &c, 9500, (struct call_event){.kind = CALL_FORWARD_OPEN});
    step(&s, &c, 9900, (struct call_event){.kind = CALL_FORWARD_ENDED});
    assert_string_equal(written(&s, 9900), "0 arrived\n1 forwarded no_grant\n2 not_usable expired " GRANT "\n"
                                           "3 ringing - ...4321\n4 leg_failed 503 ...12\n9000 connected\n"
                                           "9500 resident_opened\n9500 tone_sent\n9900 ended resident\n");
    assert_true(s.end.resident_opened);
}

static void test_a_story_of_many_keys_stays_bounded_and_keeps_the_decision(void **state)
{
    (void)state;
    struct story s;
    struct call c;
    begin(&s);
    call_init(&c);
    step(&s, &c, 0, (struct call_event){.kind = CALL_ARRIVED, .hears = true});
    struct access_decision collect = decision(ACCESS_COLLECT, ACCESS_NO_CODE);
    decided(&s, &c, 1, &collect);
    for (int i = 0; i < 5000; i++)
        type(&s, &c, 100000 + i, "*", "event");
    type(&s, &c, 200000, "1234", "event");
    struct access_decision right = decision(ACCESS_RELEASE, ACCESS_PASSCODE);
    decided(&s, &c, 200001, &right);
    const char *steps = written(&s, 200002);
    assert_true(strlen(steps) < CALL_RECORD_STEPS_MAX);
    assert_non_null(strstr(steps, "released passcode " GRANT "\n"));
    assert_non_null(strstr(steps, "omitted "));
    assert_non_null(strstr(steps, "200002 ended "));
    for (int i = 0; i < 1000; i++) /* not even other steps without end */
        story_note(&s, 200003, CALL_STEP_RINGING, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "+15557654321");
    steps = written(&s, 200004);
    assert_true(strlen(steps) < CALL_RECORD_STEPS_MAX);
    assert_non_null(strstr(steps, "200004 ended "));
}

/* CALL-16 */
static void test_calls_of_the_owner_and_to_unknown_numbers_leave_no_record(void **state)
{
    (void)state;
    static const struct {
        enum access_verdict verdict;
        int wanted;
    } table[] = {
        {ACCESS_REJECT, 0}, {ACCESS_SELF_CALL, 0}, {ACCESS_COLLECT, 1}, {ACCESS_RELEASE, 1}, {ACCESS_FORWARD, 1}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct story s;
        struct call c;
        struct access_decision d = decision(table[i].verdict, ACCESS_NO_GRANT);
        begin(&s);
        call_init(&c);
        step(&s, &c, 0, (struct call_event){.kind = CALL_ARRIVED, .hears = true});
        decided(&s, &c, 1, &d);
        (void)written(&s, 2);
        assert_int_equal(records, table[i].wanted);
        begin(&s); /* the same after the caller has hung up */
        story_late(&s, 1, &d);
        (void)written(&s, 2);
        assert_int_equal(records, table[i].wanted);
    }
}

/* A call with one step of each phone, and then nobody who talks to the visitor. */
static enum call_record_outcome outcome_of(enum call_front front, const struct call_step *legs, size_t n)
{
    struct story s;
    struct call c;
    story_begin(&s, front, "udp:127.0.0.1:5060", "+15550100000", "+15551112222");
    call_init(&c);
    step(&s, &c, 0, (struct call_event){.kind = CALL_ARRIVED});
    const struct access_decision forward = decision(ACCESS_FORWARD, ACCESS_NO_GRANT);
    decided(&s, &c, 1, &forward);
    decided(&s, &c, 2, &forward);
    for (size_t i = 0; i < n; i++)
        story_note(&s, 3, legs[i].kind, legs[i].text.p, "+15557654321");
    step(&s, &c, 4, (struct call_event){.kind = CALL_FORWARD_FAILED, .failure = CALL_UNREACHABLE});
    (void)written(&s, 5);
    assert_int_equal(s.end.outcome, CALL_RECORD_FORWARDED); /* a saved call has it */
    return outcome_written;
}

#define LEGS(...)                                                                                                      \
    (const struct call_step[]){__VA_ARGS__}, sizeof((const struct call_step[]){__VA_ARGS__}) / sizeof(struct call_step)
#define LEG(name, word)                                                                                                \
    {                                                                                                                  \
        .kind = CALL_STEP_##name, .text = {.p = (word) }                                                               \
    }

/* CALL-19 */
static void test_a_call_is_unreachable_if_no_phone_rang(void **state)
{
    (void)state;
    const struct {
        enum call_front front;
        const struct call_step *legs;
        size_t n;
        enum call_record_outcome wanted;
    } table[] = {
        {CALL_FRONT_SIP, LEGS(LEG(LEG_FAILED, "404")), CALL_RECORD_UNREACHABLE},
        {CALL_FRONT_SIP, LEGS(LEG(LEG_NO_ANSWER, "480")), CALL_RECORD_UNREACHABLE},
        {CALL_FRONT_SIP, LEGS(LEG(LEG_FAILED, NULL), LEG(LEG_FAILED, "503")), CALL_RECORD_UNREACHABLE},
        {CALL_FRONT_SIP, LEGS(LEG(LEG_FAILED, "404"), LEG(LEG_NO_ANSWER, NULL)), CALL_RECORD_FORWARDED},
        {CALL_FRONT_SIP, LEGS(LEG(RINGING, NULL), LEG(LEG_NO_ANSWER, "480")), CALL_RECORD_FORWARDED},
        {CALL_FRONT_SIP, LEGS(LEG(RINGING, NULL), LEG(LEG_FAILED, "500")), CALL_RECORD_FORWARDED},
        {CALL_FRONT_SIP, LEGS(LEG(LEG_FAILED, "404"), LEG(LEG_BUSY, "486")), CALL_RECORD_FORWARDED},
        {CALL_FRONT_SIP, LEGS(LEG(LEG_DECLINED, "603"), LEG(LEG_FAILED, "404")), CALL_RECORD_FORWARDED},
        {CALL_FRONT_SIP, LEGS(LEG(LEG_ANSWERED, NULL), LEG(LEG_FAILED, NULL)), CALL_RECORD_FORWARDED},
        {CALL_FRONT_WEBHOOK, LEGS(LEG(RINGING, NULL), LEG(LEG_FAILED, NULL)), CALL_RECORD_UNREACHABLE},
        {CALL_FRONT_WEBHOOK, LEGS(LEG(RINGING, NULL), LEG(LEG_NO_ANSWER, NULL)), CALL_RECORD_FORWARDED},
        {CALL_FRONT_WEBHOOK, LEGS(LEG(LEG_BUSY, NULL), LEG(RINGING, NULL), LEG(LEG_FAILED, NULL)),
         CALL_RECORD_FORWARDED},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(outcome_of(table[i].front, table[i].legs, table[i].n), table[i].wanted);
}

static void test_an_extension_is_recorded_as_dialled(void **state)
{
    (void)state;
    static const struct {
        const char *to, *wanted;
    } table[] = {
        {"+15550100000", "+15550100000"}, {"+4711", "4711"}, {"+0123456", "0123456"}, {"4711", "4711"}, {"", ""}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct story s;
        story_begin(&s, CALL_FRONT_SIP, "udp:127.0.0.1:5060", table[i].to, "");
        assert_string_equal(s.arrival.dialled, table[i].wanted);
    }
}

/* ---- the store is away ---- */

static const struct config config;

/* A call that was forwarded from memory: the store fails at the time `at_ms`. */
static void forward_from_memory(struct story *s, struct call *c, int64_t at_ms)
{
    struct access_decision known = decision(ACCESS_FORWARD, ACCESS_FAILED);
    known.grant_id.text[0] = '\0';
    entries = begun = records = 0;
    decisions_fed[0] = '\0';
    begin(s);
    call_init(c);
    step(s, c, 0, (struct call_event){.kind = CALL_ARRIVED});
    step(s, c, at_ms, (struct call_event){.kind = CALL_FAILED, .decision = &known});
    story_live(s, NULL, &config);
}

/* CALL-10 */
static void test_a_call_forwarded_from_memory_is_logged_once_when_the_store_is_back(void **state)
{
    (void)state;
    struct story s;
    struct call c;
    forward_from_memory(&s, &c, 70);
    step(&s, &c, 900, (struct call_event){.kind = CALL_FORWARD_ANSWERED});
    story_live(&s, NULL, &config); /* waits for the first write */
    step(&s, &c, 5000, (struct call_event){.kind = CALL_HUNG_UP});
    story_submit(&s, 5000, NULL, &config);
    for (int seconds = 0; seconds < 30 * 60; seconds++) { /* away for half an hour */
        monotonic_us += US_PER_S;
        (void)store_answers(false);
        story_repeat(false);
    }
    assert_int_equal(entries, 0);
    (void)store_answers(false);
    story_repeat(true);
    while (store_answers(true))
        ;
    assert_int_equal(entries, 1);
    assert_int_equal(entry_us, s.arrival.started_us + 70000);
    assert_string_equal(decisions_fed, "0 ring error\n70 forwarded error\n");
    assert_int_equal(begun, 1);
    assert_int_equal(records, 1);
    assert_non_null(strstr(steps_written, "5000 ended caller\n"));
}

static void test_a_forwarding_whose_answer_was_lost_is_logged_no_second_time(void **state)
{
    (void)state;
    struct story s;
    struct call c;
    forward_from_memory(&s, &c, 70);
    begun = 1; /* the record began with the decision */
    story_drop(&s);
    while (store_answers(true))
        ;
    assert_int_equal(entries, 0);
    assert_string_equal(decisions_fed, "");
}

static void test_only_the_forwarding_is_logged_if_the_arrival_was_decided(void **state)
{
    (void)state;
    struct story s;
    struct call c;
    struct access_decision forward = decision(ACCESS_FORWARD, ACCESS_NO_GRANT);
    forward.grant_id.text[0] = '\0';
    entries = begun = 0;
    decisions_fed[0] = '\0';
    begin(&s);
    call_init(&c);
    step(&s, &c, 0, (struct call_event){.kind = CALL_ARRIVED});
    decided(&s, &c, 3, &forward);
    step(&s, &c, 5003, (struct call_event){.kind = CALL_FAILED});
    story_live(&s, NULL, &config);
    story_drop(&s);
    while (store_answers(true))
        ;
    assert_int_equal(entries, 1);
    assert_string_equal(decisions_fed, "5003 forwarded no_grant\n");
}

/* Standard error since lost_begin(). */
static int lost_begin(FILE **ret)
{
    const int before = dup(STDERR_FILENO);
    *ret = tmpfile();
    assert_non_null(*ret);
    (void)fflush(stderr);
    assert_true(dup2(fileno(*ret), STDERR_FILENO) >= 0);
    return before;
}

static void lost_end(int before, FILE *file, char *ret, size_t size)
{
    (void)fflush(stderr);
    assert_true(dup2(before, STDERR_FILENO) >= 0);
    close(before);
    rewind(file);
    ret[fread(ret, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void test_a_record_that_is_lost_is_a_line_with_all_facts(void **state)
{
    (void)state;
    struct story s;
    struct call c;
    char text[4096];
    FILE *file;
    const int before = lost_begin(&file);
    forward_from_memory(&s, &c, 70);
    step(&s, &c, 5000, (struct call_event){.kind = CALL_HUNG_UP});
    story_submit(&s, 5000, NULL, &config);
    const int64_t began_us = monotonic_us;
    while (submitted && monotonic_us - began_us < 2 * 3600 * US_PER_S) {
        (void)store_answers(false);
        monotonic_us += 10 * US_PER_S;
        story_repeat(false);
    }
    assert_true(monotonic_us - began_us >= 1800 * US_PER_S);
    while (store_answers(false)) /* the last one was not submitted before the first was given up */
        ;
    story_stop();
    lost_end(before, file, text, sizeof text);
    const char *line = strstr(text, "lasted_ms=5000");
    assert_non_null(line);
    assert_non_null(strstr(text, "call record not written call="));
    assert_non_null(strstr(text, s.arrival.id.text));
    assert_non_null(strstr(text, "building=" BUILDING " number=+15550100000 caller=+15551112222 source=twilio"));
    assert_non_null(
        strstr(line, "outcome=forwarded reason=error grant= resident_opened=0 steps=\"0 arrived;70 failed"));
    assert_int_equal(entries, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_story_tells_every_step_but_no_digit),
        cmocka_unit_test(test_a_story_tells_who_rang_and_what_the_resident_did),
        cmocka_unit_test(test_a_story_of_many_keys_stays_bounded_and_keeps_the_decision),
        cmocka_unit_test(test_calls_of_the_owner_and_to_unknown_numbers_leave_no_record),
        cmocka_unit_test(test_a_call_is_unreachable_if_no_phone_rang),
        cmocka_unit_test(test_an_extension_is_recorded_as_dialled),
        cmocka_unit_test(test_a_call_forwarded_from_memory_is_logged_once_when_the_store_is_back),
        cmocka_unit_test(test_a_forwarding_whose_answer_was_lost_is_logged_no_second_time),
        cmocka_unit_test(test_only_the_forwarding_is_logged_if_the_arrival_was_decided),
        cmocka_unit_test(test_a_record_that_is_lost_is_a_line_with_all_facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
