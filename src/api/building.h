/* The list of buildings. */
#pragma once
#include "api/route.h"

extern const struct route_set building_routes;
