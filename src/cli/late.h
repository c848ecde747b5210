/* The writes of a start, and the jobs, which need them. Where one process has the store (SQLite) and it cannot be
 * written, on a full disk or one that breaks, the service reads and forwards calls without them: they follow on a
 * thread once it can be. */
#pragma once
#include "jobs/heartbeat.h"
#include "jobs/queue.h"

struct late_options {
    const struct config *config;
    struct store *store;
    struct heartbeat *heartbeat;
    struct jobs *jobs;
};
struct late;

/* Writes and starts the jobs, or begins to try. `options` is copied. */
enum err late_start(const struct late_options *options, struct late **ret) CHECKED;
/* Must come before jobs_stop and heartbeat_stop. NULL is allowed. */
void late_stop(struct late *l);
