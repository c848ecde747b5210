/* The job that erases an account (billing/erasure.h): the billing provider ends its customer, then the rows go. */
#pragma once
#include "jobs/queue.h"
#include "providers/billing.h"

struct job_kind jobs_kind_erasure(struct billing *billing);
