/* A call of a tool, and the reading of a resource, as a request of the API: the same gate, limits and handler. */
#pragma once
#include "api/door.h"
#include "base/json_nodes.h"

/* Makes q, whose entry is a struct mcp_exchange, the request that the arguments describe, with `row` as its route.
 * `arguments` is an object or NULL; its text must live as long as q. Members of a body are read as values,
 * once. Fails, with a message for the caller, if an argument belongs to nothing. */
bool mcp_call_make(struct request *q, const struct route *row, const struct json_node *arguments, struct str *ret_why);

/* Operations of the door: the values of the call, as they were read with its message, and a key and a version
 * where it lacks them. */
enum err mcp_call_value(struct request *q, enum door_value which, struct str *ret, size_t *ret_count) CHECKED;
uint32_t mcp_call_scopes(const struct request *q);
bool mcp_call_query(struct request *q, void *ret, struct schema_fault *ret_fault);
enum err mcp_call_body(struct request *q, json_t **ret) CHECKED;
