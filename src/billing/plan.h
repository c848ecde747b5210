/* The plans on offer (contract, Plan catalog; BILLING-1 to BILLING-3). Their prices are in providers/catalog.h. */
#pragma once
#include "base/config.h"
#include "base/err.h"
#include "base/str.h"

#define PLAN_COUNT (sizeof((struct config *)0)->plans / sizeof *((struct config *)0)->plans)

/* Returns NULL for an unknown plan. */
const struct config_plan *plan_find(const struct config *config, struct str id);

/* A plan's name in a revision of the interface; NULL instead of a table means the current one, whose names are the
 * plans' ids. Tables end with a NULL name. */
struct plan_name {
    const char *name;
    const char *plan; /* NULL: no plan that is on offer is like it */
};
/* In the earlier revision, monthly plans were on offer, and plans differed in the grants that they included. */
extern const struct plan_name plan_names_earlier[];

/* The id of the plan that a client names. Fails with ERR_INVALID_PLAN (an unknown name), ERR_PLAN_UNAVAILABLE (no plan
 * on offer is like it). */
enum err plan_named(const struct config *config, const struct plan_name *names, struct str name,
                    struct str *ret) CHECKED;
/* The first name of a plan in the table, else its id. */
struct str plan_name_of(const struct plan_name *names, struct str plan);

/* The type of a subscription to a plan. Tables end with the type of no plan. */
struct plan_type {
    const char *plan;
    const char *type;
    const char *type_linked; /* of an account with linked buildings */
};
extern const struct plan_type plan_types_earlier[];
/* `types` NULL: the current revision's, which is the plan's id, or none. `plan` STR_NONE: no plan. */
struct str plan_type_of(const struct plan_type *types, struct str plan, bool linked);

/* The types of grants that every plan includes. */
extern const struct str plan_access[];
extern const size_t plan_access_count;
