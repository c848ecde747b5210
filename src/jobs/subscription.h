/* The job that follows a subscription's end: 30 days later its numbers are released. */
#pragma once
#include "jobs/queue.h"

struct job_kind release_numbers_job(void);
