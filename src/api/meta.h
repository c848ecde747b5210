/* What the service says of itself: health, the OpenAPI document, the guide for agents. */
#pragma once
#include "api/route.h"

extern const struct route_set meta_routes;
