/* The job threads: they take rows of table `job` that are due (domain/job.h), under a lease, and run each by its kind.
 *
 * A job runs at least once: it is repeated after a failure (with growing pauses, on the service's clock) and after a
 * crash of the process that had it (when its lease ends, on the real clock; with a store of one process at the next
 * start). A kind's function makes repeating harmless, or removes the row with job_done in its own last transaction. */
#pragma once
#include "domain/work.h"

#define JOB_LEASE_S 120 /* a job must have ended by then */
/* How much of it counts: the rest is for clocks of several nodes that differ. */
#define JOB_ALONE_US ((JOB_LEASE_S - 20) * US_PER_S)
/* One that asks others several times begins nothing new after that. */
#define JOB_PARTS_US (JOB_LEASE_S / 4 * US_PER_S)

struct job {
    struct str id, kind;
    int64_t attempt; /* 1 the first time */
    int64_t created_us;
    int64_t until_us; /* the monotonic clock: so long nobody else, on any node, runs it */
    struct str payload;
    struct work *work; /* the arena is this run's */
};

struct job_kind {
    const char *name;
    /* ERR_NONE ends the job; any error repeats it later. On a job thread; may block; opens its own transactions
     * (job->work). */
    enum err (*run)(void *context, const struct job *job);
    void *context;
};

struct jobs;

struct jobs_options {
    const struct config *config;
    struct store *store;
    const struct job_kind *kinds; /* must outlive the jobs */
    size_t kind_count;
    unsigned threads; /* 0: eight */
};

struct jobs *jobs_new(const struct jobs_options *options);
/* Frees the leases a crash left (where one process has the store) and starts the threads. */
enum err jobs_start(struct jobs *j) CHECKED;
/* Lets running jobs end, takes no more. */
void jobs_stop(struct jobs *j);
void jobs_free(struct jobs *j);

/* Any thread, never blocks: there are new rows, or the clock has moved. */
void jobs_kick(struct jobs *j);
/* Waits until no job is due and none runs (or the store fails, or jobs_stop is called). Jobs that failed and wait for
 * their next attempt do not count. Not from a job. */
void jobs_drain(struct jobs *j);
/* Waits until the job of that ID is done, for at most wait_ms; no longer when it waits itself for an attempt that comes
 * later than that. Not from a job. */
enum err jobs_wait(struct jobs *j, struct str id, int64_t wait_ms, bool *ret_done) CHECKED;
