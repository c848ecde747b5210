/* A message and its reply, from the arrival of the request to its end: q->entry of the assistants' door. In the
 * request's arena. */
#pragma once
#include "mcp/message.h"
#include "mcp/resources.h"

/* Puts a reply of the API into a message, as an operation of a door does (api/door.h). */
typedef int mcp_frame(struct request *q, int status, struct str json, struct buf *out);

struct mcp_exchange {
    struct str id;
    enum mcp_method method;              /* of a list, which depends on the key */
    int status;                          /* of a reply that is complete already; 0: it is not */
    struct str reply;                    /* the complete reply; STR_NONE: without a body */
    mcp_frame *frame;                    /* of the reply of another row; NULL: it goes out as it is */
    const struct mcp_resource *resource; /* of resources/read */
    unsigned wanted;                     /* of subscriptions/listen: a set of 1 << index of a resource */
    /* In place of headers that a call may lack. */
    struct str key, earlier_key; /* Idempotency-Key: `earlier_key` if it has been used, else `key`; STR_NONE: none */
    const struct route *tag;     /* the row that reads the current ETag for If-Match; NULL: not needed, or none */
};
