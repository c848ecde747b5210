/* The sandbox's own operations (loopback only, no key): what its providers sent, the clock, numbers, calls.
 * `mode = production` leaves them out. */
#pragma once
#include "api/openapi.h"

extern const struct route_set *const sandbox_sets[];
extern const size_t sandbox_set_count;
extern const struct openapi openapi_sandbox;
