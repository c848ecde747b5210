/* Work outside a transaction: a row with a due time, written with its cause and carried out by the job threads
 * (jobs/queue.h), at least once. */
#pragma once
#include "domain/op.h"

/* Queues a job. Its ID is made here; the payload is sealed by the caller where it holds a secret. */
enum err job_add(struct op *op, const char *kind, int64_t due_us, struct str payload) CHECKED;
/* The same under a name of its own: nothing happens if one of that name is waiting. */
enum err job_add_once(struct op *op, struct str name, const char *kind, int64_t due_us, struct str payload) CHECKED;
/* Removes a job within the transaction that makes its work durable, which makes it exactly once. */
enum err job_done(struct op *op, struct str id) CHECKED;
