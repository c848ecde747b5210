#include "jobs/bell.h"

#include "base/clock.h"
#include "base/wait.h"

void bell_init(struct bell *b)
{
    *b = (struct bell){0};
    pthread_mutex_init(&b->lock, NULL);
    cond_init(&b->kicked);
    cond_init(&b->idle);
}

void bell_done(struct bell *b)
{
    pthread_cond_destroy(&b->idle);
    pthread_cond_destroy(&b->kicked);
    pthread_mutex_destroy(&b->lock);
}

uint64_t bell_kick(struct bell *b)
{
    pthread_mutex_lock(&b->lock);
    uint64_t kick = ++b->kicks;
    pthread_cond_signal(&b->kicked);
    pthread_mutex_unlock(&b->lock);
    return kick;
}

uint64_t bell_heard(struct bell *b)
{
    pthread_mutex_lock(&b->lock);
    uint64_t heard = b->kicks;
    pthread_mutex_unlock(&b->lock);
    return heard;
}

void bell_wake(struct bell *b)
{
    pthread_cond_signal(&b->kicked);
}

void bell_wait(struct bell *b, uint64_t heard, int64_t at_us)
{
    pthread_mutex_lock(&b->lock);
    if (b->kicks == heard && !b->stopping)
        cond_wait_until(&b->kicked, &b->lock, at_us);
    pthread_mutex_unlock(&b->lock);
}

void bell_set_idle(struct bell *b, uint64_t heard)
{
    pthread_mutex_lock(&b->lock);
    if (heard > b->idle_since) {
        b->idle_since = heard;
        pthread_cond_broadcast(&b->idle);
    }
    pthread_mutex_unlock(&b->lock);
}

static bool wait_for_idle(struct bell *b, int64_t at_us)
{
    return at_us == INT64_MAX ? pthread_cond_wait(&b->idle, &b->lock) == 0 : cond_wait_until(&b->idle, &b->lock, at_us);
}

bool bell_wait_idle(struct bell *b, uint64_t kick, int64_t at_us)
{
    pthread_mutex_lock(&b->lock);
    while (b->idle_since < kick && !b->stopping && wait_for_idle(b, at_us))
        ;
    bool idle = b->idle_since >= kick;
    pthread_mutex_unlock(&b->lock);
    return idle;
}

void bell_stop(struct bell *b)
{
    pthread_mutex_lock(&b->lock);
    b->stopping = true;
    pthread_cond_broadcast(&b->kicked);
    pthread_cond_broadcast(&b->idle);
    pthread_mutex_unlock(&b->lock);
}

bool bell_is_stopping(struct bell *b)
{
    pthread_mutex_lock(&b->lock);
    bool stopping = b->stopping;
    pthread_mutex_unlock(&b->lock);
    return stopping;
}

int64_t bell_sleep_us(const struct store *store, enum err result, int64_t next_us)
{
    int64_t longest_us = store_exclusive(store) ? BELL_SLEEP_ALONE_US : BELL_SLEEP_SHARED_US;
    if (result)
        return BELL_PAUSE_US;
    if (next_us == INT64_MAX)
        return longest_us;
    int64_t until_us = next_us - clock_now_us();
    return until_us < 0 ? 0 : until_us < longest_us ? until_us : longest_us;
}
