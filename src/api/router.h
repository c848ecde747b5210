/* Finds the row of a method and path. */
#pragma once
#include "api/route.h"

struct router;

struct router *router_new(const struct route_set *const *sets, size_t count);
void router_free(struct router *r);

#define ROUTE_PARAMS 2 /* of a path, at most */

/* The row, with the path's parameters (as sent) in ret_params, STR_NONE for those it does not have. HEAD finds GET's
 * row. Without a row NULL; then *ret_allow is the Allow header's value if the path is known with other methods, else
 * STR_NONE. The control socket has its own rows (CRED_CONTROL), and only those: with `control` the others do not exist,
 * without it those do not. */
const struct route *router_find(const struct router *r, bool control, enum http_method method, struct str path,
                                struct arena *a, struct str ret_params[static ROUTE_PARAMS], struct str *ret_allow);
