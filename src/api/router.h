/* Finds the row of a method and path. */
#pragma once
#include "api/door.h"

struct router;

struct router *router_new(const struct route_set *const *sets, size_t count);
void router_free(struct router *r);

#define ROUTE_PARAMS 2 /* parameters of a path, at most */

/* Returns the row, among the rows that the door opens, with the path's parameters (as sent) in ret_params, or STR_NONE
 * for missing ones. HEAD returns GET's row. Returns NULL if no row matches; *ret_allow is then the value of Allow if
 * the path has other methods, else STR_NONE. */
const struct route *router_find(const struct router *r, const struct door *door, enum http_method method,
                                struct str path, struct arena *a, struct str ret_params[static ROUTE_PARAMS],
                                struct str *ret_allow);
