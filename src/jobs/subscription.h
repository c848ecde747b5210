/* The job that releases the numbers of an account 30 days after the end of its subscription. */
#pragma once
#include "jobs/queue.h"

struct job_kind jobs_kind_release_all_numbers(void);
