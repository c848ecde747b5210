#include "cli/late.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/wait.h"
#include "billing/unbilled.h"
#include "domain/number.h"
#include "domain/push.h"
#include "domain/work.h"
#include "jobs/billing.h"
#include "jobs/purge.h"
#include "twiml/twiml.h"

#define AGAIN_US US_PER_S

struct late {
    struct late_options options;
    struct rhythm rhythm;
    bool waits; /* the thread runs */
};

static enum err schedule_jobs(struct tx *tx, void *unused)
{
    (void)unused;
    enum err e = jobs_schedule_purge(tx);
    if (!e)
        e = jobs_schedule_billing(tx);
    if (!e)
        e = number_look(tx);
    if (!e)
        e = push_key_claim(tx);
    return e ? e : twiml_schedule_expire(tx);
}

static enum err settle_accounts(struct tx *tx, void *arg)
{
    return unbilled_settle(tx, arg);
}

static enum err write_start(const struct late_options *o)
{
    enum err e = work_once(o->store, o->config, STORE_WRITE, schedule_jobs, NULL);
    for (bool more = true; !e && more;)
        e = work_once(o->store, o->config, STORE_WRITE, settle_accounts, &more);
    return e;
}

static enum err late_try(struct late *l)
{
    enum err e = heartbeat_join(l->options.heartbeat);
    if (!e)
        e = write_start(&l->options);
    return e ? e : jobs_start(l->options.jobs, l->options.heartbeat);
}

static void *late_thread(void *arg)
{
    struct late *l = arg;
    enum err e = ERR_SERVICE_UNAVAILABLE, told = e;
    while (e && rhythm_pause(&l->rhythm, clock_monotonic_us() + AGAIN_US)) {
        e = late_try(l);
        if (e && e != told)
            log_error("jobs wait error=%s", err_info(e)->code);
        told = e;
    }
    if (!e)
        log_info("jobs begin: the store can be written");
    return NULL;
}

enum err late_start(const struct late_options *options, struct late **ret)
{
    struct late *l = mem_new(struct late);
    l->options = *options;
    enum err e = late_try(l);
    const char *failing = e && store_exclusive(options->store) ? store_failing(options->store) : NULL;
    if (failing) {
        log_warn("jobs wait: the store cannot be written reason=\"%s\"", failing);
        e = rhythm_start(&l->rhythm, "late", late_thread, l);
        l->waits = !e;
    }
    if (e)
        free(l);
    else
        *ret = l;
    return e;
}

void late_stop(struct late *l)
{
    if (!l)
        return;
    if (l->waits)
        rhythm_stop(&l->rhythm);
    free(l);
}
