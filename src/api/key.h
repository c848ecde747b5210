/* API keys. */
#pragma once
#include "api/route.h"

extern const struct route_set key_routes;
