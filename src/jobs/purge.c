#include "jobs/purge.h"

#include "domain/access_guard.h"
#include "domain/billing_sync.h"
#include "domain/call_message.h"
#include "domain/call_record.h"
#include "domain/delivery_log.h"
#include "domain/event.h"
#include "domain/job.h"
#include "domain/key.h"
#include "domain/node.h"
#include "domain/number.h"
#include "domain/phone.h"
#include "domain/session.h"
#include "domain/work.h"

#define JOB_PURGE             "purge"
#define EVERY_S               3600
#define CHALLENGES_KEPT_S     86400
#define PHONE_CODES_KEPT_S    86400
#define BILLING_EVENTS_KEPT_S (30 * 86400) /* longer than a provider repeats one */
#define PURCHASES_KEPT_S      86400
#define KEYS_KEPT_S           (30 * 86400) /* after their expiry */
#define DELIVERIES_KEPT_S     (30 * 86400)

/* Few rows in a transaction, one transaction in a run, and then a pause, so that other writes are not held up. */
#define BATCH        200
#define PAUSE_TIMES  3 /* as long as the transaction took, including its wait for others */
#define PAUSE_MAX_US US_PER_S

static const struct {
    enum err (*purge)(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count);
    int64_t kept_s;
} sweeps[] = {
    {session_purge, CHALLENGES_KEPT_S},
    {phone_purge, PHONE_CODES_KEPT_S},
    {billing_event_purge, BILLING_EVENTS_KEPT_S},
    {key_purge, KEYS_KEPT_S},
    {delivery_purge, DELIVERIES_KEPT_S},
    {event_purge, DELIVERIES_KEPT_S},
    {guard_purge, GUARD_KEPT_S},
    {guard_purge_callers, CALLERS_KEPT_S},
    {call_record_purge, CALL_RECORD_KEPT_S},
    {call_message_purge, CALL_RECORD_KEPT_S},
    {node_purge, NODE_ROW_KEPT_S},
    {number_purchase_purge, PURCHASES_KEPT_S},
};

/* Sets *arg to the number of rows that it could have deleted in addition. */
static enum err purge_batch(struct tx *tx, void *arg)
{
    int64_t *left = arg, count;
    enum err e = ERR_NONE;
    *left = BATCH;
    for (size_t i = 0; !e && *left && i < sizeof sweeps / sizeof *sweeps; i++) {
        e = sweeps[i].purge(tx, tx->now_us - sweeps[i].kept_s * US_PER_S, *left, &count);
        *left -= e ? 0 : count;
    }
    return e;
}

static enum err schedule_purge(struct tx *tx, int64_t due_us)
{
    return job_add_once(tx, STR(JOB_PURGE), JOB_PURGE, due_us, STR(""));
}

enum err jobs_schedule_purge(struct tx *tx)
{
    return schedule_purge(tx, tx->now_us);
}

struct next {
    const struct job *job;
    int64_t after_us;
};

static enum err reschedule_purge(struct tx *tx, void *arg)
{
    const struct next *n = arg;
    enum err e = job_done(tx, n->job->id);
    return e ? e : schedule_purge(tx, tx->now_us + n->after_us);
}

static int64_t pause_us(int64_t took_us)
{
    return took_us < PAUSE_MAX_US / PAUSE_TIMES ? took_us * PAUSE_TIMES : PAUSE_MAX_US;
}

static enum err purge_run(void *context, const struct job *job)
{
    (void)context;
    const int64_t began_us = clock_monotonic_us();
    int64_t left;
    enum err e = work_write(job->work, purge_batch, &left);
    if (e)
        return e;
    struct next next = {job, left ? EVERY_S * US_PER_S : pause_us(clock_monotonic_us() - began_us)};
    return work_write(job->work, reschedule_purge, &next);
}

struct job_kind jobs_kind_purge(void)
{
    return (struct job_kind){.name = JOB_PURGE, .run = purge_run};
}
