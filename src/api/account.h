/* The account at a glance. */
#pragma once
#include "api/route.h"

extern const struct route_set account_routes;
