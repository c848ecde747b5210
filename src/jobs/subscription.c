#include "jobs/subscription.h"

#include "domain/job.h"
#include "domain/subscription.h"
#include "domain/work.h"

/* The job's row goes in the same transaction. */
static enum err release(struct tx *tx, void *arg)
{
    const struct job *job = arg;
    struct id account;
    enum err e = id_parse(job->payload, &account) ? subscription_release_numbers(tx, &account) : ERR_NONE;
    return e ? e : job_done(tx, job->id);
}

static enum err release_run(void *context, const struct job *job)
{
    (void)context;
    struct job copy = *job;
    return work_write(job->work, release, &copy);
}

struct job_kind release_numbers_job(void)
{
    return (struct job_kind){.name = JOB_RELEASE_NUMBERS, .run = release_run};
}
