/* /sandbox/checkout/{id}: the hosted checkout page, and what its buttons do. */
#pragma once
#include "api/route.h"

extern const struct route_set sandbox_checkout_routes;
