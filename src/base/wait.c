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

static void rhythm_done(struct rhythm *r)
{
    pthread_cond_destroy(&r->wake);
    pthread_mutex_destroy(&r->lock);
}

enum err rhythm_start(struct rhythm *r, const char *name, void *(*run)(void *arg), void *arg)
{
    r->stopping = false;
    pthread_mutex_init(&r->lock, NULL);
    cond_init(&r->wake);
    if (pthread_create(&r->thread, NULL, run, arg)) {
        rhythm_done(r);
        return ERR_IO;
    }
    pthread_setname_np(r->thread, name);
    return ERR_NONE;
}

bool rhythm_pause(struct rhythm *r, int64_t until_us)
{
    pthread_mutex_lock(&r->lock);
    while (!r->stopping && cond_wait_until(&r->wake, &r->lock, until_us))
        ;
    const bool stopping = r->stopping;
    pthread_mutex_unlock(&r->lock);
    return !stopping;
}

void rhythm_end(struct rhythm *r)
{
    pthread_mutex_lock(&r->lock);
    r->stopping = true;
    pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->lock);
}

void rhythm_stop(struct rhythm *r)
{
    rhythm_end(r);
    pthread_join(r->thread, NULL);
    rhythm_done(r);
}
