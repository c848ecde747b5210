/* The reply that names a queued webhook delivery. */
#pragma once
#include "api/request.h"

/* `{"delivery_id": …}` */
extern const struct shape delivery_queued_shape;
const void *delivery_queued_body(struct request *q, const struct id *delivery);
