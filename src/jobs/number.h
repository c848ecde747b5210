/* Jobs that buy numbers from their provider and release them (domain/number.h). They keep every bought number in the
 * inventory, whenever the process ends. */
#pragma once
#include "jobs/queue.h"
#include "providers/numbers.h"

/* The operator can tell who got a number that nobody assigned. */
void jobs_log_assigned(struct str number, const struct id *building, const struct id *account);

/* Gets a number for a building. Ends without one if the building is gone or its account has no subscription. */
struct job_kind jobs_kind_provision(struct number_source *numbers);
/* Looks for buildings that should have a number, every hour, and when domain/number.h says so. */
struct job_kind jobs_kind_numbers(void);
/* Releases a number that is leaving to its provider. */
struct job_kind jobs_kind_release_number(struct number_source *numbers);
