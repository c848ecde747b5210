/* The hourly job that deletes what nothing can need again: challenges and keys that expired long ago, old deliveries.
 * It goes on in short runs with pauses between them, until nothing is left. */
#pragma once
#include "domain/tx.h"
#include "jobs/queue.h"

struct job_kind purge_job(void);
/* Queues the first one; nothing happens if one is waiting. At every start. */
enum err purge_schedule(struct tx *tx) CHECKED;
