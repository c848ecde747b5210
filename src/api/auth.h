/* Sign-in by e-mail code. */
#pragma once
#include "api/route.h"

extern const struct route_set auth_routes;
