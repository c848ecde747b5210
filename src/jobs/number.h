/* Jobs that carry numbers between their provider and the inventory (domain/number.h), so that none stays bought without
 * an owner, whenever the process ends. */
#pragma once
#include "jobs/queue.h"
#include "providers/numbers.h"

/* Sees that a building has a number; ends without one when the building is gone or its subscription over. */
struct job_kind provision_job(struct number_source *numbers);
/* Gives a number that is leaving back to its provider. */
struct job_kind release_number_job(struct number_source *numbers);
