/* The job threads. They take due rows of table `job` (domain/job.h) under a lease, and run each by its kind.
 *
 * A job runs at least once. It is repeated after a failure, with growing pauses on the service's clock, and after a
 * crash of its process: when another node ends it (jobs/heartbeat.h) or, with a store of one process, at the next
 * start. The function of a kind must make repeating harmless, or remove the row with job_done in its last transaction.
 */
#pragma once
#include "domain/work.h"
#include "jobs/heartbeat.h"

#define JOB_LEASE_S   120  /* a job must have ended by then */
#define JOB_LONGEST_S 3600 /* between two attempts */
/* The part of the lease that counts; the rest allows for the time from the lease to its commit. */
#define JOB_ALONE_US ((JOB_LEASE_S - 20) * US_PER_S)
/* A job that makes several calls to providers must not begin another one after that. */
#define JOB_PARTS_US (JOB_LEASE_S / 4 * US_PER_S)

struct job {
    struct str id, kind;
    int64_t attempt; /* 1 the first time */
    int64_t created_us;
    int64_t until_us; /* monotonic: no other thread, on any node, runs it until then, while the tenure holds */
    struct str payload;
    struct tenure tenure; /* must hold before each call to a provider */
    struct work *work;    /* its arena lives as long as this run */
};

struct job_kind {
    const char *name;
    /* Returns ERR_NONE to end the job, any error to have it repeated later. Called on a job thread; may block. Runs its
     * transactions with job->work. */
    enum err (*run)(void *context, const struct job *job);
    void *context;
    int64_t longest_s; /* a job of the kind is due so long after it was added or has run, at most; 0: JOB_LONGEST_S */
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
/* Frees the leases that a crash left (if one process has the store) and starts the threads, whose leases belong to the
 * node of the heartbeats. After a failure it may be called again. */
enum err jobs_start(struct jobs *j, struct heartbeat *heartbeat) CHECKED;
/* The number of nodes that are alive. */
unsigned jobs_nodes(const struct jobs *j);
/* The current tenure, for work in place of the job threads. */
struct tenure jobs_tenure(const struct jobs *j);
/* Takes no more jobs, and waits for the running ones. */
void jobs_stop(struct jobs *j);
void jobs_free(struct jobs *j);

/* Call this after rows were added or the clock was moved. Any thread; never blocks. */
void jobs_kick(struct jobs *j);
/* Waits until no job is due and no job runs, the store fails, or jobs_stop is called. Jobs that wait for their next
 * attempt do not count. Must not be called from a job. */
void jobs_drain(struct jobs *j);
/* Waits for at most wait_ms until the job of that ID is done. Returns at once if the job waits for an attempt after
 * that time. Must not be called from a job. */
enum err jobs_wait(struct jobs *j, struct str id, int64_t wait_ms, bool *ret_done) CHECKED;
