/* The forwarding phone. */
#pragma once
#include "api/route.h"

extern const struct route_set phone_routes;
