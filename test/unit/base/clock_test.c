#include "base/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "unit.h"

#define LATEST_US 253402300799999999LL

static void the_sandbox_offset_moves_now_but_not_real_time(void **state)
{
    (void)state;
    int64_t real = clock_real_us();
    clock_set_offset_s(86400);
    assert_int_equal(clock_offset_s(), 86400);
    assert_true(clock_now_us() >= real + 86400 * US_PER_S);
    assert_true(clock_real_us() < real + 86000 * US_PER_S);
    clock_set_offset_s(0);
    assert_true(clock_now_us() < real + 86000 * US_PER_S);
}

static void the_monotonic_clock_never_goes_back(void **state)
{
    (void)state;
    int64_t last = clock_monotonic_us();
    for (int i = 0; i < 1000; i++) {
        int64_t now = clock_monotonic_us();
        assert_true(now >= last);
        last = now;
    }
}

/* HTTP-17 */
static void times_are_written_in_utc_with_milliseconds(void **state)
{
    (void)state;
    static const struct {
        int64_t at_us;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {999, "1970-01-01T00:00:00.000Z"},
        {1000, "1970-01-01T00:00:00.001Z"},
        {1795166999999999, "2026-11-20T09:29:59.999Z"}, /* truncated, not rounded */
        {1795167000000000, "2026-11-20T09:30:00.000Z"},
        {951782400000000, "2000-02-29T00:00:00.000Z"},
        {4107542399000000, "2100-02-28T23:59:59.000Z"},
        {4107542400000000, "2100-03-01T00:00:00.000Z"}, /* not a leap year */
        {LATEST_US, "9999-12-31T23:59:59.999Z"},
        {LATEST_US + 1, "9999-12-31T23:59:59.999Z"},
        {INT64_MAX, "9999-12-31T23:59:59.999Z"},
        {-1, "1970-01-01T00:00:00.000Z"},
    };
    char text[TIME_TEXT_MAX];
    for (size_t i = 0; i < COUNT(cases); i++) {
        time_format(cases[i].at_us, text);
        assert_string_equal(text, cases[i].text);
    }
}

/* Compares every day with the C library, with different days in the cache. */
static void dates_agree_with_the_c_library(void **state)
{
    (void)state;
    char text[TIME_TEXT_MAX], want[128];
    for (int64_t day = 0; day < 2932896; day += 97) {
        int64_t s = day * 86400 + day % 86400;
        struct tm tm;
        time_t t = (time_t)s;
        gmtime_r(&t, &tm);
        snprintf(want, sizeof want, "%04d-%02d-%02dT%02d:%02d:%02d.000Z", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
                 tm.tm_hour, tm.tm_min, tm.tm_sec);
        time_format(s * US_PER_S, text);
        assert_string_equal(text, want);
        int64_t back = -1;
        assert_true(time_parse(str_z(text), &back));
        assert_int_equal(back, s * US_PER_S);
    }
}

static void date_times_with_an_offset_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t at_us;
    } cases[] = {
        {"2026-11-20T09:30:00Z", 1795167000000000},
        {"2026-11-20t09:30:00z", 1795167000000000},
        {"2026-11-20T11:30:00+02:00", 1795167000000000},
        {"2026-11-20T04:30:00-05:00", 1795167000000000},
        {"2026-11-20T15:15:00+05:45", 1795167000000000},
        {"2026-11-20T09:30:00-00:00", 1795167000000000},
        {"2026-11-21T09:29:00+23:59", 1795167000000000},
        {"2026-11-20T09:30:00.1Z", 1795167000100000},
        {"2026-11-20T09:30:00.123456Z", 1795167000123456},
        {"2026-11-20T09:30:00.1234569999999999999999999Z", 1795167000123456},
        {"1970-01-01T00:00:00Z", 0},
        {"1969-12-31T23:00:00-01:00", 0},
        {"9999-12-31T23:59:59.999999Z", LATEST_US},
        {"9999-12-31T23:59:59.999999-00:01", LATEST_US + 60000000},
        {"1969-12-31T23:59:59.5Z", -500000},
        {"1970-01-01T00:00:00+00:01", -60000000},
        {"0001-01-01T00:00:00Z", -62135596800000000},
        {"0000-01-01T00:00:00Z", -62167219200000000},
        {"2024-02-29T00:00:00Z", 1709164800000000},
        {"1998-12-31T23:59:60Z", 915148799999999},
        {"1998-12-31T15:59:60.123-08:00", 915148799999999},
        {"1969-12-31T23:59:60Z", -1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t at_us = -1;
        if (!time_parse(str_z(cases[i].text), &at_us) || at_us != cases[i].at_us)
            fail_msg("%s: %lld", cases[i].text, (long long)at_us);
    }
}

/* HTTP-17 */
static void malformed_date_times_are_refused_and_leave_the_result_unchanged(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "2026",
        "2026-11-20",
        "2026-11-20T09:30:00",
        "2026-11-20 09:30:00Z",
        "2026-11-20T09:30Z",
        "2026-11-20T09:30:00ZZ",
        "2026-11-20T09:30:00Z ",
        " 2026-11-20T09:30:00Z",
        "2026-11-20T09:30:00.Z",
        "2026-11-20T09:30:00,5Z",
        "2026-11-20T09:30:00+2:00",
        "2026-11-20T09:30:00+0200",
        "2026-11-20T09:30:00+02",
        "2026-11-20T09:30:00+24:00",
        "2026-11-20T09:30:00+02:60",
        "2026-11-20T24:00:00Z",
        "2026-11-20T23:60:00Z",
        "2026-11-20T09:30:61Z",
        "2026-11-20T09:30:60Z",
        "2026-11-20T22:59:60Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2100-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "1969-12-31T23:58:60Z",
        "10000-01-01T00:00:00Z",
        "26-11-20T09:30:00Z",
        "2026-1-20T09:30:00Z",
        "2026-11-2T09:30:00Z",
        "2026-11-20T9:30:00Z",
        "2026-11-20T09:30:0Z",
        "+026-11-20T09:30:00Z",
        "2026-11-20T09:30:-1Z",
        "2026-11-20T09:30:00\342\210\22205:00",
        "1795167000",
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t at_us = 42;
        if (time_parse(str_z(cases[i]), &at_us) || at_us != 42)
            fail_msg("accepted: %s", cases[i]);
    }
}

static void *write_one_day(void *arg)
{
    const char *want = arg;
    char text[TIME_TEXT_MAX];
    int64_t at_us = 0;
    assert_true(time_parse(str_z(want), &at_us));
    for (int i = 0; i < 20000; i++) {
        time_format(at_us, text);
        if (strcmp(text, want))
            return text[0] ? (void *)1 : NULL;
    }
    return NULL;
}

static void threads_do_not_share_the_date_cache(void **state)
{
    (void)state;
    static char days[][TIME_TEXT_MAX] = {"2026-11-20T09:30:00.000Z", "2031-01-02T03:04:05.006Z"};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_one_day, days[i]), 0);
    for (int i = 0; i < 2; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
}

/* SERVICE-40 */
static void a_clock_that_is_set_by_more_than_a_minute_is_trusted_again_after_an_hour(void **state)
{
    (void)state;
    const int64_t wall_us = 1795167000LL * US_PER_S, minute_us = 60 * US_PER_S;
    struct clock_watch w = {0};
    assert_false(clock_watch_look(&w, wall_us, 0));
    assert_false(clock_watch_look(&w, wall_us + 3 * minute_us, 2 * minute_us));
    assert_int_equal(w.settles_us, 0);
    assert_true(clock_watch_look(&w, wall_us + 5 * minute_us + 1, 3 * minute_us)); /* the sum of two small steps */
    assert_int_equal(w.step_us, 2 * minute_us + 1);
    assert_int_equal(w.settles_us, 63 * minute_us);
    assert_false(clock_watch_look(&w, wall_us + 6 * minute_us + 1, 4 * minute_us));
    assert_true(clock_watch_look(&w, wall_us + 5 * minute_us, 5 * minute_us)); /* back */
    assert_int_equal(w.step_us, -2 * minute_us - 1);
    assert_int_equal(w.steps, 2);
    assert_int_equal(w.settles_us, 65 * minute_us);
}

static void a_time_in_the_future_is_not_within_any_window(void **state)
{
    (void)state;
    assert_true(clock_within(100, 10, 109));
    assert_false(clock_within(100, 10, 110));
    assert_true(clock_within(CLOCK_PARTED_US, 10, 0));
    assert_false(clock_within(CLOCK_PARTED_US + 1, 10, 0));
}

/* The last test, as the doubt lasts for an hour. */
static void a_doubted_clock_is_not_trusted(void **state)
{
    (void)state;
    assert_true(clock_settled());
    clock_doubt();
    assert_false(clock_settled());
    assert_int_equal(clock_look().steps, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sandbox_offset_moves_now_but_not_real_time),
        cmocka_unit_test(the_monotonic_clock_never_goes_back),
        cmocka_unit_test(times_are_written_in_utc_with_milliseconds),
        cmocka_unit_test(dates_agree_with_the_c_library),
        cmocka_unit_test(date_times_with_an_offset_are_read),
        cmocka_unit_test(malformed_date_times_are_refused_and_leave_the_result_unchanged),
        cmocka_unit_test(threads_do_not_share_the_date_cache),
        cmocka_unit_test(a_clock_that_is_set_by_more_than_a_minute_is_trusted_again_after_an_hour),
        cmocka_unit_test(a_time_in_the_future_is_not_within_any_window),
        cmocka_unit_test(a_doubted_clock_is_not_trusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
