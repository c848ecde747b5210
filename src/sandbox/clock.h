/* GET and POST /sandbox/clock: the service's clock can be moved forward, and stays moved across restarts. */
#pragma once
#include "api/route.h"

extern const struct route_set sandbox_clock_routes;

/* At start, before anything asks for the time: restores what the clock was moved by. */
enum err sandbox_clock_restore(struct store *store) CHECKED;
