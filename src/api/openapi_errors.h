/* The errors of a route: the errors of its row and of the checks that its row requires. */
#pragma once
#include "api/route.h"

/* A set of errors, one bit each. */
struct error_set {
    bool has[ERR_TABLE_END];
};

void openapi_errors(const struct route *route, struct error_set *ret);
