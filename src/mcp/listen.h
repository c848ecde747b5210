/* subscriptions/listen of revision 2026-07-28: a stream that announces changes of resources, as notifications, from the
 * feed of the building that a call without building_id would choose. Lists never change while a key holds. */
#pragma once
#include "api/request.h"
#include "mcp/exchange.h"

/* Makes q the request of such a stream. Fails, with a message for the caller (constant). */
bool mcp_listen(struct request *q, struct mcp_exchange *x, const struct mcp_message *m, const char **ret_why);
