/* The hourly job that deletes expired rows: challenges, phone codes, keys, deliveries, events, calls, and
 * the logs of buildings. It works in short runs with pauses between them, until no such row is left; not while the
 * clock is doubted (clock_settled). */
#pragma once
#include "domain/tx.h"
#include "jobs/queue.h"

#define JOB_PURGE "purge"

struct job_kind jobs_kind_purge(void);
/* Queues the first one, unless one is queued. Called at every start. */
enum err jobs_schedule_purge(struct tx *tx) CHECKED;
