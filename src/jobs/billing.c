#include "jobs/billing.h"

#include "base/log.h"
#include "billing/billing.h"
#include "billing/billing_account.h"
#include "billing/billing_sync.h"
#include "domain/job.h"
#include "domain/work.h"
#include "jobs/checkout_session.h"

#define JOB_RECONCILE   "billing_reconcile"
#define EVERY_S         600
#define UNASKED_S       300 /* younger ones may have a request in progress */
#define BATCH           20
#define FAILURES_MAX    3 /* then the run ends */
#define SUBSCRIPTION_S  86400
#define PROVIDER_FAILED ERR_CHECKOUT_UNAVAILABLE

static enum err event_run(struct tx *tx, void *arg)
{
    const struct billing_event *event = arg;
    bool fresh;
    enum err e = billing_event_note(tx, event->id, &fresh);
    if (e || !fresh)
        return e;
    return billing_sync_queue(
        tx, event->object == BILLING_OBJECT_SESSION ? BILLING_SUBJECT_SESSION : BILLING_SUBJECT_SUBSCRIPTION,
        event->object_id);
}

enum err jobs_billing_event_receive(struct work *work, const struct billing_event *event)
{
    struct billing_event copy = *event;
    return event->object == BILLING_OBJECT_NONE ? ERR_NONE : work_write(work, event_run, &copy);
}

/* ---- reading one object ---- */

struct reading {
    const struct job *job;
    struct checkout_session session;
    struct billing_facts facts;
};

/* A session without a checkout here may still have given one of our accounts a subscription. */
static enum err settle_run(struct tx *tx, void *arg)
{
    const struct reading *r = arg;
    struct checkout c;
    enum err e = checkout_of_session(tx, NULL, r->session.id, &c);
    if (!e)
        return checkout_settle(tx, &c, &r->session);
    if (e == ERR_NOT_FOUND)
        e = r->session.subscription_id.p
                ? billing_sync_queue(tx, BILLING_SUBJECT_SUBSCRIPTION, r->session.subscription_id)
                : ERR_NONE;
    return e;
}

static enum err sync_session(struct billing *b, const struct job *job, struct str id)
{
    struct billing_session session;
    enum outcome o = b->ops->session_get(b, id, job->work->arena, &session);
    if (o != OUTCOME_DONE)
        return o == OUTCOME_REFUSED ? ERR_NONE : PROVIDER_FAILED;
    struct reading r = {.job = job, .session = checkout_session_of(&session)};
    return work_write(job->work, settle_run, &r);
}

static enum err apply_run(struct tx *tx, void *arg)
{
    struct reading *r = arg;
    bool live;
    r->facts.untold = tx->now_us - r->job->created_us >= SUBSCRIPTION_S * US_PER_S; /* no event queued it */
    enum err e = billing_apply(tx, &r->facts, &live);
    if (e || !live)
        return e;
    return job_repeat(tx, r->job->id, r->job->created_us, tx->now_us + SUBSCRIPTION_S * US_PER_S);
}

static enum err known_run(struct tx *tx, void *arg)
{
    const struct str *id = arg;
    return billing_known(tx, *id);
}

/* The provider has no such subscription. The job is repeated if an account has it, as it must be found; others are
 * ignored. */
static enum err check_missing(const struct job *job, struct str id)
{
    enum err e = work_read(job->work, known_run, &id);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    return PROVIDER_FAILED;
}

static enum err sync_subscription(struct billing *b, const struct job *job, struct str id)
{
    static const enum subscription_status statuses[] = {[BILLING_ACTIVE] = SUBSCRIPTION_ACTIVE,
                                                        [BILLING_PAST_DUE] = SUBSCRIPTION_PAST_DUE,
                                                        [BILLING_CANCELED] = SUBSCRIPTION_NONE,
                                                        [BILLING_INCOMPLETE] = SUBSCRIPTION_NONE};
    struct billing_subscription s;
    enum outcome o = b->ops->subscription_get(b, id, job->work->arena, &s);
    if (o != OUTCOME_DONE)
        return o == OUTCOME_REFUSED ? check_missing(job, id) : PROVIDER_FAILED;
    struct reading r = {
        .job = job,
        .facts = {.id = s.id,
                  .customer_id = s.customer_id,
                  .account_id = s.account_id,
                  .status = statuses[s.status],
                  .unpaid = s.status == BILLING_INCOMPLETE,
                  .plan = s.plan},
    };
    return work_write(job->work, apply_run, &r);
}

/* Nobody can be asked about objects of a provider that bills no longer. It may bill again. */
static enum err postpone_run(struct tx *tx, void *arg)
{
    const struct job *job = arg;
    return job_repeat(tx, job->id, job->created_us, tx->now_us + SUBSCRIPTION_S * US_PER_S);
}

static enum err sync_run(void *context, const struct job *job)
{
    enum billing_subject subject;
    struct str id;
    struct job copy = *job;
    if (!billing_sync_parse(job->payload, &subject, &id))
        return ERR_NONE;
    if (job->work->config->unbilled)
        return work_write(job->work, postpone_run, &copy);
    return subject == BILLING_SUBJECT_SESSION ? sync_session(context, job, id) : sync_subscription(context, job, id);
}

struct job_kind jobs_kind_billing_sync(struct billing *billing)
{
    return (struct job_kind){
        .name = JOB_BILLING_SYNC, .run = sync_run, .context = billing, .longest_s = SUBSCRIPTION_S};
}

/* ---- reconciliation ---- */

static enum err schedule_reconcile(struct tx *tx, int64_t due_us)
{
    return job_add_once(tx, STR(JOB_RECONCILE), JOB_RECONCILE, due_us, STR(""));
}

enum err jobs_schedule_billing(struct tx *tx)
{
    return schedule_reconcile(tx, tx->now_us);
}

struct list {
    const struct job *job;
    const struct checkout *items;
    size_t count, asked;
    int failures;
};

static enum err list_run(struct tx *tx, void *arg)
{
    struct list *l = arg;
    return checkout_unsettled(tx, tx->now_us - UNASKED_S * US_PER_S, BATCH, &l->items, &l->count);
}

static enum err reschedule_run(struct tx *tx, void *arg)
{
    const struct list *l = arg;
    bool more = l->failures < FAILURES_MAX && (l->count == BATCH || l->asked < l->count);
    enum err e = checkout_asked(tx, l->items, l->asked);
    if (!e)
        e = job_done(tx, l->job->id);
    return e ? e : schedule_reconcile(tx, tx->now_us + (more ? 1 : EVERY_S) * US_PER_S);
}

struct buyer {
    const struct id *account;
    struct billing_account found;
};

static enum err buyer_run(struct tx *tx, void *arg)
{
    struct buyer *b = arg;
    return billing_account_get(tx, b->account, &b->found);
}

/* An account that has a subscription must not buy a second one. */
static enum err expire_if_subscribed(const struct checkout_context *context, struct checkout *c)
{
    struct buyer b = {.account = &c->account_id};
    enum err e = work_read(context->work, buyer_run, &b);
    return e || b.found.status == SUBSCRIPTION_NONE ? e : checkout_session_expire(context, c);
}

static enum err reconcile_one(const struct checkout_context *context, const struct checkout *unsettled)
{
    struct checkout c = *unsettled;
    enum err e =
        c.status == CHECKOUT_PREPARING ? checkout_session_open(context, &c) : checkout_session_refresh(context, &c);
    if (!e && c.status == CHECKOUT_OPEN)
        e = expire_if_subscribed(context, &c);
    if (!e && c.status != unsettled->status)
        log_info("checkout id=%s account=%s found=%s", c.id.text, c.account_id.text, checkout_status_text(c.status));
    return e;
}

static enum err reconcile_all(const struct checkout_context *context, struct list *l)
{
    int64_t until_us = clock_monotonic_us() + JOB_PARTS_US;
    enum err e = ERR_NONE;
    while (!e && l->asked < l->count && l->failures < FAILURES_MAX && clock_monotonic_us() < until_us &&
           tenure_holds(&l->job->tenure)) {
        e = reconcile_one(context, &l->items[l->asked++]);
        if (e == PROVIDER_FAILED) {
            l->failures++;
            e = ERR_NONE;
        }
    }
    return e;
}

/* Checkouts that were tried come last in the next run, so that one without an answer does not hold up the others. */
static enum err reconcile_run(void *billing, const struct job *job)
{
    const struct checkout_context context = {.billing = billing, .work = job->work};
    struct list l = {.job = job};
    enum err e = ERR_NONE;
    if (!job->work->config->unbilled)
        e = work_read(job->work, list_run, &l);
    if (!e)
        e = reconcile_all(&context, &l);
    return e ? e : work_write(job->work, reschedule_run, &l);
}

struct job_kind jobs_kind_billing_reconcile(struct billing *billing)
{
    return (struct job_kind){.name = JOB_RECONCILE, .run = reconcile_run, .context = billing};
}
