/* A building's set-up and settings. */
#pragma once
#include "api/route.h"

extern const struct route_set settings_routes;
