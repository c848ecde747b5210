/* Replies of the API as results of the protocol. A reply that refuses the key goes out as it is: clients expect 401 of
 * HTTP, and are told there how to get another one. A result for lack of scopes has status 403 for the same reason. */
#pragma once
#include "mcp/exchange.h"

mcp_frame mcp_frame_tool, mcp_frame_resource, mcp_frame_listen;
