/* /v1/logs: the activity log (contract, Activity logs). */
#pragma once
#include "api/route.h"

extern const struct route_set log_routes;
