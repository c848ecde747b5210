/* The bell: kicks, waits for a kick, and waits for idleness. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "jobs/bell.h"

#define LONG_US (30 * US_PER_S) /* a failing test ends by then */

static int64_t in_us(int64_t us)
{
    return clock_monotonic_us() + us;
}

static int set_up(void **state)
{
    static struct bell bell;
    bell_init(&bell);
    *state = &bell;
    return 0;
}

static int tear_down(void **state)
{
    bell_done(*state);
    return 0;
}

static void test_each_kick_counts_once(void **state)
{
    assert_int_equal(bell_kick(*state), 1);
    assert_int_equal(bell_kick(*state), 2);
    assert_int_equal(bell_heard(*state), 2);
}

static void test_a_kick_before_the_wait_ends_it(void **state)
{
    uint64_t heard = bell_heard(*state);
    bell_kick(*state);
    bell_wait(*state, heard, INT64_MAX / 2);
}

static void test_idleness_before_a_kick_does_not_count_for_it(void **state)
{
    uint64_t heard = bell_heard(*state), kick = bell_kick(*state);
    bell_set_idle(*state, heard);
    assert_false(bell_wait_idle(*state, kick, in_us(1000)));
    bell_set_idle(*state, kick);
    assert_true(bell_wait_idle(*state, kick, in_us(1000)));
}

static void test_an_older_look_that_ends_later_takes_nothing_back(void **state)
{
    uint64_t kick = bell_kick(*state);
    bell_set_idle(*state, kick);
    bell_set_idle(*state, kick - 1);
    assert_true(bell_wait_idle(*state, kick, in_us(1000)));
}

/* A thread that looks for work and always finds nothing. */
static void *look(void *arg)
{
    struct bell *b = arg;
    while (!bell_is_stopping(b)) {
        uint64_t heard = bell_heard(b);
        bell_set_idle(b, heard);
        bell_wait(b, heard, in_us(LONG_US));
    }
    return NULL;
}

static void test_a_drain_ends_once_a_thread_has_looked(void **state)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, look, *state), 0);
    for (int i = 0; i < 1000; i++)
        assert_true(bell_wait_idle(*state, bell_kick(*state), INT64_MAX));
    bell_stop(*state);
    pthread_join(thread, NULL);
}

static void *drain(void *arg)
{
    struct bell *b = arg;
    return bell_wait_idle(b, bell_kick(b), INT64_MAX) ? b : NULL;
}

static void test_a_stop_ends_a_drain(void **state)
{
    pthread_t thread;
    void *drained;
    assert_int_equal(pthread_create(&thread, NULL, drain, *state), 0);
    bell_stop(*state);
    pthread_join(thread, &drained);
    assert_null(drained);
    bell_wait(*state, bell_heard(*state), in_us(LONG_US)); /* returns at once from now on */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_each_kick_counts_once),
        TEST(test_a_kick_before_the_wait_ends_it),
        TEST(test_idleness_before_a_kick_does_not_count_for_it),
        TEST(test_an_older_look_that_ends_later_takes_nothing_back),
        TEST(test_a_drain_ends_once_a_thread_has_looked),
        TEST(test_a_stop_ends_a_drain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
