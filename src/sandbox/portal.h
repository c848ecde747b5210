/* /sandbox/portal/{id}: the hosted billing portal of a customer. */
#pragma once
#include "api/route.h"

extern const struct route_set sandbox_portal_routes;
