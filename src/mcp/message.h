/* Messages of the Model Context Protocol over HTTP: JSON-RPC 2.0 requests and notifications, one in each POST.
 *
 * Two generations of the protocol are read. From revision 2026-07-28 on each request names its revision and the
 * client's capabilities in `_meta`, and fields of the head repeat parts of the body. Before, a client begins with
 * `initialize`; the revisions 2025-06-18 and 2025-11-25 of these are served, without sessions. */
#pragma once
#include "base/json_nodes.h"
#include "http/request.h"

#define MCP_REVISION     "2026-07-28" /* the current one */
#define MCP_SUBSCRIPTION "io.modelcontextprotocol/subscriptionId"
#define MCP_REVISION_OLD "2025-11-25" /* the newest that begins with `initialize` */

enum mcp_method {
    MCP_NOTIFICATION, /* of any name; needs no reply */
    MCP_INITIALIZE,
    MCP_PING,
    MCP_DISCOVER,
    MCP_TOOLS_LIST,
    MCP_TOOLS_CALL,
    MCP_PROMPTS_LIST,
    MCP_PROMPTS_GET,
    MCP_RESOURCES_LIST,
    MCP_RESOURCES_TEMPLATES,
    MCP_RESOURCES_READ,
    MCP_LISTEN
};

struct mcp_message {
    enum mcp_method method;
    struct str id;                  /* as JSON; STR_NONE: a notification, or a request whose ID cannot be read */
    struct str name;                /* params.name or params.uri, of methods that need one; "" without one */
    const char *older;              /* the revision that `initialize` asks for, if it is served; else NULL */
    const struct json_node *params; /* an object; NULL: none */
};

/* Why a message was refused: the codes come from JSON-RPC 2.0 and from the protocol. */
enum mcp_code {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_METHOD_NOT_FOUND = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL_ERROR = -32603,
    MCP_HEADER_MISMATCH = -32020,
    MCP_UNSUPPORTED_VERSION = -32022
};
struct mcp_fault {
    int status; /* of HTTP */
    enum mcp_code code;
    struct str message;
    struct str data; /* JSON, or STR_NONE */
};

/* Reads the body and checks it against the head. Returns false with *ret_fault if it is refused; ret->id is set then,
 * too, if it could be read. Texts are in the arena, or in the body, which must live as long. */
bool mcp_message_read(const struct http_request *r, struct arena *a, struct mcp_message *ret,
                      struct mcp_fault *ret_fault);

/* Appends a whole response: the result is what `json` holds. */
void mcp_put_result(struct buf *out, struct str id, struct str json);
void mcp_put_error(struct buf *out, struct str id, const struct mcp_fault *fault);
/* Begin and end of a response with a result: members of the result are to be written between them, with commas. */
void mcp_put_begin(struct buf *out, struct str id);
void mcp_put_end(struct buf *out);
/* The end with a subscription's ID, in place of mcp_put_end. */
void mcp_put_subscription_end(struct buf *out, struct str id);
