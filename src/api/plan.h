/* The plans on offer. */
#pragma once
#include "api/route.h"

extern const struct route_set plan_routes;
