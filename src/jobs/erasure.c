#include "jobs/erasure.h"

#include "base/log.h"
#include "billing/erasure.h"
#include "domain/work.h"
#include "jobs/checkout_session.h"

#define PROVIDER_FAILED ERR_PROVIDER_UNAVAILABLE

struct erasure {
    const struct job *job;
    struct billing *billing;
    struct id account;
    struct erasure_dues dues;
    bool more;
};

/* ---- the provider ---- */

static enum err dues_run(struct tx *tx, void *arg)
{
    struct erasure *r = arg;
    return erasure_dues(tx, &r->account, &r->dues);
}

static enum err erased_customer_run(struct tx *tx, void *arg)
{
    const struct erasure *r = arg;
    return erasure_customer_ended(tx, &r->account);
}

static enum err subscription_run(struct tx *tx, void *arg)
{
    const struct erasure *r = arg;
    return checkout_subscription_ended(tx, &r->account, r->dues.subscription_id);
}

/* A checkout that was prepared may have a session at the provider, which is got with the same key and then expired. */
static enum err end_checkout(struct erasure *r)
{
    const struct checkout_context context = {.billing = r->billing, .work = r->job->work};
    struct checkout *c = &r->dues.checkout;
    enum err e = c->status == CHECKOUT_PREPARING ? checkout_session_open(&context, c) : ERR_NONE;
    return e || c->status != CHECKOUT_OPEN ? e : checkout_session_expire(&context, c);
}

static enum err end_customer(struct erasure *r)
{
    if (r->billing->ops->customer_delete(r->billing, r->dues.customer_id, r->job->work->arena) == OUTCOME_UNKNOWN)
        return PROVIDER_FAILED;
    return work_write(r->job->work, erased_customer_run, r);
}

/* A checkout's subscription that did not become the account's. */
static enum err end_subscription(struct erasure *r)
{
    struct billing *b = r->billing;
    struct arena *a = r->job->work->arena;
    struct billing_subscription s;
    enum outcome o = b->ops->subscription_get(b, r->dues.subscription_id, a, &s);
    if (o == OUTCOME_DONE && s.status != BILLING_CANCELED && s.customer_id.p)
        o = b->ops->customer_delete(b, s.customer_id, a);
    return o == OUTCOME_UNKNOWN ? PROVIDER_FAILED : work_write(r->job->work, subscription_run, r);
}

static enum err end_due(struct erasure *r)
{
    if (!tenure_holds(&r->job->tenure))
        return PROVIDER_FAILED;
    if (r->dues.unsettled)
        return end_checkout(r);
    return r->dues.customer_id.p ? end_customer(r) : end_subscription(r);
}

/* Nobody can be asked about the objects of a provider that bills no longer. */
static void warn_of_dues(const struct erasure *r)
{
    const struct erasure_dues *d = &r->dues;
    if (d->customer_id.p || d->subscription_id.p || d->unsettled)
        log_warn("account erased with billing.provider none: end what its earlier provider has account=%s "
                 "customer=%.*s subscription=%.*s",
                 r->account.text, STR_ARG(d->customer_id.p ? d->customer_id : STR("none")),
                 STR_ARG(d->subscription_id.p ? d->subscription_id : STR("none")));
}

static enum err end_billing(struct erasure *r)
{
    const int64_t until_us = clock_monotonic_us() + JOB_PARTS_US;
    for (;;) {
        enum err e = work_read(r->job->work, dues_run, r);
        if (e)
            return e;
        const struct erasure_dues *d = &r->dues;
        if (r->job->work->config->unbilled)
            warn_of_dues(r);
        if (r->job->work->config->unbilled || (!d->unsettled && !d->customer_id.p && !d->subscription_id.p))
            return ERR_NONE;
        if (clock_monotonic_us() > until_us)
            return PROVIDER_FAILED;
        e = end_due(r);
        if (e)
            return e;
    }
}

/* ---- the rows ---- */

static enum err erasure_sweep_run(struct tx *tx, void *arg)
{
    struct erasure *r = arg;
    return erasure_sweep(tx, &r->account, &r->more);
}

static enum err delete_rows(struct erasure *r)
{
    enum err e = ERR_NONE;
    for (r->more = true; !e && r->more;) {
        e = work_write(r->job->work, erasure_sweep_run, r);
        if (!e && r->more && clock_monotonic_us() > r->job->until_us)
            e = ERR_SERVICE_UNAVAILABLE; /* the lease ends: another run goes on */
    }
    return e;
}

static enum err erasure_run(void *context, const struct job *job)
{
    struct erasure r = {.job = job, .billing = context};
    if (!id_parse(job->payload, &r.account))
        return ERR_NONE;
    enum err e = end_billing(&r);
    if (!e)
        e = delete_rows(&r);
    if (!e)
        log_info("account erased account=%s", r.account.text);
    return e == ERR_ACCOUNT_NOT_FOUND ? ERR_NONE : e;
}

struct job_kind jobs_kind_erasure(struct billing *billing)
{
    return (struct job_kind){.name = JOB_ERASURE, .run = erasure_run, .context = billing};
}
