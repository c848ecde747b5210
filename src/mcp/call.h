/* A call of a tool, and the reading of a resource, as a request of the API: the same gate, limits and handler. */
#pragma once
#include "api/request.h"
#include "base/json_nodes.h"

/* Makes q the request that the arguments describe, with `row` as its route. `arguments` is an object or NULL, whose
 * text must live as long as q. Fails, with a message for the caller, if an argument belongs to nothing. */
bool mcp_call_make(struct request *q, const struct route *row, const struct json_node *arguments, struct str *ret_why);
