/* Work outside a transaction: a row with a due time, written in the transaction of its cause. The job threads
 * (jobs/queue.h) run it at least once. */
#pragma once
#include "domain/tx.h"

/* Queues a job with a new ID. The caller must seal a payload that holds a secret (master_seal). */
enum err job_add(struct tx *tx, const char *kind, int64_t due_us, struct str payload) CHECKED;
/* Queues a job with `name` as its ID. Does nothing if a job of that name exists. */
enum err job_add_once(struct tx *tx, struct str name, const char *kind, int64_t due_us, struct str payload) CHECKED;
/* As job_add_once, but a job of that name that waits becomes due at due_us at the latest, and a job that runs will run
 * again: for a job that reads a state, and must read it again after a change. */
enum err job_add_again(struct tx *tx, struct str name, const char *kind, int64_t due_us, struct str payload) CHECKED;
/* Makes a waiting job of that name due at due_us at the latest. Its count of attempts goes on. */
enum err job_reschedule(struct tx *tx, struct str name, int64_t due_us) CHECKED;
/* The same for every waiting job of a kind. */
enum err job_reschedule_all(struct tx *tx, const char *kind, int64_t due_us) CHECKED;
/* For a periodic job, in the transaction that makes its work durable: the job waits until due_us, unless it was added
 * again since it was taken (its created_us has changed). */
enum err job_repeat(struct tx *tx, struct str id, int64_t created_us, int64_t due_us) CHECKED;
/* Takes the job of that name, or creates it, for a caller that does its work in place of the job threads. No job thread
 * takes it for lease_us, while the node (may be empty) lives. *ret_lease names the lease; 0 if the job is running. */
enum err job_hold(struct tx *tx, struct str name, const char *kind, struct str payload, const struct id *node,
                  int64_t lease_us, int64_t *ret_lease) CHECKED;
/* Removes a job that job_hold took under that lease. */
enum err job_release(struct tx *tx, struct str name, int64_t lease) CHECKED;
/* Removes a job in the transaction that makes its work durable, so that the work is done exactly once. */
enum err job_done(struct tx *tx, struct str id) CHECKED;

/* A job that has failed and will run again. */
struct failing_job {
    struct str id, kind;
    int64_t attempts, created_us, due_us;
};
/* For the operator: at most `limit` jobs, the one with the most attempts first, in the arena. */
enum err job_list_failing(struct tx *tx, int64_t limit, const struct failing_job **ret, size_t *ret_count) CHECKED;
