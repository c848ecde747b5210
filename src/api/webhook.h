/* Webhook endpoints and what was delivered to them (contract, Webhook endpoints; decisions sections 8 and 9). */
#pragma once
#include "api/route.h"

extern const struct route_set webhook_routes;
