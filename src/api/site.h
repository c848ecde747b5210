/* For browsers: the first page, the page that the billing provider leads back to (contract, Checkout rule 8), and the
 * sheet of all pages. The files stand in web/api and are compiled in. */
#pragma once
#include "api/route.h"

extern const struct route_set site_routes;
