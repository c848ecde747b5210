/* All route sets of the API proper: what clients are served and what the OpenAPI document describes. */
#pragma once
#include "api/route.h"

extern const struct route_set *const api_sets[];
extern const size_t api_set_count;
