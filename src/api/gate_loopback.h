/* The callers that may use the sandbox's operations, which need no key: somebody at this machine, and none of the web
 * pages that their browser has open. */
#pragma once
#include "api/request.h"

/* ERR_LOOPBACK_REQUIRED, with q->tx.why, unless the request comes from loopback, is addressed to this machine or to the
 * host of public_url (a page whose name was rebound to 127.0.0.1 sends its own), and is not another origin's doing (a
 * form or script anywhere). A browser may be led to a page by a link from elsewhere. */
enum err gate_check_loopback(struct request *q) CHECKED;
