/* The thread that sets the gauges of the metrics page: every five seconds it asks the process and, with bounded reads,
 * the store. While the store does not answer, the last values stay, and portero_collected_timestamp_seconds tells their
 * age. */
#pragma once
#include "domain/trunk_board.h"
#include "jobs/heartbeat.h"
#include "jobs/queue.h"
#include "jobs/readiness.h"

struct collector;

struct collector_options {
    const struct config *config;
    struct store *store;
    struct readiness *readiness;
    struct heartbeat *heartbeat;
    struct trunk_board *trunks;   /* NULL: none */
    const struct job_kind *kinds; /* must outlive the collector */
    size_t kind_count;
};

enum err collector_start(const struct collector_options *options, struct collector **ret) CHECKED;
/* Ends the thread. NULL is allowed. */
void collector_stop(struct collector *c);
