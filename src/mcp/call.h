/* A call of a tool, and the reading of a resource, as a request of the API: the same gate, limits and handler. */
#pragma once
#include "api/door.h"
#include "base/json_nodes.h"

/* Makes q the request that the arguments describe, with `row` as its route. `arguments` is an object or NULL, whose
 * text must live as long as q. Fails, with a message for the caller, if an argument belongs to nothing. */
bool mcp_call_make(struct request *q, const struct route *row, const struct json_node *arguments, struct str *ret_why);

/* Operations of the door: what the call has in place of headers, or what stands for it. */
enum err mcp_call_value(struct request *q, enum door_value which, struct str *ret, size_t *ret_count) CHECKED;
uint32_t mcp_call_scopes(const struct request *q);
