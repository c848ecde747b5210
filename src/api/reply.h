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

/* The error envelope (contract, Error envelope), for the OpenAPI document. */
extern const struct shape error_shape;
