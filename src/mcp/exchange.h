/* A message and its reply, from the arrival of the request to its end: q->entry of the assistants' door. In the
 * request's arena. */
#pragma once
#include "api/door.h"
#include "mcp/message.h"
#include "mcp/resources.h"

/* Puts a reply of the API into a message, as an operation of a door does (api/door.h). */
typedef int mcp_frame(struct request *q, int status, struct str json, struct buf *out);

/* The values of a call, for the gate. */
struct mcp_values {
    json_t *query, *body;             /* objects; NULL: no arguments are left for it */
    struct schema_fault query_fault;  /* of a parameter that is no value of a query; no message: all are */
    struct str given[DOOR_VALUES];    /* in place of headers; STR_NONE: not given */
    struct str made_key, earlier_key; /* in place of an idempotency key that is not given */
    const struct route *tag;          /* the row that reads the current ETag; NULL: not needed, or none */
};

struct mcp_exchange {
    struct str id;
    enum mcp_method method;              /* of a list, which depends on the key */
    int status;                          /* of a reply that is complete already; 0: it is not */
    struct str reply;                    /* the complete reply; STR_NONE: without a body */
    mcp_frame *frame;                    /* of the reply of another row; NULL: it goes out as it is */
    const struct mcp_resource *resource; /* of resources/read */
    unsigned wanted;                     /* of subscriptions/listen: a set of 1 << index of a resource */
    struct mcp_values values;            /* of a call */
};
