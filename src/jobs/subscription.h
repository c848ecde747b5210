/* Jobs that follow a subscription's change: a number for each building, and its release 30 days after the end. */
#pragma once
#include "jobs/queue.h"

struct job_kind provision_job(void);
struct job_kind release_numbers_job(void);
