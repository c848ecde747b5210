#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "api/limit.h"
#include "base/clock.h"

#define NOW    (1795167000LL * US_PER_S)
#define WINDOW (900 * US_PER_S)

static int setup(void **state)
{
    *state = limiter_new();
    return 0;
}

static int teardown(void **state)
{
    limiter_free(*state);
    return 0;
}

static struct limit_state take(void **state, const char *subject, int64_t limit, int64_t now_us)
{
    return limit_take(*state, LIMIT_PER_KEY, str_z(subject), limit, now_us);
}

static void test_counts_down_to_the_limit_and_then_refuses(void **state)
{
    for (int64_t left = 4; left >= 0; left--) {
        struct limit_state s = take(state, "a", 5, NOW);
        assert_false(s.exceeded);
        assert_int_equal(s.limit, 5);
        assert_int_equal(s.remaining, left);
    }
    struct limit_state s = take(state, "a", 5, NOW);
    assert_true(s.exceeded);
    assert_int_equal(s.remaining, 0);
}

static void test_a_window_of_a_clock_that_was_ahead_limits_nobody(void **state)
{
    assert_false(take(state, "a", 1, NOW + 9 * 3600 * US_PER_S).exceeded);
    assert_false(take(state, "a", 1, NOW).exceeded);
    assert_true(take(state, "a", 1, NOW - 1).exceeded); /* another thread took the time earlier */
    assert_false(take(state, "a", 1, NOW + WINDOW).exceeded);
}

static void test_each_subject_and_kind_has_its_own_window(void **state)
{
    assert_false(take(state, "a", 1, NOW).exceeded);
    assert_false(take(state, "b", 1, NOW).exceeded);
    assert_false(limit_take(*state, LIMIT_PER_ADDRESS_AUTH, STR("a"), 1, NOW).exceeded);
    assert_false(limit_take(*state, LIMIT_PER_ADDRESS_OTP, STR("a"), 1, NOW).exceeded);
    assert_true(take(state, "a", 1, NOW).exceeded);
}

/* HTTP-34 */
static void test_the_window_begins_with_the_first_request_and_lasts_15_minutes(void **state)
{
    assert_int_equal(take(state, "a", 1, NOW).reset_s, 900);
    assert_int_equal(take(state, "a", 1, NOW + 1).reset_s, 900);
    assert_int_equal(take(state, "a", 1, NOW + 899 * US_PER_S).reset_s, 1);
    struct limit_state last = take(state, "a", 1, NOW + WINDOW - 1);
    assert_true(last.exceeded);
    assert_int_equal(last.reset_s, 1);
    struct limit_state fresh = take(state, "a", 1, NOW + WINDOW);
    assert_false(fresh.exceeded);
    assert_int_equal(fresh.reset_s, 900);
}

static void test_a_clock_that_steps_back_a_little_keeps_the_window(void **state)
{
    take(state, "a", 1, NOW);
    struct limit_state s = take(state, "a", 1, NOW - 5);
    assert_true(s.exceeded);
    assert_int_equal(s.reset_s, 900);
}

static void test_a_raised_limit_applies_at_once(void **state)
{
    take(state, "a", 1, NOW);
    assert_true(take(state, "a", 1, NOW).exceeded);
    struct limit_state s = take(state, "a", 3, NOW);
    assert_false(s.exceeded);
    assert_int_equal(s.remaining, 1);
}

enum { FLOOD = 1000000 };

/* A million subjects, one request each, spread over half a window from NOW. */
static void flood(void **state, int64_t limit)
{
    char subject[LIMIT_SUBJECT_MAX + 1];
    for (int i = 0; i < FLOOD; i++) {
        snprintf(subject, sizeof subject, "flood-%d", i);
        take(state, subject, limit, NOW + i * (WINDOW / 2 / FLOOD));
    }
}

/* HTTP-37 */
static void test_an_exhausted_subject_stays_refused_during_a_flood(void **state)
{
    char subject[LIMIT_SUBJECT_MAX + 1];
    for (int i = 0; i < 1000; i++) {
        snprintf(subject, sizeof subject, "used-up-%d", i);
        for (int used = 0; used < 5; used++)
            assert_false(take(state, subject, 5, NOW).exceeded);
    }
    flood(state, 5);
    for (int i = 0; i < 1000; i++) {
        snprintf(subject, sizeof subject, "used-up-%d", i);
        assert_true(take(state, subject, 5, NOW + WINDOW - 1).exceeded);
    }
}

/* The subject with the lowest count is evicted first: here, one whose limit is exhausted. */
static void test_an_exhausted_subject_is_refused_after_its_eviction(void **state)
{
    char subject[LIMIT_SUBJECT_MAX + 1];
    assert_false(take(state, "one", 1, NOW).exceeded);
    flood(state, 100);
    for (int i = 0; i < 1000; i++) {
        snprintf(subject, sizeof subject, "busy-%d", i);
        for (int used = 0; used < 50; used++)
            take(state, subject, 100, NOW + WINDOW / 2);
    }
    assert_true(take(state, "one", 1, NOW + WINDOW - 1).exceeded);
}

static void test_a_flood_has_no_effect_one_window_after_its_end(void **state)
{
    char subject[LIMIT_SUBJECT_MAX + 1];
    flood(state, 5);
    for (int i = 0; i < 1000; i++) {
        snprintf(subject, sizeof subject, "new-%d", i);
        assert_int_equal(take(state, subject, 5, NOW + WINDOW / 2 + WINDOW).remaining, 4);
    }
}

static void test_a_flood_does_not_affect_other_kinds(void **state)
{
    flood(state, 5);
    assert_int_equal(limit_take(*state, LIMIT_PER_ADDRESS_AUTH, STR("a"), 5, NOW + WINDOW / 2).remaining, 4);
}

static void test_ended_windows_of_a_busy_subject_are_reused(void **state)
{
    for (int i = 0; i < 100000; i++) {
        assert_false(take(state, "busy", 1, NOW + i * WINDOW).exceeded);
        assert_true(take(state, "busy", 1, NOW + i * WINDOW).exceeded);
    }
}

enum { THREADS = 4, TAKES = 5000, LIMIT = THREADS * TAKES / 2 };

struct taker {
    struct limiter *limiter;
    int granted;
};

static void *take_many(void *arg)
{
    struct taker *t = arg;
    for (int i = 0; i < TAKES; i++)
        t->granted += !limit_take(t->limiter, LIMIT_PER_KEY, STR("shared"), LIMIT, NOW).exceeded;
    return NULL;
}

static void test_concurrent_threads_get_exactly_the_limit(void **state)
{
    pthread_t threads[THREADS];
    struct taker takers[THREADS];
    int granted = 0;
    for (int i = 0; i < THREADS; i++) {
        takers[i] = (struct taker){.limiter = *state};
        assert_int_equal(pthread_create(&threads[i], NULL, take_many, &takers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        granted += takers[i].granted;
    }
    assert_int_equal(granted, LIMIT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_counts_down_to_the_limit_and_then_refuses),
        TEST(test_a_window_of_a_clock_that_was_ahead_limits_nobody),
        TEST(test_each_subject_and_kind_has_its_own_window),
        TEST(test_the_window_begins_with_the_first_request_and_lasts_15_minutes),
        TEST(test_a_clock_that_steps_back_a_little_keeps_the_window),
        TEST(test_a_raised_limit_applies_at_once),
        TEST(test_an_exhausted_subject_stays_refused_during_a_flood),
        TEST(test_an_exhausted_subject_is_refused_after_its_eviction),
        TEST(test_a_flood_has_no_effect_one_window_after_its_end),
        TEST(test_a_flood_does_not_affect_other_kinds),
        TEST(test_ended_windows_of_a_busy_subject_are_reused),
        TEST(test_concurrent_threads_get_exactly_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
