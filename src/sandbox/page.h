/* GET /sandbox/: a page on which a person does what the sandbox's operations do, and its module. The files stand in
 * web/sandbox and are compiled in. */
#pragma once
#include "api/route.h"

extern const struct route_set sandbox_page_routes;
