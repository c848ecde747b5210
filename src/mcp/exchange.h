/* A message and its reply, from the arrival of the request to its end. In the request's arena. */
#pragma once
#include "mcp/message.h"
#include "mcp/resources.h"

struct mcp_exchange {
    struct str id;
    enum mcp_method method;              /* of a list, which depends on the key */
    int status;                          /* of a reply that is complete already; 0: it is not */
    struct str reply;                    /* the complete reply; STR_NONE: without a body */
    const struct mcp_resource *resource; /* of resources/read */
    unsigned wanted;                     /* of subscriptions/listen: a set of 1 << index of a resource */
};
