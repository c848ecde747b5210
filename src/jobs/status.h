/* The state of the background work, for metrics and the operator: a few bounded reads, however much is stored. */
#pragma once
#include "domain/tx.h"

#define STATUS_COUNT_MAX   10000 /* each count ends there */
#define STATUS_FAILING_MAX 1000  /* jobs that are looked at */

struct status {
    int64_t deliveries, jobs, operations;  /* pending; due or running; that wait for the operator */
    int64_t delivery_late_us, job_late_us; /* how long the oldest has been due; 0: none is */
};

enum err status_read(struct tx *tx, struct status *ret) CHECKED;
/* The kinds of jobs that have failed and will be repeated; *ret_kinds in the arena. */
struct status_failing {
    struct str kind;
    int64_t jobs;
};
enum err status_failing(struct tx *tx, const struct status_failing **ret, size_t *ret_count) CHECKED;
