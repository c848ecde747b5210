/* The thread that watches the wall clock (base/clock.h), and applies the bounds of stored times (jobs/time_bound.h)
 * at the start, after each step of the clock and every hour. */
#pragma once
#include "jobs/queue.h"

struct clock_guard;

struct clock_guard_options {
    const struct config *config;
    struct store *store;
    const struct job_kind *kinds; /* must outlive the guard */
    size_t kind_count;
};

/* Applies the bounds, then starts the thread. Call it before the job threads start. */
enum err clock_guard_start(const struct clock_guard_options *options, struct clock_guard **ret) CHECKED;
/* Ends the thread. NULL is allowed. */
void clock_guard_stop(struct clock_guard *g);
