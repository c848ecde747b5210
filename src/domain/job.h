/* Work outside a transaction: a row with a due time, written with its cause and carried out by the job threads
 * (jobs/queue.h), at least once. */
#pragma once
#include "domain/tx.h"

/* Queues a job. Its ID is made here; the payload is sealed by the caller where it holds a secret. */
enum err job_add(struct tx *tx, const char *kind, int64_t due_us, struct str payload) CHECKED;
/* The same under a name of its own: nothing happens if one of that name is waiting. */
enum err job_add_once(struct tx *tx, struct str name, const char *kind, int64_t due_us, struct str payload) CHECKED;
/* The same, but one of that name that is waiting is due then at the latest, and one that is running runs again: for
 * work that reads the state of something, and must read it once more when that may have changed. */
enum err job_add_again(struct tx *tx, struct str name, const char *kind, int64_t due_us, struct str payload) CHECKED;
/* One of that name that waits is due then at the latest. Its attempts go on counting. */
enum err job_reschedule(struct tx *tx, struct str name, int64_t due_us) CHECKED;
/* The same for all that wait of one kind. */
enum err job_reschedule_all(struct tx *tx, const char *kind, int64_t due_us) CHECKED;
/* For a job that comes back by itself: it waits until then, unless it was added again since it was taken, as its
 * created_us tells. Within the transaction that makes its work durable. */
enum err job_repeat(struct tx *tx, struct str id, int64_t created_us, int64_t due_us) CHECKED;
/* Takes the job of that name, whether it waits or not, for somebody who does its work in place of the job threads: none
 * of them, and nobody else, has it until then (the real clock), or until job_release, which removes it. *ret_held:
 * false if it is running. */
enum err job_hold(struct tx *tx, struct str name, const char *kind, struct str payload, int64_t until_us,
                  bool *ret_held) CHECKED;
enum err job_release(struct tx *tx, struct str name, int64_t until_us) CHECKED;
/* Removes a job within the transaction that makes its work durable, which makes it exactly once. */
enum err job_done(struct tx *tx, struct str id) CHECKED;

/* A job that has failed and will be repeated. */
struct failing_job {
    struct str id, kind;
    int64_t attempts, created_us, due_us;
};
/* For the operator: most often failed first, at most `limit`. */
enum err job_list_failing(struct tx *tx, int64_t limit, const struct failing_job **ret, size_t *ret_count) CHECKED;
