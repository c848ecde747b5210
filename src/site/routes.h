/* The website: its pages, and their scripts and style sheets. */
#pragma once
#include "api/route.h"

extern const struct route_set guest_routes; /* /g/: pages of guests */
extern const struct route_set oauth_routes; /* the authorization server for assistants */
extern const struct route_set docs_routes;  /* /docs: documents for developers */

extern const struct route_set *const site_sets[];
extern const size_t site_set_count;
