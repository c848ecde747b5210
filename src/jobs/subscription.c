#include "jobs/subscription.h"

#include "domain/job.h"
#include "domain/subscription.h"
#include "domain/work.h"

/* Deletes the job's row in the same transaction. */
static enum err release_all(struct tx *tx, void *arg)
{
    const struct job *job = arg;
    struct id account;
    enum err e = id_parse(job->payload, &account) ? subscription_release_numbers(tx, &account) : ERR_NONE;
    return e ? e : job_done(tx, job->id);
}

static enum err release_all_run(void *context, const struct job *job)
{
    (void)context;
    struct job copy = *job;
    return work_write(job->work, release_all, &copy);
}

struct job_kind jobs_kind_release_all_numbers(void)
{
    return (struct job_kind){.name = JOB_RELEASE_NUMBERS, .run = release_all_run};
}
