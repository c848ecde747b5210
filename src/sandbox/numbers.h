/* GET /sandbox/numbers: the pool of virtual numbers and who holds them. */
#pragma once
#include "api/route.h"

extern const struct route_set sandbox_numbers_routes;
