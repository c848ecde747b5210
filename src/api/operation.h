/* Adding and removing linked buildings: quotes and their execution. */
#pragma once
#include "api/route.h"

extern const struct route_set operation_routes;
