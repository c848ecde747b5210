/* POST /sandbox/calls: one visitor's call through the call logic, without media. */
#pragma once
#include "api/route.h"

extern const struct route_set sandbox_calls_routes;
