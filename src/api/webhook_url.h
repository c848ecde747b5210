/* What a webhook's URL must be like (decisions sections 8 and 10). */
#pragma once
#include "domain/tx.h"

/* ERR_INVALID_WEBHOOK_URL, with the reason in tx->why, unless `url` is https, has a host, no user, no fragment, and
 * every address of its host is one that receivers may have now. Blocks while the name is looked up.
 * ERR_RATE_LIMIT_EXCEEDED: too many names are being looked up, in all or for this account. Any thread. */
enum err webhook_url_check(struct tx *tx, const struct id *account, struct str url) CHECKED;
