#include "jobs/number.h"

#include "domain/account.h"
#include "domain/job.h"
#include "domain/number.h"
#include "domain/operation.h"
#include "domain/owner.h"
#include "domain/work.h"

/* ---- provisioning ---- */

struct provision {
    const struct job *job;
    struct id building;
    bool wanted; /* the building exists, and is paid for; and nobody else gets one for it */
    struct number_claim claim;
    struct str number; /* what the provider gave; STR_NONE: nothing yet */
};

/* A building that is just being added gets its number from its operation, or goes with it. */
static enum err is_being_added(struct tx *tx, const struct id *account, const struct id *building, bool *ret)
{
    struct operation o;
    enum err e = operation_current(tx, account, &o);
    *ret = !e && o.action == OPERATION_ADD && str_eq(id_str(&o.building_id), id_str(building));
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

static enum err is_wanted(struct tx *tx, struct provision *p)
{
    struct id owner;
    struct account account;
    bool being_added = false;
    p->wanted = false;
    enum err e = building_owner(tx, &p->building, &owner);
    if (!e)
        e = account_get(tx, &owner, &account);
    if (e == ERR_BUILDING_NOT_FOUND || e == ERR_ACCOUNT_NOT_FOUND)
        return ERR_NONE;
    if (!e)
        e = is_being_added(tx, &owner, &p->building, &being_added);
    p->wanted = !e && !being_added && account.status != SUBSCRIPTION_NONE;
    return e;
}

/* What the inventory can do; the job ends with it unless the provider has to be asked. */
static enum err claim(struct tx *tx, void *arg)
{
    struct provision *p = arg;
    p->claim = (struct number_claim){STR_NONE, STR_NONE};
    enum err e = is_wanted(tx, p);
    if (!e && p->wanted)
        e = number_claim(tx, &p->building, &p->claim);
    return e || (p->wanted && !p->claim.number.p) ? e : job_done(tx, p->job->id);
}

/* The number that an attempt before this one got, as it was not told so. */
static enum err find_earlier(struct number_source *numbers, struct provision *p)
{
    if (p->job->attempt == 1)
        return ERR_NONE;
    enum outcome o = numbers->ops->find(numbers, id_str(&p->building), p->job->work->arena, &p->number);
    return o == OUTCOME_DONE ? ERR_NONE : ERR_PROVIDER_UNAVAILABLE;
}

static enum err acquire(struct number_source *numbers, struct provision *p)
{
    const struct job *job = p->job;
    enum outcome o = numbers->ops->acquire(numbers, id_str(&p->building), p->claim.country, job->until_us,
                                           job->work->arena, &p->number);
    if (o == OUTCOME_REFUSED)
        return ERR_NUMBER_NOT_PROVISIONED; /* there may be one later */
    return o == OUTCOME_DONE ? ERR_NONE : ERR_PROVIDER_UNAVAILABLE;
}

static enum err take_in(struct tx *tx, void *arg)
{
    struct provision *p = arg;
    struct str held;
    enum err e = number_add_provided(tx, &p->building, p->number, &held);
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
        e = work_write(job->work, claim, &p);
        if (e || !p.wanted || p.claim.number.p)
            return e;
        e = acquire(numbers, &p);
    }
    return e ? e : work_write(job->work, take_in, &p);
}

struct job_kind provision_job(struct number_source *numbers)
{
    return (struct job_kind){.name = JOB_PROVISION, .run = provision_run, .context = numbers};
}

/* ---- giving back ---- */

struct release {
    const struct job *job;
    bool leaving;
};

static enum err is_leaving(struct tx *tx, void *arg)
{
    struct release *r = arg;
    return number_leaving(tx, r->job->payload, &r->leaving);
}

static enum err forget(struct tx *tx, void *arg)
{
    const struct release *r = arg;
    enum err e = number_forget(tx, r->job->payload);
    return e ? e : job_done(tx, r->job->id);
}

static enum err release_run(void *context, const struct job *job)
{
    struct number_source *numbers = context;
    struct release r = {.job = job};
    enum err e = work_read(job->work, is_leaving, &r);
    if (e || !r.leaving)
        return e;
    if (numbers->ops->release(numbers, job->payload) != OUTCOME_DONE)
        return ERR_PROVIDER_UNAVAILABLE;
    return work_write(job->work, forget, &r);
}

struct job_kind release_number_job(struct number_source *numbers)
{
    return (struct job_kind){.name = JOB_RELEASE_NUMBER, .run = release_run, .context = numbers};
}
