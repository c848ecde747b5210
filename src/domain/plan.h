/* The plans on offer (contract, Plan catalog; decisions, section 4). Their prices are in providers/catalog.h. */
#pragma once
#include "base/config.h"
#include "base/str.h"

#define PLAN_COUNT (sizeof((struct config *)0)->plans / sizeof *((struct config *)0)->plans)

/* Returns NULL for an unknown plan. */
const struct config_plan *plan_find(const struct config *config, struct str id);

/* The types of grants that every plan includes. */
extern const struct str plan_access[];
extern const size_t plan_access_count;
