#include "api/routes.h"

#include "api/account.h"
#include "api/auth.h"
#include "api/building.h"
#include "api/grant.h"
#include "api/key.h"
#include "api/log.h"
#include "api/meta.h"
#include "api/plan.h"
#include "api/settings.h"

/* The busiest first: they are found first. */
const struct route_set *const api_sets[] = {
    &grant_routes, &log_routes, &building_routes, &settings_routes, &account_routes,
    &auth_routes,  &key_routes, &plan_routes,     &meta_routes,
};
const size_t api_set_count = sizeof api_sets / sizeof *api_sets;
