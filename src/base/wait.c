#include "base/wait.h"

#include <time.h>

#include "base/clock.h"

static struct timespec timespec_of(int64_t us)
{
    return (struct timespec){.tv_sec = us / US_PER_S, .tv_nsec = us % US_PER_S * 1000};
}

void cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

bool cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t at_us)
{
    const struct timespec at = timespec_of(at_us);
    return pthread_cond_timedwait(cond, lock, &at) == 0;
}

void sleep_for_us(int64_t us)
{
    const struct timespec t = timespec_of(us);
    nanosleep(&t, NULL);
}
