/* Which errors a route can answer with: those of its own row, and those its gate brings. */
#pragma once
#include "api/route.h"

/* A set of errors. */
struct error_set {
    bool has[ERR_TABLE_END];
};

void openapi_errors(const struct route *route, struct error_set *ret);
