#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "client/listen_replay.h"

#define STEPS_MAX 12

/* Where a stream with the events oldest..newest begins if it is asked for those after `after`. */
static int64_t begins_at(int64_t oldest, int64_t newest, int64_t after)
{
    const bool resumes =
        after == newest || (after < newest && newest - after <= LISTEN_REPLAY_MAX && after + 1 >= oldest);
    return resumes ? after : newest;
}

/* The number at which reading goes on in the end. */
static int64_t found(int64_t oldest, int64_t newest, int64_t grows)
{
    struct listen_search s = {0};
    int64_t at = newest, next;
    for (int steps = 0; (next = listen_search_step(&s, at)) >= 0; steps++) {
        assert_true(steps < STEPS_MAX);
        newest += grows;
        at = begins_at(oldest, newest, next);
    }
    assert_int_equal(listen_search_step(&s, at), -1);
    return at;
}

static void replay_begins_at_the_earliest_event_that_is_sent(void **state)
{
    (void)state;
    assert_int_equal(found(1, 0, 0), 0);
    assert_int_equal(found(1, 1, 0), 0);
    assert_int_equal(found(1, 200, 0), 0);
    assert_int_equal(found(1, 500, 0), 300);
    assert_int_equal(found(450, 500, 0), 449);
    assert_int_equal(found(500, 500, 0), 499);
    assert_int_equal(found(501, 500, 0), 500);
    for (int64_t oldest = 300; oldest <= 501; oldest++)
        assert_int_equal(found(oldest, 500, 0), oldest - 1 < 300 ? 300 : oldest - 1);
}

static void events_that_come_meanwhile_do_not_confuse_it(void **state)
{
    (void)state;
    for (int64_t oldest = 380; oldest <= 500; oldest += 7)
        assert_int_equal(found(oldest, 500, 1), oldest - 1);
}

static struct listen_choice choice(const char *text)
{
    struct listen_choice c;
    assert_true(listen_choice_read(text, 10000 * US_PER_S, &c));
    return c;
}

static void past_events_are_chosen_by_number_or_time(void **state)
{
    struct listen_choice c;
    static const char *const wrong[] = {"",    "0", "201",  "-1",         "5x",
                                        "5mm", "m", "soon", "2026-11-24", "99999999999999999999"};
    (void)state;
    assert_int_equal(choice("5").count, 5);
    assert_int_equal(choice("200").count, 200);
    assert_int_equal(choice("30m").since_us, (10000 - 1800) * US_PER_S);
    assert_int_equal(choice("2h").since_us, (10000 - 7200) * US_PER_S);
    assert_int_equal(choice("1970-01-01T01:00:00Z").since_us, 3600 * US_PER_S);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(listen_choice_read(wrong[i], 10000 * US_PER_S, &c));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replay_begins_at_the_earliest_event_that_is_sent),
        cmocka_unit_test(events_that_come_meanwhile_do_not_confuse_it),
        cmocka_unit_test(past_events_are_chosen_by_number_or_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
