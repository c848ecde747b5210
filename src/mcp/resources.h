/* Resources: documents that a client may keep in view. Each is the answer of a GET of the API. */
#pragma once
#include "api/route.h"

struct mcp_resource {
    const char *uri, *name, *title, *description;
    const char *operation; /* operation ID of the row */
    const char *arguments; /* of its tool, JSON; NULL: none */
};

/* NULL if there is none. */
const struct mcp_resource *mcp_resource(struct str uri);
/* Appends the list of those that the key may read: [{"uri":…},…]. */
void mcp_put_resources(const struct principal *who, struct buf *out);
