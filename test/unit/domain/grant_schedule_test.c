/* When a grant opens, by its schedule, its time and its uses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glib.h>

#include "base/clock.h"
#include "domain/grant.h"

/* "0000001 22:00-06:00;…": the days from sunday, and the window. */
static struct schedule read_windows(const char *zone, const char *text)
{
    struct schedule s = {.timezone = str_z(zone)};
    gchar **parts = g_strsplit(text, ";", 0);
    for (gchar **part = parts; *part; part++) {
        struct window *w = &s.windows[s.count++];
        for (int day = 0; day < 7; day++)
            w->days |= (unsigned)((*part)[day] == '1') << day;
        assert_true(schedule_minute_parse(str_n(*part + 8, 5), &w->start_minute));
        assert_true(schedule_minute_parse(str_z(*part + 14), &w->end_minute));
    }
    g_strfreev(parts);
    return s;
}

static struct grant grant_of(const char *zone, const char *windows, int64_t from_s, int64_t until_s)
{
    return (struct grant){.enabled = true,
                          .remaining_uses = GRANT_UNLIMITED,
                          .schedule = read_windows(zone, windows),
                          .starts_us = from_s * US_PER_S,
                          .ends_us = until_s == GRANT_NO_END ? GRANT_NO_END : until_s * US_PER_S};
}

/* Returns whether the grant agrees with the table at a moment, and in its last microsecond. `wait_s`: until it opens;
 * -1: never. */
static bool agrees(const struct grant *g, int64_t at_s, bool inside, int64_t wait_s)
{
    const int64_t at_us = at_s * US_PER_S;
    int64_t next_us = -1;
    const bool opens = grant_opens_next(g, at_us, &next_us);
    return grant_opens(g, at_us) == inside && grant_opens(g, at_us + US_PER_S - 1) == inside &&
           opens == (wait_s >= 0) && next_us == (opens ? at_us + wait_s * US_PER_S : -1);
}

/* A calendar, or a moment of the last one. */
static const struct line {
    const char *zone, *windows;
    int64_t from_s, until_s, at_s;
    bool inside;
    int64_t wait_s;
} lines[] = {
#define NO_END GRANT_NO_END
#define CALENDAR(zone_, windows_, from_, until_)                                                                       \
    {.zone = (zone_), .windows = (windows_), .from_s = (from_), .until_s = (until_)},
#define AT(at_, inside_, wait_) {.at_s = (at_), .inside = (inside_), .wait_s = (wait_)},
#include "schedule_table.def"
};

/* GRANT-23, GRANT-24 */
static void test_windows_are_as_in_a_table_of_another_program(void **state)
{
    (void)state;
    int moments = 0, wrong = 0;
    struct grant g = {.enabled = false};
    for (const struct line *l = lines; l < lines + sizeof lines / sizeof *lines; l++) {
        if (l->zone) {
            g = grant_of(l->zone, l->windows, l->from_s, l->until_s);
            continue;
        }
        moments++;
        if (!agrees(&g, l->at_s, l->inside, l->wait_s) && wrong++ < 20)
            print_error("%s at %lld\n", g.schedule.timezone.p, (long long)l->at_s);
    }
    assert_true(moments >= 2000);
    assert_int_equal(wrong, 0);
}

/* GRANT-23 */
static void test_a_grant_that_is_off_used_up_or_revoked_opens_never(void **state)
{
    (void)state;
    int64_t next_us = 7;
    const int64_t now_us = INT64_C(1795176000) * US_PER_S;
    struct grant g = grant_of("UTC", "1111111 09:00-17:00", 0, GRANT_NO_END);
    assert_true(grant_opens(&g, now_us) && grant_opens_next(&g, now_us + 300, &next_us));
    assert_int_equal(next_us, now_us + 300);
    g.enabled = false;
    assert_false(grant_opens(&g, now_us) || grant_opens_next(&g, now_us, &next_us));
    g.enabled = g.revoked = true;
    assert_false(grant_opens(&g, now_us) || grant_opens_next(&g, now_us, &next_us));
    g.revoked = false;
    g.remaining_uses = 0;
    assert_false(grant_opens(&g, now_us) || grant_opens_next(&g, now_us, &next_us));
    assert_int_equal(next_us, now_us + 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows_are_as_in_a_table_of_another_program),
        cmocka_unit_test(test_a_grant_that_is_off_used_up_or_revoked_opens_never),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
