/* Renewal of a remembered browser's key, between two runs of a request. */
#pragma once
#include "api/request.h"

/* Whether the request failed only because the key of its browser has expired and can be renewed. At most once true. */
bool renewal_due(struct request *q);
/* Renews the key in a write of its own and then runs `posted` for q->http->mail on the loop thread. q->result is then
 * an error, or the request must run again from its checks, with whatever key the browser has by then. */
void renewal_submit(struct request *q, void (*posted)(struct mail *mail));
