/* Replies on the wire: header lines, rendered bodies and the error envelope. */
#pragma once
#include "api/route.h"

/* A thread's buffers for the reply being sent. */
struct reply_buffers {
    struct buf head, body;
};

struct reply_buffers reply_buffers_init(void);
void reply_buffers_done(struct reply_buffers *b);

/* Sends what q came to, on its loop thread: q->reply with ERR_NONE, else the envelope of q->result. q is gone then. */
void reply_send(struct request *q, struct reply_buffers *b);

/* The envelope (contract, Error envelope), for its documentation. */
extern const struct shape error_shape;
