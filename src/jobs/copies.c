#include "jobs/copies.h"

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
    struct rhythm rhythm;
};

static void copy_once(struct copies *c, bool *failing)
{
    const int64_t at_us = clock_real_us(), began_us = clock_monotonic_us();
    char *why = NULL;
    const bool failed = follower_copy(c->follower, &why);
    if (failed && !*failing && rhythm_pause(&c->rhythm, 0))
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
    } while (rhythm_pause(&c->rhythm, next_us));
    return NULL;
}

static void copies_free(struct copies *c)
{
    follower_free(c->follower);
    free(c);
}

enum err copies_start(const struct config *config, struct copies **ret)
{
    struct copies *c = mem_new(struct copies);
    c->config = config;
    c->follower = follower_new(config);
    const enum err e = rhythm_start(&c->rhythm, "copies", copies_thread, c);
    if (e)
        copies_free(c);
    else
        *ret = c;
    return e;
}

void copies_stop(struct copies *c)
{
    if (!c)
        return;
    rhythm_end(&c->rhythm);
    backup_interrupt();
    rhythm_stop(&c->rhythm);
    copies_free(c);
}
