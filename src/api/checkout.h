/* Checkout and the billing portal (contract, Billing). */
#pragma once
#include "api/route.h"

extern const struct route_set checkout_routes;
