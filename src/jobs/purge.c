#include "jobs/purge.h"

#include "domain/access_guard.h"
#include "domain/billing.h"
#include "domain/delivery_log.h"
#include "domain/event.h"
#include "domain/job.h"
#include "domain/key.h"
#include "domain/phone.h"
#include "domain/session.h"
#include "domain/transact.h"

#define JOB_PURGE             "purge"
#define EVERY_S               3600
#define CHALLENGES_KEPT_S     86400
#define PHONE_CODES_KEPT_S    86400
#define BILLING_EVENTS_KEPT_S (30 * 86400) /* longer than any provider repeats one */
#define KEYS_KEPT_S           (30 * 86400) /* after their expiry; until then they are listed */
#define DELIVERIES_KEPT_S     (30 * 86400)
#define BATCH                 500 /* rows a transaction: others want to write, too */

struct sweep {
    enum err (*purge)(struct op *op, int64_t before_us, int64_t limit, int64_t *ret_count);
    int64_t kept_s, count;
};

static enum err sweep_run(struct op *op, void *arg)
{
    struct sweep *s = arg;
    return s->purge(op, op->now_us - s->kept_s * US_PER_S, BATCH, &s->count);
}

static enum err sweep(const struct job *job, struct sweep s)
{
    enum err e;
    do
        e = op_transact(job->store, job->config, STORE_WRITE, job->arena, sweep_run, &s, NULL);
    while (!e && s.count == BATCH);
    return e;
}

static enum err schedule(struct op *op, int64_t due_us)
{
    return job_add_once(op, STR(JOB_PURGE), JOB_PURGE, due_us, STR(""));
}

enum err purge_schedule(struct op *op)
{
    return schedule(op, op->now_us);
}

static enum err reschedule(struct op *op, void *arg)
{
    const struct job *job = arg;
    enum err e = job_done(op, job->id);
    return e ? e : schedule(op, op->now_us + EVERY_S * US_PER_S);
}

static enum err purge_run(void *context, const struct job *job)
{
    (void)context;
    struct job again = *job;
    enum err e = sweep(job, (struct sweep){.purge = session_purge, .kept_s = CHALLENGES_KEPT_S});
    if (!e)
        e = sweep(job, (struct sweep){.purge = phone_purge, .kept_s = PHONE_CODES_KEPT_S});
    if (!e)
        e = sweep(job, (struct sweep){.purge = billing_event_purge, .kept_s = BILLING_EVENTS_KEPT_S});
    if (!e)
        e = sweep(job, (struct sweep){.purge = key_purge, .kept_s = KEYS_KEPT_S});
    if (!e)
        e = sweep(job, (struct sweep){.purge = delivery_purge, .kept_s = DELIVERIES_KEPT_S});
    if (!e)
        e = sweep(job, (struct sweep){.purge = event_purge, .kept_s = DELIVERIES_KEPT_S});
    if (!e)
        e = sweep(job, (struct sweep){.purge = guard_purge, .kept_s = GUARD_KEPT_S});
    if (!e)
        e = sweep(job, (struct sweep){.purge = guard_purge_callers, .kept_s = CALLERS_KEPT_S});
    if (!e)
        e = op_transact(job->store, job->config, STORE_WRITE, job->arena, reschedule, &again, NULL);
    return e;
}

struct job_kind purge_job(void)
{
    return (struct job_kind){.name = JOB_PURGE, .run = purge_run};
}
