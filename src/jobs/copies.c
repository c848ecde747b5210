#include "jobs/copies.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metric.h"
#include "base/wait.h"
#include "store/backup.h"
#include "store/follow.h"

struct copies {
    const struct config *config;
    struct follower *follower;
    pthread_t thread;

    pthread_mutex_t lock; /* for the rest */
    pthread_cond_t wake;
    bool stopping;
};

static bool is_stopping(struct copies *c)
{
    pthread_mutex_lock(&c->lock);
    const bool stopping = c->stopping;
    pthread_mutex_unlock(&c->lock);
    return stopping;
}

static void copy_once(struct copies *c, bool *failing)
{
    const int64_t at_us = clock_real_us(), began_us = clock_monotonic_us();
    char *why = NULL;
    const bool failed = follower_copy(c->follower, &why);
    if (failed && !*failing && !is_stopping(c))
        log_error("copies of the store fail directory=\"%s\" reason=\"%s\"", c->config->backup_directory, why);
    else if (!failed && *failing)
        log_info("copies of the store are made again directory=\"%s\"", c->config->backup_directory);
    else
        log_debug("copy of the store ok=%d us=%lld", !failed, (long long)(clock_monotonic_us() - began_us));
    if (!failed)
        metric_set(metrics.followed, at_us);
    *failing = failed;
    free(why);
}

/* Returns false if the thread must end. */
static bool copies_pause(struct copies *c, int64_t until_us)
{
    pthread_mutex_lock(&c->lock);
    while (!c->stopping && cond_wait_until(&c->wake, &c->lock, until_us))
        ;
    const bool stopping = c->stopping;
    pthread_mutex_unlock(&c->lock);
    return !stopping;
}

static void *copies_thread(void *arg)
{
    struct copies *c = arg;
    bool failing = false;
    int64_t next_us = clock_monotonic_us();
    do {
        next_us += c->config->backup_every_s * US_PER_S;
        copy_once(c, &failing);
        if (next_us < clock_monotonic_us()) /* it took longer */
            next_us = clock_monotonic_us();
    } while (copies_pause(c, next_us));
    return NULL;
}

static void copies_free(struct copies *c)
{
    follower_free(c->follower);
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

enum err copies_start(const struct config *config, struct copies **ret)
{
    struct copies *c = mem_new(struct copies);
    c->config = config;
    c->follower = follower_new(config);
    pthread_mutex_init(&c->lock, NULL);
    cond_init(&c->wake);
    if (pthread_create(&c->thread, NULL, copies_thread, c)) {
        copies_free(c);
        return ERR_IO;
    }
    pthread_setname_np(c->thread, "copies");
    *ret = c;
    return ERR_NONE;
}

void copies_stop(struct copies *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->stopping = true;
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&c->lock);
    backup_interrupt();
    pthread_join(c->thread, NULL);
    copies_free(c);
}
