/* The plans on offer (contract, Plan catalog; decisions section 4). What they cost is the billing provider's
 * to say (providers/catalog.h). */
#pragma once
#include "base/config.h"
#include "base/str.h"

#define PLAN_COUNT (sizeof((struct config *)0)->plans / sizeof *((struct config *)0)->plans)

/* NULL for an unknown one. */
const struct config_plan *plan_find(const struct config *config, struct str id);

/* What every plan includes, and how many that is. */
extern const struct str plan_access[];
extern const size_t plan_access_count;
