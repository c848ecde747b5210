/* Responses on the wire: header lines, rendered bodies and the error envelope. */
#pragma once
#include "api/route.h"

/* A loop thread's buffers for the response being sent. */
struct reply_buffers {
    struct buf head, body, frame;
};

struct reply_buffers reply_buffers_init(void);
void reply_buffers_done(struct reply_buffers *b);

/* Sends q->reply, or the envelope of q->result if that is an error. Runs on q's loop thread. q is freed. */
void reply_send(struct request *q, struct reply_buffers *b);

/* For requests that come before there is a service. Appends the header lines of a JSON answer, with a new request ID.
 */
#define REPLY_REQUEST_ID (4 + ID_LEN + 1)
void reply_early_head(char ret_request_id[static REPLY_REQUEST_ID], struct buf *head);
/* The same with those and the envelope of ERR_SERVICE_UNAVAILABLE. */
void reply_early_error(struct buf *head, struct buf *body);

/* The error envelope (contract, Error envelope), for the OpenAPI document. */
extern const struct shape error_shape;
