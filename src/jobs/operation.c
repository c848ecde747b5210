#include "jobs/operation.h"

#include "base/log.h"
#include "domain/job.h"
#include "jobs/building_saga.h"

struct operation_load {
    const struct id *id;
    struct operation *o;
};

static enum err load_operation_run(struct tx *tx, void *arg)
{
    const struct operation_load *l = arg;
    return operation_find(tx, l->id, l->o);
}

static enum err load_operation(struct building_saga *s, const struct id *id)
{
    struct operation_load l = {id, &s->o};
    return work_write(s->work, load_operation_run, &l);
}

/* ---- the job ---- */

static enum err run_steps(struct building_saga *s)
{
    int64_t until_us = clock_monotonic_us() + JOB_PARTS_US;
    while (s->o.status == OPERATION_RUNNING) {
        enum err e = building_saga_step(s);
        if (e)
            return e;
        if (s->o.status == OPERATION_RUNNING && clock_monotonic_us() > until_us)
            return ERR_PROVIDER_UNAVAILABLE;
    }
    return ERR_NONE;
}

static enum err operation_run(void *context, const struct job *job)
{
    struct building_saga s = {.work = job->work,
                              .providers = context,
                              .resumed = job->attempt > 1,
                              .until_us = job->until_us,
                              .tenure = job->tenure};
    struct id id;
    if (!id_parse(job->payload, &id))
        return ERR_NONE;
    enum err e = load_operation(&s, &id);
    if (!e)
        e = run_steps(&s);
    if (e == ERR_NOT_FOUND) /* the provider took too long, and the step was changed meanwhile */
        e = load_operation(&s, &id);
    if (!e && s.o.status == OPERATION_RECONCILIATION_REQUIRED)
        log_error("operation waits for the operator id=%s step=%s", id.text, operation_step_text(s.o.step));
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

struct job_kind jobs_kind_operation(struct providers *providers)
{
    return (struct job_kind){.name = JOB_OPERATION, .run = operation_run, .context = providers};
}

/* ---- the operator's decision ---- */

struct decision {
    struct building_saga *s;
    int64_t lease;          /* of its job */
    struct operation after; /* at the step where it continues */
};

/* Holds the operation's job, so that no job thread and no other operator is in the middle of a provider call. The calls
 * to come have a new key: a provider may repeat its failure under the old one. */
static enum err decide_run(struct tx *tx, void *arg)
{
    struct decision *d = arg;
    struct operation *o = &d->after;
    const struct id id = d->s->o.id;
    enum err e = operation_find(tx, &id, o);
    if (e)
        return e;
    if (o->status != OPERATION_RECONCILIATION_REQUIRED)
        return tx_fail(tx, ERR_BAD_REQUEST, "only an operation that requires reconciliation can be decided");
    enum operation_step to = d->s->onward ? operation_forward(o->step) : operation_backward(o->step);
    if (to == STEP_NONE)
        return tx_fail(tx, ERR_BAD_REQUEST, "the building's data is being deleted: only `succeeded` is possible");
    e = job_hold(tx, operation_job(&id, tx->arena), JOB_OPERATION, id_str(&id), &d->s->tenure.node,
                 JOB_LEASE_S * US_PER_S, &d->lease);
    if (!e && !d->lease)
        return tx_fail(tx, ERR_BUILDING_BUSY, "a call to a provider is in progress: try again in a minute");
    return e ? e : operation_turn(tx, o, to);
}

static enum err release_job_run(struct tx *tx, void *arg)
{
    const struct decision *d = arg;
    return job_release(tx, operation_job(&d->s->o.id, tx->arena), d->lease);
}

static enum err run_decided_steps(struct building_saga *s)
{
    enum err e = ERR_NONE;
    while (!e && s->o.status == OPERATION_RECONCILIATION_REQUIRED)
        e = building_saga_step(s);
    return e;
}

enum err jobs_operation_resolve(struct work *work, const struct providers *providers, const struct tenure *tenure,
                                const struct id *operation, enum operation_decision decision, struct operation *ret)
{
    struct building_saga s = {.work = work,
                              .providers = providers,
                              .o.id = *operation,
                              .resumed = true,
                              .onward = decision == DECIDE_SUCCEEDED,
                              .until_us = clock_monotonic_us() + JOB_ALONE_US,
                              .tenure = *tenure};
    struct decision d = {.s = &s};
    enum err e = work_write(work, decide_run, &d);
    if (e)
        return e;
    s.o = d.after;
    e = run_decided_steps(&s);
    enum err released = work_write(work, release_job_run, &d);
    if (released)
        log_warn("operation's job not released id=%s error=%s", operation->text, err_info(released)->code);
    if (!e)
        *ret = s.o;
    return e;
}
