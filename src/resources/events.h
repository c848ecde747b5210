/* Streams for requests: of the events themselves (GET /v1/buildings/{buildingId}/events), or in another form. */
#pragma once
#include "api/hub.h"
#include "api/request.h"

/* A stream of q's building for its key, as long as this has the scopes, from now on. Fails with
 * ERR_RATE_LIMIT_EXCEEDED if the key has HUB_STREAMS_A_KEY streams, or ERR_SERVICE_UNAVAILABLE. In the arena. */
enum err events_reader(struct request *q, uint32_t scopes, struct hub_reader **ret) CHECKED;
/* Begins the stream, as the reply to q. */
void events_reply(struct reply *p, const struct hub_reader *r);
