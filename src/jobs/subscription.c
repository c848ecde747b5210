#include "jobs/subscription.h"

#include "domain/job.h"
#include "domain/number.h"
#include "domain/subscription.h"
#include "domain/transact.h"

/* What to do with the ID in the payload; the job's row goes in the same transaction. */
struct step {
    const struct job *job;
    enum err (*run)(struct op *op, const struct id *id);
};

static enum err step_run(struct op *op, void *arg)
{
    const struct step *s = arg;
    struct id id;
    enum err e = id_parse(s->job->payload, &id) ? s->run(op, &id) : ERR_NONE;
    return e ? e : job_done(op, s->job->id);
}

static enum err transact(const struct job *job, enum err (*run)(struct op *op, const struct id *id))
{
    struct step s = {.job = job, .run = run};
    return op_transact(job->store, job->config, STORE_WRITE, job->arena, step_run, &s, NULL);
}

static enum err allocate(struct op *op, const struct id *building)
{
    enum err e = number_allocate(op, building, NULL);
    return e == ERR_BUILDING_NOT_FOUND ? ERR_NONE : e; /* removed in the meantime */
}

static enum err provision_run(void *context, const struct job *job)
{
    (void)context;
    return transact(job, allocate);
}

static enum err release_run(void *context, const struct job *job)
{
    (void)context;
    return transact(job, subscription_release_numbers);
}

struct job_kind provision_job(void)
{
    return (struct job_kind){.name = JOB_PROVISION, .run = provision_run};
}

struct job_kind release_numbers_job(void)
{
    return (struct job_kind){.name = JOB_RELEASE_NUMBERS, .run = release_run};
}
