/* POST /sandbox/subscriptions: what the billing provider's event for a subscription would do. */
#pragma once
#include "api/route.h"

extern const struct route_set sandbox_subscriptions_routes;
