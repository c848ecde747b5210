#include "jobs/subscription.h"

#include "billing/subscription.h"
#include "domain/job.h"
#include "domain/work.h"

#define AGAIN_US (3600 * US_PER_S) /* while the clock is doubted: a provider does not give a number back */

/* Deletes the job's row, or dates it again, in the same transaction. */
static enum err release_all(struct tx *tx, void *arg)
{
    const struct job *job = arg;
    struct id account;
    int64_t due_us = clock_settled() ? 0 : tx->now_us + AGAIN_US;
    enum err e =
        due_us || !id_parse(job->payload, &account) ? ERR_NONE : subscription_release_numbers(tx, &account, &due_us);
    if (e)
        return e;
    return due_us ? job_repeat(tx, job->id, job->created_us, due_us) : job_done(tx, job->id);
}

static enum err release_all_run(void *context, const struct job *job)
{
    (void)context;
    struct job copy = *job;
    return work_write(job->work, release_all, &copy);
}

struct job_kind jobs_kind_release_all_numbers(void)
{
    return (struct job_kind){
        .name = JOB_RELEASE_NUMBERS, .run = release_all_run, .longest_s = SUBSCRIPTION_NUMBER_KEPT_S};
}
