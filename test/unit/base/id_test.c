#include "base/id.h"

#include <pthread.h>

#include "base/clock.h"
#include "unit.h"

#define THREADS 4
#define EACH    20000

static int64_t latest_s;

/* A time after all IDs created so far, so that the tests run in any order, and near the clock's. */
static int64_t later_us(void)
{
    if (!latest_s)
        latest_s = clock_now_us() / US_PER_S;
    return (latest_s += 4) * US_PER_S;
}

static void assert_second(const struct id *id, int64_t at_us)
{
    char text[17];
    snprintf(text, sizeof text, "%08llx", (long long)(at_us / US_PER_S));
    assert_memory_equal(id->text, text, 8);
}

static void an_id_contains_its_second(void **state)
{
    (void)state;
    int64_t now_us = later_us();
    struct id id = id_new(now_us + 999999);
    assert_int_equal(strlen(id.text), ID_LEN);
    assert_true(str_is_id(id_str(&id)));
    assert_second(&id, now_us);
    assert_int_equal(strspn(id.text, "0123456789abcdef"), ID_LEN);
}

/* HTTP-15 */
static void ids_ascend_when_the_clock_stops_or_goes_back(void **state)
{
    (void)state;
    int64_t now_us = later_us();
    struct id last = id_new(now_us);
    for (int i = 0; i < 1000; i++) {
        struct id id = id_new(now_us - (i % 3) * US_PER_S);
        assert_true(strcmp(id.text, last.text) > 0);
        assert_memory_equal(id.text + 8, last.text + 8, 10); /* the part of the process */
        last = id;
    }
    struct id id = id_new(now_us + US_PER_S);
    assert_true(strcmp(id.text, last.text) > 0);
    assert_second(&id, now_us + US_PER_S);
}

static void a_wrapping_counter_carries_into_the_seconds(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* too slow under a sanitizer: sixteen million atomic operations */
#endif
    int64_t now_us = later_us();
    struct id last = id_new(now_us);
    for (int i = 0; i <= 1 << 24; i++) {
        struct id id = id_new(now_us);
        if (memcmp(id.text, last.text, ID_LEN) <= 0)
            fail_msg("%s after %s", id.text, last.text);
        last = id;
    }
    assert_second(&last, now_us + US_PER_S);
}

/* SERVICE-41 */
static void ids_follow_a_clock_that_was_ahead_and_is_set_back(void **state)
{
    (void)state;
    const int64_t year_us = 365 * 86400 * US_PER_S;
    for (int i = 1; i < 3; i++) {
        const struct id before = id_new(later_us()), wrong = id_new(clock_now_us() + i * year_us);
        latest_s = clock_now_us() / US_PER_S;
        const struct id now = id_new(later_us());
        assert_second(&wrong, clock_now_us() + i * year_us);
        assert_second(&now, latest_s * US_PER_S);
        assert_memory_equal(wrong.text + 8, before.text + 8, 10);
        assert_memory_not_equal(now.text + 8, wrong.text + 8, 10);
        const struct id next = id_new(latest_s * US_PER_S);
        assert_true(strcmp(next.text, now.text) > 0);
        assert_memory_equal(next.text + 8, now.text + 8, 10);
    }
}

static void a_caller_with_an_old_time_gets_the_next_id(void **state)
{
    (void)state;
    const struct id now = id_new(later_us()), next = id_new(clock_now_us() - 3600 * US_PER_S);
    assert_true(strcmp(next.text, now.text) > 0);
    assert_memory_equal(next.text, now.text, 18);
}

static void *make_ids(void *arg)
{
    struct id *ids = arg;
    for (int i = 0; i < EACH; i++)
        ids[i] = id_new(0);
    return NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct id *)a)->text, ((const struct id *)b)->text);
}

static void threads_never_get_the_same_id(void **state)
{
    (void)state;
    struct id *ids = calloc(THREADS * EACH, sizeof *ids);
    pthread_t threads[THREADS];
    assert_non_null(ids);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make_ids, ids + i * EACH), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int t = 0; t < THREADS; t++)
        for (int i = 1; i < EACH; i++)
            assert_true(by_text(&ids[t * EACH + i - 1], &ids[t * EACH + i]) < 0);
    qsort(ids, THREADS * EACH, sizeof *ids, by_text);
    for (int i = 1; i < THREADS * EACH; i++)
        assert_true(by_text(&ids[i - 1], &ids[i]) < 0);
    free(ids);
}

/* HTTP-16 */
static void either_case_is_parsed_into_lower_case(void **state)
{
    (void)state;
    struct id id = {0};
    assert_false(id_given(&id));
    assert_null(id_str(&id).p);
    assert_true(id_parse(STR("0123456789ABCDEFabcdef00"), &id));
    assert_text(id_str(&id), "0123456789abcdefabcdef00");
    assert_true(id_given(&id));
    assert_false(id_parse(STR("0123456789ABCDEFabcdef0"), &id));
    assert_false(id_parse(STR("0123456789ABCDEFabcdef0-"), &id));
    assert_false(id_parse(STR_NONE, &id));
    assert_text(id_str(&id), "0123456789abcdefabcdef00");
}

static void the_first_id_of_a_second_sorts_between_seconds(void **state)
{
    (void)state;
    const struct id first = id_first(1795167000 * US_PER_S + 999999);
    assert_string_equal(first.text, "6b0013180000000000000000");
    assert_string_equal(id_first(-1).text, "000000000000000000000000");
    assert_string_equal(id_first(INT64_MAX).text, "ffffffff0000000000000000");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_contains_its_second),
        cmocka_unit_test(ids_ascend_when_the_clock_stops_or_goes_back),
        cmocka_unit_test(a_wrapping_counter_carries_into_the_seconds),
        cmocka_unit_test(ids_follow_a_clock_that_was_ahead_and_is_set_back),
        cmocka_unit_test(a_caller_with_an_old_time_gets_the_next_id),
        cmocka_unit_test(threads_never_get_the_same_id),
        cmocka_unit_test(either_case_is_parsed_into_lower_case),
        cmocka_unit_test(the_first_id_of_a_second_sorts_between_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
