/* What was delivered to a webhook endpoint: lists and replays (decisions section 9). */
#pragma once
#include "api/route.h"

extern const struct route_set delivery_routes;

/* `{"delivery_id": …}`, of what was queued. */
extern const struct shape delivery_queued_shape;
const void *delivery_queued_body(struct request *q, const struct id *delivery);
