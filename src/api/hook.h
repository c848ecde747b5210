/* What providers post to the service: signed by them, without a key, at /hooks/<provider>. No part of the contract. */
#pragma once
#include "api/route.h"

/* Where billing.provider is stripe. */
extern const struct route_set stripe_hook_routes;
