/* The job that gives log, visits and feed the changed label of a grant (domain/grant_label.h). */
#pragma once
#include "jobs/queue.h"

struct job_kind jobs_kind_label(void);
