/* Spoken codes, from audio to result. Without the acoustic models, the tests that need them are skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <poll.h>
#include <unistd.h>

#include "speech/speaker.h"
#include "speech/spoken.h"

#define TIDIGITS "/usr/share/pocketsphinx/test/data/tidigits/hmm"
#define ENGLISH  "/usr/share/pocketsphinx/model/en-us/en-us"
#define LONG_MS  60000 /* no test depends on the speed of the machine */

static struct mailbox box;
static struct spoken_codes valid;
static int answered;
static _Atomic bool blocked;

static enum err give_codes(void *arg, const struct id *building, struct spoken_codes *ret)
{
    (void)arg;
    (void)building;
    while (blocked)
        usleep(1000);
    *ret = valid;
    return ERR_NONE;
}

static void set_codes(size_t n, const char *const *codes)
{
    valid = (struct spoken_codes){.n = n};
    for (size_t i = 0; i < n; i++)
        memcpy(valid.v[i], codes[i], strlen(codes[i]) + 1);
}
#define VALID(...)                                                                                                     \
    set_codes(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), (const char *const[]){__VA_ARGS__})

static void on_answered(struct spoken_request *r)
{
    (void)r;
    answered++;
}

static struct spoken *start(int64_t limit_ms, const char *english)
{
    struct spoken *s;
    const struct spoken_options options = {.directories = {[SPOKEN_TIDIGITS] = TIDIGITS, [SPOKEN_ENGLISH] = english},
                                           .limit_ms = limit_ms,
                                           .codes = give_codes};
    assert_int_equal(spoken_new(&s, &options), ERR_NONE);
    while (spoken_state(s) == SPOKEN_LOADING)
        usleep(1000);
    return s;
}

static bool submit(struct spoken *s, struct spoken_request *r, const char *text, double noise)
{
    *r = (struct spoken_request){.utterance = speaker_utterance(text, noise), .box = &box, .answered = on_answered};
    const bool taken = spoken_submit(s, r);
    if (!taken)
        utterance_free(r->utterance);
    return taken;
}

static void await(int n)
{
    struct pollfd p = {.fd = box.fd, .events = POLLIN};
    while (answered < n && poll(&p, 1, LONG_MS) > 0)
        mailbox_drain(&box);
    assert_int_equal(answered, n);
    answered = 0;
}

static struct spoken *shared;

static struct spoken_request hear(const char *text, double noise)
{
    struct spoken_request r;
    assert_true(submit(shared, &r, text, noise));
    await(1);
    assert_null(r.utterance);
    return r;
}

/* CALL-44 */
static void a_valid_code_is_accepted(void **state)
{
    (void)state;
    VALID("4071", "9751", "3862", "1195", "6208");
    struct spoken_request r = hear("nine seven five one", 20);
    assert_int_equal(r.result, SPOKEN_ACCEPTED);
    assert_string_equal(r.code, "9751");
}

static void another_code_is_not_accepted(void **state)
{
    (void)state;
    VALID("4071", "3862", "1195", "6208");
    assert_int_not_equal(hear("nine seven five one", 20).result, SPOKEN_ACCEPTED);
}

/* CALL-45 */
static void another_code_clearly_said_counts_as_wrong(void **state)
{
    (void)state;
    VALID("4071", "3862", "1195", "6208");
    struct spoken_request r = hear("nine seven five one", 20);
    assert_int_equal(r.result, SPOKEN_OTHER);
    assert_string_equal(r.code, "9751");
}

/* CALL-44 */
static void a_code_that_differs_in_one_digit_is_not_accepted(void **state)
{
    (void)state;
    static const char *const near[] = {"5751", "9151", "9791", "9754"};
    for (size_t i = 0; i < 4; i++) {
        set_codes(1, &near[i]);
        assert_int_not_equal(hear("nine seven five one", 20).result, SPOKEN_ACCEPTED);
    }
}

/* CALL-47 */
static void double_is_no_digit_over_a_telephone(void **state)
{
    (void)state;
    VALID("4455");
    assert_int_not_equal(hear("double four double five", 20).result, SPOKEN_ACCEPTED);
}

/* Speech that opens the door if its code is valid must count if it is not: otherwise a guess is free. */
/* CALL-45 */
static void each_code_that_would_be_accepted_counts_if_it_is_not_valid(void **state)
{
    (void)state;
    static const struct {
        const char *digits, *words;
    } said[] = {
        {"9751", "nine seven five one"}, {"4268", "four two six eight"},  {"3862", "three eight six two"},
        {"1195", "one one nine five"},   {"7043", "seven oh four three"}, {"5580", "five five eight zero"},
        {"2137", "two one three seven"}, {"8416", "eight four one six"},  {"6309", "six three zero nine"},
        {"0274", "zero two seven four"},
    };
    static const double noises[] = {20, 300};
    size_t accepted = 0;
    for (size_t i = 0; i < 2 * sizeof said / sizeof *said; i++) {
        const char *right[] = {said[i / 2].digits, "4071"}, *wrong[] = {"4071", "5555"};
        set_codes(2, right);
        if (hear(said[i / 2].words, noises[i % 2]).result != SPOKEN_ACCEPTED)
            continue;
        accepted++;
        set_codes(2, wrong);
        const enum spoken_result result = hear(said[i / 2].words, noises[i % 2]).result;
        assert_true(result == SPOKEN_OTHER || result == SPOKEN_GUESS);
    }
    assert_true(accepted > 0);
    print_message("%zu accepted\n", accepted);
}

static void noise_and_other_words_are_not_understood(void **state)
{
    (void)state;
    VALID("9751", "4071");
    assert_int_equal(hear("please open the door for me", 20).result, SPOKEN_UNCLEAR);
    assert_int_equal(hear("", 2000).result, SPOKEN_UNCLEAR);
    assert_int_equal(hear("", 0).result, SPOKEN_UNCLEAR);
}

static void without_valid_codes_nothing_is_understood(void **state)
{
    (void)state;
    valid.n = 0;
    assert_int_equal(hear("nine seven five one", 20).result, SPOKEN_UNCLEAR);
}

static void a_dropped_request_is_answered_without_a_result(void **state)
{
    (void)state;
    VALID("9751");
    struct spoken_request first, second;
    blocked = true;
    assert_true(submit(shared, &first, "", 0));
    assert_true(submit(shared, &second, "nine seven five one", 20));
    second.dropped = true;
    blocked = false;
    await(2);
    assert_int_equal(second.result, SPOKEN_UNCLEAR);
}

static void the_queue_is_bounded(void **state)
{
    (void)state;
    VALID("9751");
    struct spoken_request r[SPOKEN_QUEUE_MAX + 2];
    int taken = 0;
    blocked = true;
    for (size_t i = 0; i < SPOKEN_QUEUE_MAX + 2; i++)
        taken += submit(shared, &r[i], "", 0);
    assert_in_range(taken, SPOKEN_QUEUE_MAX, SPOKEN_QUEUE_MAX + 1);
    blocked = false;
    await(taken);
}

static void a_late_result_does_not_count(void **state)
{
    (void)state;
    VALID("9751");
    struct spoken *s = start(0, ENGLISH);
    struct spoken_request r;
    assert_true(submit(s, &r, "nine seven five one", 20));
    await(1);
    assert_int_equal(r.result, SPOKEN_UNCLEAR);
    spoken_free(s);
}

static void pending_requests_end_with_the_service(void **state)
{
    (void)state;
    VALID("9751");
    struct spoken *s = start(LONG_MS, ENGLISH);
    struct spoken_request r[4];
    for (size_t i = 0; i < 4; i++)
        assert_true(submit(s, &r[i], "", 0));
    spoken_free(s);
    mailbox_drain(&box);
    for (size_t i = 0; i < 4; i++)
        assert_null(r[i].utterance);
    answered = 0;
}

static void without_models_every_request_is_refused(void **state)
{
    (void)state;
    struct spoken *s = start(LONG_MS, "/nonexistent");
    assert_int_equal(spoken_state(s), SPOKEN_OFF);
    struct spoken_request r;
    assert_false(submit(s, &r, "", 0));
    spoken_free(s);
    spoken_free(NULL);
}

static int set_up(void **state)
{
    (void)state;
    if (mailbox_init(&box))
        return -1;
    shared = start(LONG_MS, ENGLISH);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    spoken_free(shared);
    mailbox_done(&box);
    return 0;
}

int main(void)
{
    const struct CMUnitTest always[] = {cmocka_unit_test(without_models_every_request_is_refused)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_valid_code_is_accepted),
        cmocka_unit_test(another_code_is_not_accepted),
        cmocka_unit_test(another_code_clearly_said_counts_as_wrong),
        cmocka_unit_test(a_code_that_differs_in_one_digit_is_not_accepted),
        cmocka_unit_test(double_is_no_digit_over_a_telephone),
        cmocka_unit_test(each_code_that_would_be_accepted_counts_if_it_is_not_valid),
        cmocka_unit_test(noise_and_other_words_are_not_understood),
        cmocka_unit_test(without_valid_codes_nothing_is_understood),
        cmocka_unit_test(a_dropped_request_is_answered_without_a_result),
        cmocka_unit_test(the_queue_is_bounded),
        cmocka_unit_test(a_late_result_does_not_count),
        cmocka_unit_test(pending_requests_end_with_the_service),
    };
    const int failed = cmocka_run_group_tests(always, NULL, NULL);
    if (access(TIDIGITS "/mdef", R_OK) || access(ENGLISH "/mdef", R_OK)) {
        print_message("the acoustic models are not installed: the other tests are skipped\n");
        return failed;
    }
    return failed + cmocka_run_group_tests(tests, set_up, tear_down);
}
