/* Faults on order, for the sandbox's providers. */
#pragma once
#include "api/route.h"

extern const struct route_set sandbox_faults_routes;
