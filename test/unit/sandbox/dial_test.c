#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sandbox/dial.h"

/* A domain that answers from a script: the decision at the start of the call, and the one valid code. */
struct domain {
    enum access_verdict on_arrival;
    const char *opens; /* NULL: no valid code */
    bool voice;
    const char *resident;
    char asked[8][CALL_CODE_MAX + 1]; /* codes tried */
    size_t asked_count;
    struct access_decision decision;
};

static struct call_event ask(void *arg, const struct call *c, const struct call_action *action)
{
    struct domain *d = arg;
    (void)c;
    d->decision = (struct access_decision){
        .verdict = d->on_arrival,
        .building_id = {"65f000000000000000000001"},
        .tones = "9",
        .greeting_welcome = STR("welcome"),
        .greeting_granted = STR("granted"),
        .greeting_denied = STR("denied"),
        .greeting_forwarding = STR("forwarding"),
        .greeting_message = STR("message"),
        .forward_to = str_z(d->resident),
        .voice = d->voice,
        .lengths = 0x1e,
    };
    if (action->kind == CALL_ASK_CODE) {
        memcpy(d->asked[d->asked_count++], action->ask.code, sizeof action->ask.code);
        bool right = d->opens && !strcmp(action->ask.code, d->opens);
        d->decision.verdict = right ? ACCESS_RELEASE : ACCESS_WRONG;
    }
    if (d->decision.verdict == ACCESS_RELEASE)
        d->decision.grant_id = (struct id){"65f000000000000000000002"};
    return (struct call_event){.kind = CALL_DECIDED, .decision = &d->decision};
}

static void run(struct dial *dial, struct domain *domain)
{
    dial->ask = ask;
    dial->arg = domain;
    dial_run(dial);
}

static void assert_said(const struct dial *d, size_t n, const char *const *texts)
{
    assert_int_equal(d->said_count, n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(d->said[i], texts[i]);
}
#define ASSERT_SAID(d, ...)                                                                                            \
    assert_said((d), sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), (const char *const[]){__VA_ARGS__})

static void a_timer_opens_without_a_code(void **state)
{
    (void)state;
    struct domain domain = {.on_arrival = ACCESS_RELEASE};
    struct dial dial = {.digits = STR("1234")};
    run(&dial, &domain);
    assert_int_equal(dial.call.outcome, CALL_RELEASED);
    assert_string_equal(dial.tones, "9");
    assert_string_equal(dial.call.grant_id.text, "65f000000000000000000002");
    ASSERT_SAID(&dial, "granted");
    assert_int_equal(domain.asked_count, 0);
    assert_int_equal(dial.silence_ms, 0);
}

static void the_valid_code_opens(void **state)
{
    (void)state;
    struct domain domain = {.on_arrival = ACCESS_COLLECT, .opens = "1234"};
    struct dial dial = {.digits = STR("1234")};
    run(&dial, &domain);
    assert_int_equal(dial.call.outcome, CALL_RELEASED);
    assert_string_equal(dial.tones, "9");
    ASSERT_SAID(&dial, "welcome", "granted");
    assert_int_equal(dial.silence_ms, 0);
}

static void several_codes_may_follow_each_other_with_or_without_a_hash(void **state)
{
    (void)state;
    const struct str ways[] = {STR("11112222"), STR("1111#2222"), STR("1111#2222#")};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct domain domain = {.on_arrival = ACCESS_COLLECT, .opens = "2222"};
        struct dial dial = {.digits = ways[i]};
        run(&dial, &domain);
        assert_int_equal(dial.call.outcome, CALL_RELEASED);
        assert_int_equal(domain.asked_count, 2);
        assert_string_equal(domain.asked[0], "1111");
        ASSERT_SAID(&dial, "welcome", "denied", "granted");
    }
}

static void a_short_code_ends_by_hash_or_by_silence(void **state)
{
    (void)state;
    struct domain domain = {.on_arrival = ACCESS_COLLECT, .opens = "42"};
    struct dial hashed = {.digits = STR("42#")}, silent = {.digits = STR("42")};
    run(&hashed, &domain);
    assert_int_equal(hashed.call.outcome, CALL_RELEASED);
    assert_int_equal(hashed.silence_ms, 0);
    run(&silent, &domain);
    assert_int_equal(silent.call.outcome, CALL_RELEASED);
    assert_int_equal(silent.silence_ms, CALL_NEXT_WAIT_MS);
}

static void three_wrong_codes_ring_the_resident(void **state)
{
    (void)state;
    struct domain domain = {.on_arrival = ACCESS_COLLECT, .resident = "+15551234567"};
    struct dial dial = {.digits = STR("111122223333")};
    run(&dial, &domain);
    assert_int_equal(dial.call.outcome, CALL_FORWARDED);
    assert_true(dial.forwarded);
    assert_string_equal(dial.call.ring.phones[0], "+15551234567");
    assert_string_equal(dial.tones, "");
    assert_int_equal(domain.asked_count, 3);
    assert_string_equal(dial.said[0], "welcome");
    assert_string_equal(dial.said[dial.said_count - 1], "forwarding");
}

/* SANDBOX-14 */
static void silence_is_counted_and_then_forwards(void **state)
{
    (void)state;
    struct domain domain = {.on_arrival = ACCESS_COLLECT, .opens = "1234", .resident = "+15551234567"};
    struct dial dial = {.resident = DIAL_ANSWERED};
    run(&dial, &domain);
    assert_int_equal(dial.call.outcome, CALL_FORWARDED);
    assert_int_equal(dial.silence_ms, CALL_FIRST_WAIT_MS);
    assert_int_equal(domain.asked_count, 0);
}

/* SANDBOX-14 */
static void speech_counts_only_if_enabled(void **state)
{
    (void)state;
    struct domain listening = {.on_arrival = ACCESS_COLLECT, .opens = "1234", .voice = true};
    struct domain deaf = {.on_arrival = ACCESS_COLLECT, .opens = "1234"};
    struct dial heard = {.hears = true, .speech = STR("1234")}, unheard = {.hears = true, .speech = STR("1234")};
    run(&heard, &listening);
    assert_int_equal(heard.call.outcome, CALL_RELEASED);
    run(&unheard, &deaf);
    assert_int_equal(unheard.call.outcome, CALL_FORWARDED);
}

static void a_hash_before_speech_does_not_silence_it(void **state)
{
    (void)state;
    struct domain domain = {.on_arrival = ACCESS_COLLECT, .opens = "1234", .voice = true};
    struct dial dial = {.digits = STR("#"), .hears = true, .speech = STR("1234")};
    run(&dial, &domain);
    assert_int_equal(dial.call.outcome, CALL_RELEASED);
}

static void without_a_phone_no_call_is_forwarded(void **state)
{
    (void)state;
    struct domain domain = {.on_arrival = ACCESS_FORWARD};
    struct dial dial = {.resident = DIAL_ANSWERED};
    run(&dial, &domain);
    assert_int_equal(dial.call.outcome, CALL_FORWARDED);
    assert_false(dial.forwarded);
    assert_int_equal(dial.said_count, 1);
}

static void the_visitor_hears_that_the_resident_does_not_answer(void **state)
{
    (void)state;
    struct domain domain = {.on_arrival = ACCESS_FORWARD, .resident = "+15551234567"};
    struct dial answered = {.resident = DIAL_ANSWERED}, unanswered = {.resident = DIAL_NO_ANSWER};
    run(&answered, &domain);
    assert_int_equal(answered.said_count, 0);
    run(&unanswered, &domain);
    assert_true(unanswered.forwarded);
    assert_int_equal(unanswered.said_count, 1);
}

static void an_unknown_number_is_rejected(void **state)
{
    (void)state;
    struct domain domain = {.on_arrival = ACCESS_REJECT};
    struct dial dial = {.digits = STR("1234")};
    run(&dial, &domain);
    assert_int_equal(dial.call.outcome, CALL_REJECTED);
    assert_int_equal(dial.said_count, 0);
}

static void the_owner_hears_that_the_line_works(void **state)
{
    (void)state;
    struct domain domain = {.on_arrival = ACCESS_SELF_CALL};
    struct dial dial = {0};
    run(&dial, &domain);
    assert_int_equal(dial.call.outcome, CALL_OWNER);
    assert_int_equal(dial.said_count, 1);
    assert_string_equal(dial.tones, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_opens_without_a_code),
        cmocka_unit_test(the_valid_code_opens),
        cmocka_unit_test(several_codes_may_follow_each_other_with_or_without_a_hash),
        cmocka_unit_test(a_short_code_ends_by_hash_or_by_silence),
        cmocka_unit_test(three_wrong_codes_ring_the_resident),
        cmocka_unit_test(silence_is_counted_and_then_forwards),
        cmocka_unit_test(speech_counts_only_if_enabled),
        cmocka_unit_test(a_hash_before_speech_does_not_silence_it),
        cmocka_unit_test(without_a_phone_no_call_is_forwarded),
        cmocka_unit_test(the_visitor_hears_that_the_resident_does_not_answer),
        cmocka_unit_test(an_unknown_number_is_rejected),
        cmocka_unit_test(the_owner_hears_that_the_line_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
