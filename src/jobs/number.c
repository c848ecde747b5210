#include "jobs/number.h"

#include "base/log.h"
#include "billing/operation.h"
#include "domain/account.h"
#include "domain/job.h"
#include "domain/number.h"
#include "domain/owner.h"
#include "domain/work.h"

/* ---- provisioning ---- */

struct provision {
    const struct job *job;
    struct id building, account;
    bool wanted; /* the building exists and is paid for, and no operation gets a number for it */
    struct number_claim claim;
    struct str number; /* from the provider; STR_NONE: not yet */
    bool is_known;     /* the inventory had it when the provider gave it */
    struct str held;   /* that the building has then */
};

void jobs_log_assigned(struct str number, const struct id *building, const struct id *account)
{
    log_info("number number=%.*s building=%s account=%s result=assigned", STR_ARG(number), building->text,
             account->text);
}

/* The operation that adds a building gets its number; the one that removes it takes it. */
static enum err is_being_changed(struct tx *tx, const struct id *account, const struct id *building, bool *ret)
{
    struct operation o;
    enum err e = operation_current(tx, account, &o);
    *ret = !e && id_equal(&o.building_id, building);
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

static enum err is_wanted(struct tx *tx, struct provision *p)
{
    struct account account;
    bool being_changed = false;
    p->wanted = false;
    enum err e = building_owner(tx, &p->building, &p->account);
    if (!e)
        e = account_get(tx, &p->account, &account);
    if (e == ERR_BUILDING_NOT_FOUND || e == ERR_ACCOUNT_NOT_FOUND)
        return ERR_NONE;
    if (!e)
        e = is_being_changed(tx, &p->account, &p->building, &being_changed);
    p->wanted = !e && !being_changed && account.status != SUBSCRIPTION_NONE && !tx->config->assigned;
    return e;
}

/* Takes a number from the inventory. The job ends here unless the provider must be called. */
static enum err claim_number(struct tx *tx, void *arg)
{
    struct provision *p = arg;
    p->claim = (struct number_claim){STR_NONE, STR_NONE};
    enum err e = is_wanted(tx, p);
    if (!e && p->wanted)
        e = number_claim(tx, &p->building, &p->claim);
    return e || (p->wanted && !p->claim.number.p) ? e : job_done(tx, p->job->id);
}

/* Finds a number that an earlier attempt was given, but whose answer it lost. */
static enum err find_earlier(struct number_source *numbers, struct provision *p)
{
    if (p->job->attempt == 1)
        return ERR_NONE;
    enum outcome o = numbers->ops->find(numbers, id_str(&p->building), p->job->work->arena, &p->number);
    return o == OUTCOME_DONE ? ERR_NONE : ERR_PROVIDER_UNAVAILABLE;
}

static enum err acquire_number(struct number_source *numbers, struct provision *p)
{
    const struct job *job = p->job;
    if (!tenure_holds(&job->tenure))
        return ERR_PROVIDER_UNAVAILABLE;
    enum outcome o = numbers->ops->acquire(numbers, id_str(&p->building), p->claim.country, job->until_us,
                                           job->work->arena, &p->number);
    if (o == OUTCOME_REFUSED)
        return ERR_NUMBER_NOT_PROVISIONED; /* one may become available later */
    return o == OUTCOME_DONE ? ERR_NONE : ERR_PROVIDER_UNAVAILABLE;
}

static enum err read_known(struct tx *tx, void *arg)
{
    struct provision *p = arg;
    return number_known(tx, p->number, &p->is_known);
}

/* While a number is being returned, the provider may still give it. It is the building's if the provider has it after
 * the inventory had nothing of it. */
static enum err confirm_number(struct number_source *numbers, struct provision *p)
{
    struct str held = STR_NONE;
    enum err e = work_read(p->job->work, read_known, p);
    if (e || p->is_known)
        return e;
    enum outcome o = numbers->ops->find(numbers, id_str(&p->building), p->job->work->arena, &held);
    return o == OUTCOME_DONE && str_eq(held, p->number) ? ERR_NONE : ERR_PROVIDER_UNAVAILABLE;
}

static enum err store_number(struct tx *tx, void *arg)
{
    struct provision *p = arg;
    bool is_known;
    enum err e = number_known(tx, p->number, &is_known);
    if (!e && p->is_known && !is_known)
        return ERR_NUMBER_NOT_PROVISIONED; /* it was returned meanwhile */
    if (!e)
        e = number_add_provided(tx, &p->building, p->number, &p->held);
    if (!e && p->held.p)
        e = building_owner(tx, &p->building, &p->account);
    return e ? e : job_done(tx, p->job->id);
}

static enum err provision_run(void *context, const struct job *job)
{
    struct number_source *numbers = context;
    struct provision p = {.job = job};
    if (!id_parse(job->payload, &p.building))
        return ERR_NONE;
    enum err e = find_earlier(numbers, &p);
    if (!e && !p.number.p) {
        e = work_write(job->work, claim_number, &p);
        if (!e && p.claim.number.p)
            jobs_log_assigned(p.claim.number, &p.building, &p.account);
        if (e || !p.wanted || p.claim.number.p)
            return e;
        e = acquire_number(numbers, &p);
    }
    if (!e)
        e = confirm_number(numbers, &p);
    if (!e)
        e = work_write(job->work, store_number, &p);
    if (!e && p.held.p)
        jobs_log_assigned(p.held, &p.building, &p.account);
    return e;
}

struct job_kind jobs_kind_provision(struct number_source *numbers)
{
    return (struct job_kind){.name = JOB_PROVISION, .run = provision_run, .context = numbers};
}

/* ---- buildings without a number ---- */

#define LOOK_EVERY_S 3600
#define LOOK_BATCH   200 /* rows in a transaction, so that other writes are not held up */

struct look {
    const struct job *job;
    struct id last; /* building that was looked at */
};

static enum err look_batch(struct tx *tx, void *arg)
{
    struct look *l = arg;
    return number_look_batch(tx, &l->last, LOOK_BATCH, &l->last);
}

static enum err numbers_ended(struct tx *tx, void *arg)
{
    const struct look *l = arg;
    return job_repeat(tx, l->job->id, l->job->created_us, tx->now_us + LOOK_EVERY_S * US_PER_S);
}

static enum err numbers_run(void *context, const struct job *job)
{
    (void)context;
    const int64_t until_us = clock_monotonic_us() + JOB_PARTS_US;
    struct look l = {.job = job};
    enum err e;
    do
        e = job->work->config->assigned ? ERR_NONE : work_write(job->work, look_batch, &l);
    while (!e && id_given(&l.last) && clock_monotonic_us() < until_us);
    return e ? e : work_write(job->work, numbers_ended, &l);
}

struct job_kind jobs_kind_numbers(void)
{
    return (struct job_kind){.name = JOB_NUMBERS, .run = numbers_run};
}

/* ---- releasing ---- */

struct release {
    const struct job *job;
    bool leaving;
};

static enum err read_number_to_release(struct tx *tx, void *arg)
{
    struct release *r = arg;
    return number_leaving(tx, r->job->payload, &r->leaving);
}

static enum err delete_number(struct tx *tx, void *arg)
{
    const struct release *r = arg;
    enum err e = number_forget(tx, r->job->payload);
    return e ? e : job_done(tx, r->job->id);
}

static enum err release_number_run(void *context, const struct job *job)
{
    struct number_source *numbers = context;
    struct release r = {.job = job};
    enum err e = work_read(job->work, read_number_to_release, &r);
    if (e || !r.leaving)
        return e;
    if (!tenure_holds(&job->tenure) || numbers->ops->release(numbers, job->payload) != OUTCOME_DONE)
        return ERR_PROVIDER_UNAVAILABLE;
    return work_write(job->work, delete_number, &r);
}

struct job_kind jobs_kind_release_number(struct number_source *numbers)
{
    return (struct job_kind){.name = JOB_RELEASE_NUMBER, .run = release_number_run, .context = numbers};
}
