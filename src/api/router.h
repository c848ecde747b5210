/* Finds the row of a method and path. */
#pragma once
#include "api/route.h"

struct router;

struct router *router_new(const struct route_set *const *sets, size_t count);
void router_free(struct router *r);

#define ROUTE_PARAMS 2 /* parameters of a path, at most */

/* Where a request came in, which decides the rows that it can reach. */
enum router_door {
    DOOR_API,    /* all rows but the other doors' */
    DOOR_SITE,   /* below /app, the path without it: ROUTE_SITE, ROUTE_SITE_ONLY */
    DOOR_CONTROL /* the control socket: CRED_CONTROL */
};

/* Returns the row, with the path's parameters (as sent) in ret_params, or STR_NONE for missing ones. HEAD returns GET's
 * row. Returns NULL if no row matches; *ret_allow is then the value of Allow if the path has other methods, else
 * STR_NONE. */
const struct route *router_find(const struct router *r, enum router_door door, enum http_method method, struct str path,
                                struct arena *a, struct str ret_params[static ROUTE_PARAMS], struct str *ret_allow);
