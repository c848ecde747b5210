/* Resources: documents that a client may keep in view. Each is the answer of a GET of the API. */
#pragma once
#include "api/route.h"

struct mcp_resource {
    const char *uri, *name, *title, *description;
    const char *operation; /* operation ID of the row */
    const char *arguments; /* of its tool, JSON; NULL: none */
    uint32_t events;       /* events that change it: a set of 1 << enum feed_type */
};

#define MCP_RESOURCES_MAX 8

/* The i-th; NULL: no more. */
const struct mcp_resource *mcp_resource_at(size_t i);
bool mcp_resource_admits(const struct mcp_resource *r, const struct principal *who);
/* NULL if there is none. */
const struct mcp_resource *mcp_resource(struct str uri);
/* Appends the list of resources that the key may read: [{"uri":…},…]. */
void mcp_put_resources(const struct principal *who, struct buf *out);
