/* /v1/unlock: access grants (contract, Access grants). */
#pragma once
#include "api/route.h"

extern const struct route_set grant_routes;
