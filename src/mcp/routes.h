/* POST /mcp: the API for assistants, by the Model Context Protocol. Not part of the OpenAPI document: the protocol
 * defines its messages. */
#pragma once
#include "api/route.h"

extern const struct route_set *const mcp_sets[];
extern const size_t mcp_set_count;
