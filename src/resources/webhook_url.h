/* Validation of webhook URLs (WEBHOOK-4 to WEBHOOK-7). */
#pragma once
#include "api/request.h"

/* Checks that `url` is https, has a host, no user and no fragment, and that receivers may have every address of its
 * host now. Fails with ERR_INVALID_WEBHOOK_URL and q->tx.why, or with ERR_RATE_LIMIT_EXCEEDED if too many names are
 * being looked up (api/slots.h). Blocks during the lookup. Any thread. */
enum err webhook_url_check(struct request *q, struct str url) CHECKED;
