#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <glib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/schedule.h"

static int64_t at(const char *text)
{
    int64_t us;
    assert_true(time_parse(str_z(text), &us));
    return us;
}

static struct schedule make(unsigned days, const char *start, const char *end, const char *zone)
{
    struct schedule s = {.count = 1, .windows = {{.days = days}}, .timezone = str_z(zone)};
    assert_true(schedule_minute_parse(str_z(start), &s.windows[0].start_minute));
    assert_true(schedule_minute_parse(str_z(end), &s.windows[0].end_minute));
    return s;
}

enum { SUN = 1, MON = 2, TUE = 4, WED = 8, THU = 16, FRI = 32, SAT = 64, ALL = 127 };

static void test_day_names_are_read_in_any_case(void **state)
{
    (void)state;
    assert_int_equal(schedule_day(STR("sunday")), SUN);
    assert_int_equal(schedule_day(STR("SATURDAY")), SAT);
    assert_int_equal(schedule_day(STR("WednesDay")), WED);
    assert_int_equal(schedule_day(STR("wed")), 0);
    assert_int_equal(schedule_day(STR("")), 0);
    assert_int_equal(schedule_day(STR("mondays")), 0);
}

static void test_only_four_kinds_of_days_are_supported(void **state)
{
    (void)state;
    int supported = 0;
    for (unsigned days = 0; days < 256; days++)
        supported += schedule_days_supported(days);
    assert_int_equal(supported, 7 + 3);
    assert_true(schedule_days_supported(THU));
    assert_true(schedule_days_supported(MON | TUE | WED | THU | FRI));
    assert_true(schedule_days_supported(SAT | SUN));
    assert_true(schedule_days_supported(ALL));
    assert_false(schedule_days_supported(MON | TUE));
    assert_false(schedule_days_supported(0));
    assert_false(schedule_days_supported(128));
}

static void test_times_of_day_are_two_digits_each(void **state)
{
    (void)state;
    int minute = -1;
    assert_true(schedule_minute_parse(STR("00:00"), &minute));
    assert_int_equal(minute, 0);
    assert_true(schedule_minute_parse(STR("23:59"), &minute));
    assert_int_equal(minute, 1439);
    static const char *const wrong[] = {"24:00", "9:00", "09:60", "09-00", "09:0", "", "0a:00", "09:00 ", "+9:00"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(schedule_minute_parse(str_z(wrong[i]), &minute));
    assert_int_equal(minute, 1439); /* unchanged */
}

static void test_a_time_of_day_is_written_as_it_was_read(void **state)
{
    (void)state;
    for (int minute = 0; minute < 1440; minute++) {
        char text[SCHEDULE_MINUTE_TEXT_MAX];
        int again = -1;
        schedule_minute_format(minute, text);
        assert_true(schedule_minute_parse(str_z(text), &again));
        assert_int_equal(again, minute);
    }
}

/* GRANT-25 */
static void test_only_names_of_the_zone_database_are_known(void **state)
{
    (void)state;
    static const char *const known[] = {
        "America/New_York",       "Europe/Berlin", "America/Argentina/Buenos_Aires", "UTC", "Etc/GMT+5",
        "America/Port-au-Prince", "Asia/Kolkata"};
    static const char *const unknown[] = {"",
                                          "Europe/Atlantis",
                                          "europe/berlin",
                                          "+02:00",
                                          "-05",
                                          "EST5EDT,M3.2.0,M11.1.0",
                                          "ABC5",
                                          "../../../etc/passwd",
                                          "/usr/share/zoneinfo/UTC",
                                          ":UTC",
                                          "zone.tab",
                                          "tzdata.zi",
                                          "posix/UTC",
                                          "right/UTC",
                                          "Europe",
                                          "Europe/",
                                          "Europe//Berlin",
                                          "Europe/Berlin ",
                                          "America/New York",
                                          "Z"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_true(schedule_zone_known(str_z(known[i])));
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (schedule_zone_known(str_z(unknown[i])))
            fail_msg("%s", unknown[i]);
    assert_false(schedule_zone_known(STR_NONE));
    assert_false(schedule_zone_known(STR("UTC\0x")));
    char longer[300];
    memset(longer, 'A', sizeof longer);
    assert_false(schedule_zone_known(str_n(longer, sizeof longer)));
}

/* GRANT-23 */
static void test_a_window_includes_its_start_and_not_its_end(void **state)
{
    (void)state;
    const struct schedule s = make(FRI, "09:30", "10:00", "America/New_York"); /* UTC-5 in November */
    assert_false(schedule_contains(&s, at("2026-11-20T14:29:59.999Z")));
    assert_true(schedule_contains(&s, at("2026-11-20T14:30:00Z")));
    assert_true(schedule_contains(&s, at("2026-11-20T14:59:59.999Z")));
    assert_false(schedule_contains(&s, at("2026-11-20T15:00:00Z")));
}

/* GRANT-23 */
static void test_the_day_is_the_day_of_the_zone(void **state)
{
    (void)state;
    const struct schedule tokyo = make(SAT, "00:00", "09:00", "Asia/Tokyo");
    assert_true(schedule_contains(&tokyo, at("2026-11-20T16:00:00Z"))); /* Saturday there, Friday in UTC */
    assert_false(schedule_contains(&tokyo, at("2026-11-21T16:00:00Z")));
    const struct schedule honolulu = make(FRI, "20:00", "23:59", "Pacific/Honolulu");
    assert_true(schedule_contains(&honolulu, at("2026-11-21T07:00:00Z"))); /* Friday there, Saturday in UTC */
}

static void test_every_day_of_the_week_has_its_bit(void **state)
{
    (void)state;
    for (int day = 0; day < 7; day++) {
        const int64_t noon = at("2026-11-22T12:00:00Z") + day * 86400 * US_PER_S; /* from a Sunday */
        for (int bit = 0; bit < 7; bit++) {
            const struct schedule s = make(1u << bit, "11:00", "13:00", "UTC");
            assert_int_equal(schedule_contains(&s, noon), bit == day);
        }
    }
}

/* GRANT-24 */
static void test_daylight_saving_moves_the_window(void **state)
{
    (void)state;
    const struct schedule s = make(ALL, "08:00", "09:00", "Europe/Berlin");
    assert_true(schedule_contains(&s, at("2026-10-24T06:30:00Z"))); /* summer: UTC+2 */
    assert_false(schedule_contains(&s, at("2026-10-24T07:30:00Z")));
    assert_true(schedule_contains(&s, at("2026-10-25T07:30:00Z"))); /* winter from this day: UTC+1 */
    assert_false(schedule_contains(&s, at("2026-10-25T06:30:00Z")));
}

/* GRANT-24 */
static void test_a_skipped_hour_never_opens_and_a_repeated_hour_opens_twice(void **state)
{
    (void)state;
    const struct schedule spring = make(SUN, "02:00", "03:00", "America/New_York");
    for (int64_t t = at("2026-03-08T00:00:00Z"); t < at("2026-03-09T05:00:00Z"); t += 60 * US_PER_S)
        assert_false(schedule_contains(&spring, t));
    const struct schedule autumn = make(SUN, "01:00", "02:00", "America/New_York");
    int minutes = 0;
    for (int64_t t = at("2026-11-01T00:00:00Z"); t < at("2026-11-02T05:00:00Z"); t += 60 * US_PER_S)
        minutes += schedule_contains(&autumn, t);
    assert_int_equal(minutes, 120);
}

static void test_an_unknown_zone_is_never_inside(void **state)
{
    (void)state;
    struct schedule s = make(ALL, "00:00", "23:59", "UTC");
    assert_true(schedule_contains(&s, at("2026-11-20T12:00:00Z")));
    s.timezone = STR("Europe/Atlantis");
    assert_false(schedule_contains(&s, at("2026-11-20T12:00:00Z")));
    assert_false(schedule_next(&s, at("2026-11-20T12:00:00Z"), &(int64_t){0}));
}

static void *ask_often(void *arg)
{
    static const char *const zones[] = {"Europe/Paris", "Europe/Rome", "Asia/Dubai", "America/Denver", "Nowhere/Town"};
    (void)arg;
    size_t known = 0;
    for (int i = 0; i < 1000; i++)
        known += schedule_zone_known(str_z(zones[i % 5]));
    return (void *)known;
}

static void test_many_threads_can_read_zones(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, NULL), 0);
    for (int i = 0; i < 4; i++) {
        void *known;
        pthread_join(threads[i], &known);
        assert_int_equal((size_t)known, 800);
    }
}

/* Puts a file of the installed database in the place of a zone's, as a package does. */
static void install(const char *zone, const char *directory)
{
    char *from = g_build_filename("/usr/share/zoneinfo", zone, NULL), *content;
    char *to = g_build_filename(directory, "Here", NULL);
    size_t n;
    assert_true(g_file_get_contents(from, &content, &n, NULL));
    assert_true(g_file_set_contents(to, content, (gssize)n, NULL));
    g_free(content);
    g_free(from);
    g_free(to);
}

static int hour_here(void)
{
    struct schedule_time t;
    assert_true(schedule_local(STR("Here"), at("2026-01-15T12:00:00Z"), &t));
    return t.minute / 60;
}

/* GRANT-25 */
static void test_rules_that_change_take_effect_while_it_runs(void **state)
{
    (void)state;
    char directory[] = "/tmp/portero-zones-XXXXXX";
    assert_non_null(mkdtemp(directory));
    assert_int_equal(setenv("TZDIR", directory, 1), 0);
    static const struct {
        const char *zone;
        int hour;
    } rows[] = {{"Europe/Berlin", 13}, {"Asia/Tokyo", 21}, {"America/New_York", 7}, {"Europe/Berlin", 13}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        install(rows[i].zone, directory);
        if (i)
            usleep(1100 * 1000);
        assert_int_equal(hour_here(), rows[i].hour);
    }
    char *here = g_build_filename(directory, "Here", NULL);
    assert_true(g_file_set_contents(here, "no rules", -1, NULL));
    usleep(1100 * 1000);
    assert_int_equal(hour_here(), 13);
    assert_int_equal(unlink(here), 0);
    usleep(1100 * 1000);
    assert_int_equal(hour_here(), 13); /* until the package has written it again */
    g_free(here);
    assert_int_equal(rmdir(directory), 0);
    assert_int_equal(unsetenv("TZDIR"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_day_names_are_read_in_any_case),
        cmocka_unit_test(test_only_four_kinds_of_days_are_supported),
        cmocka_unit_test(test_times_of_day_are_two_digits_each),
        cmocka_unit_test(test_a_time_of_day_is_written_as_it_was_read),
        cmocka_unit_test(test_only_names_of_the_zone_database_are_known),
        cmocka_unit_test(test_rules_that_change_take_effect_while_it_runs),
        cmocka_unit_test(test_a_window_includes_its_start_and_not_its_end),
        cmocka_unit_test(test_the_day_is_the_day_of_the_zone),
        cmocka_unit_test(test_every_day_of_the_week_has_its_bit),
        cmocka_unit_test(test_daylight_saving_moves_the_window),
        cmocka_unit_test(test_a_skipped_hour_never_opens_and_a_repeated_hour_opens_twice),
        cmocka_unit_test(test_an_unknown_zone_is_never_inside),
        cmocka_unit_test(test_many_threads_can_read_zones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
