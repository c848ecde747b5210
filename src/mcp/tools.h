/* The tools: the rows of the API that need a key and answer with JSON. A tool's name is the row's operation ID, and its
 * arguments are the path's parameters, the query and the members of the body, and arguments that stand for headers. */
#pragma once
#include "api/route.h"

/* Arguments that stand for headers. */
#define MCP_BUILDING_ID     "building_id"     /* X-Service-Building-Id, or the path's {buildingId} */
#define MCP_IDEMPOTENCY_KEY "idempotency_key" /* Idempotency-Key */
#define MCP_IF_MATCH        "if_match"        /* If-Match */

/* The row of the tool; NULL if there is none of that name. */
const struct route *mcp_tool(struct str name);
/* The row of that name, which must exist. */
const struct route *mcp_tool_named(const char *operation_id);
/* The i-th parameter of the row's path, as an argument; STR_NONE after the last. */
struct str mcp_parameter(const struct route *row, size_t i);
/* Appends the list of the tools that the key may use, in a fixed order: [{"name":…},…]. */
void mcp_put_tools(const struct principal *who, struct buf *out);
