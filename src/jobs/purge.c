#include "jobs/purge.h"

#include "billing/billing_sync.h"
#include "domain/access_guard.h"
#include "domain/activity.h"
#include "domain/call_message.h"
#include "domain/call_record.h"
#include "domain/delivery_log.h"
#include "domain/event.h"
#include "domain/feed.h"
#include "domain/grant.h"
#include "domain/job.h"
#include "domain/key.h"
#include "domain/number.h"
#include "domain/phone.h"
#include "domain/session.h"
#include "domain/work.h"
#include "jobs/node.h"
#include "oauth/oauth.h"

#define EVERY_S               3600
#define CHALLENGES_KEPT_S     86400
#define PHONE_CODES_KEPT_S    86400
#define OAUTH_CODES_KEPT_S    86400 /* until then, a code that comes again ends the grant that it was exchanged for */
#define BILLING_EVENTS_KEPT_S (30 * 86400) /* longer than a provider repeats one */
#define PURCHASES_KEPT_S      86400
#define KEYS_KEPT_S           KEY_REMEMBERED_S /* after their expiry: until then a browser may renew its key */
#define DAY_S                 86400

/* Few rows in a transaction, one transaction in a run, and then a pause, so that other writes are not held up. */
#define BATCH        200
#define PAUSE_TIMES  3 /* as long as the transaction took, including its wait for others */
#define PAUSE_MAX_US US_PER_S

/* Rows are kept for kept_s, or for the days of a key of section `retention` (its place in struct config). */
#define DAYS(key) .days = offsetof(struct config, retention_##key)
static const struct sweep {
    enum err (*purge)(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count);
    int64_t kept_s;
    size_t days;
} sweeps[] = {
    {session_purge, .kept_s = CHALLENGES_KEPT_S},
    {phone_purge, .kept_s = PHONE_CODES_KEPT_S},
    {oauth_purge, .kept_s = OAUTH_CODES_KEPT_S},
    {billing_event_purge, .kept_s = BILLING_EVENTS_KEPT_S},
    {key_purge, .kept_s = KEYS_KEPT_S},
    {delivery_purge, DAYS(deliveries_days)},
    {event_purge, DAYS(deliveries_days)},
    {guard_purge, .kept_s = GUARD_KEPT_S},
    {guard_purge_callers, DAYS(callers_days)},
    {call_record_purge, DAYS(calls_days)},
    {call_message_purge, DAYS(calls_days)},
    {feed_purge, .kept_s = FEED_KEPT_S},
    {node_purge, .kept_s = NODE_ROW_KEPT_S},
    {number_purchase_purge, .kept_s = PURCHASES_KEPT_S},
    {grant_forget, DAYS(grants_days)},
};

/* 0: for ever. */
static int64_t purge_kept_s(const struct sweep *s, const struct config *c)
{
    int64_t days;
    if (!s->days)
        return s->kept_s;
    memcpy(&days, (const char *)c + s->days, sizeof days);
    return days * DAY_S;
}

struct purge {
    const struct job *job; /* its payload: the building where the walk through the logs goes on; empty: at the first */
    int64_t left;          /* rows that it could have deleted in addition */
    struct id after;       /* where the walk goes on … */
    bool more;             /* … if it does */
};

static enum err purge_logs(struct tx *tx, struct purge *p)
{
    const int64_t days = tx->config->retention_activity_days;
    if (days == 0) /* for ever */
        return ERR_NONE;
    const int64_t before_us = tx->now_us - days * DAY_S * US_PER_S;
    return activity_purge(tx, p->job->payload, before_us, p->left, &p->after, &p->more);
}

static enum err purge_batch(struct tx *tx, void *arg)
{
    struct purge *p = arg;
    int64_t count;
    enum err e = ERR_NONE;
    p->left = BATCH;
    p->after = (struct id){{0}};
    p->more = false;
    for (size_t i = 0; !e && p->left && i < sizeof sweeps / sizeof *sweeps; i++) {
        const int64_t kept_s = purge_kept_s(&sweeps[i], tx->config);
        count = 0;
        if (kept_s)
            e = sweeps[i].purge(tx, tx->now_us - kept_s * US_PER_S, p->left, &count);
        p->left -= e ? 0 : count;
    }
    return e || !p->left ? e : purge_logs(tx, p);
}

static enum err schedule_purge(struct tx *tx, int64_t due_us, struct str after)
{
    return job_add_once(tx, STR(JOB_PURGE), JOB_PURGE, due_us, after.p ? after : STR(""));
}

enum err jobs_schedule_purge(struct tx *tx)
{
    return schedule_purge(tx, tx->now_us, STR(""));
}

struct next {
    const struct job *job;
    struct str after;
    int64_t after_us;
};

static enum err reschedule_purge(struct tx *tx, void *arg)
{
    const struct next *n = arg;
    enum err e = job_done(tx, n->job->id);
    return e ? e : schedule_purge(tx, tx->now_us + n->after_us, n->after);
}

static int64_t pause_us(int64_t took_us)
{
    return took_us < PAUSE_MAX_US / PAUSE_TIMES ? took_us * PAUSE_TIMES : PAUSE_MAX_US;
}

static enum err postpone_purge(const struct job *job)
{
    struct next next = {.job = job, .after = job->payload, .after_us = EVERY_S * US_PER_S};
    return work_write(job->work, reschedule_purge, &next);
}

static enum err purge_run(void *context, const struct job *job)
{
    (void)context;
    if (!clock_settled())
        return postpone_purge(job);
    const int64_t began_us = clock_monotonic_us();
    struct purge p = {.job = job};
    enum err e = work_write(job->work, purge_batch, &p);
    if (e)
        return e;
    const bool rests = p.left && !p.more;
    struct next next = {.job = job,
                        .after = p.left ? id_str(&p.after) : job->payload,
                        .after_us = rests ? EVERY_S * US_PER_S : pause_us(clock_monotonic_us() - began_us)};
    return work_write(job->work, reschedule_purge, &next);
}

struct job_kind jobs_kind_purge(void)
{
    return (struct job_kind){.name = JOB_PURGE, .run = purge_run};
}
