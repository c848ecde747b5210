#include "base/wait.h"

#include "base/clock.h"
#include "unit.h"

struct bell {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool rung;
};

static void *ring(void *arg)
{
    struct bell *b = arg;
    pthread_mutex_lock(&b->lock);
    b->rung = true;
    pthread_cond_signal(&b->cond);
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

static void a_wait_ends_at_its_deadline(void **state)
{
    (void)state;
    struct bell b = {.lock = PTHREAD_MUTEX_INITIALIZER};
    cond_init(&b.cond);
    int64_t until_us = clock_monotonic_us() + 2000;
    pthread_mutex_lock(&b.lock);
    while (cond_wait_until(&b.cond, &b.lock, until_us))
        ;
    pthread_mutex_unlock(&b.lock);
    assert_true(clock_monotonic_us() >= until_us);
    pthread_cond_destroy(&b.cond);
}

static void a_signal_ends_a_wait(void **state)
{
    (void)state;
    struct bell b = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t thread;
    bool in_time = true;
    cond_init(&b.cond);
    pthread_mutex_lock(&b.lock);
    assert_int_equal(pthread_create(&thread, NULL, ring, &b), 0);
    while (!b.rung && in_time)
        in_time = cond_wait_until(&b.cond, &b.lock, clock_monotonic_us() + 60 * US_PER_S);
    pthread_mutex_unlock(&b.lock);
    pthread_join(thread, NULL);
    assert_true(b.rung && in_time);
    pthread_cond_destroy(&b.cond);
}

static void a_sleep_lasts_as_long_as_asked(void **state)
{
    (void)state;
    int64_t from_us = clock_monotonic_us();
    sleep_for_us(2000);
    assert_true(clock_monotonic_us() - from_us >= 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_ends_at_its_deadline),
        cmocka_unit_test(a_signal_ends_a_wait),
        cmocka_unit_test(a_sleep_lasts_as_long_as_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
