/* Access control of the sandbox's routes, which need no key: local programs and users may call them, web pages of other
 * origins may not. */
#pragma once
#include "api/request.h"

/* Fails with ERR_LOOPBACK_REQUIRED and q->tx.why, unless the request comes from loopback, names this machine or the
 * host of public_url, and was not sent by another origin's form or script. The host check stops DNS rebinding: a page
 * whose name was rebound to 127.0.0.1 sends its own name. A link from elsewhere may lead to a page. */
enum err gate_check_loopback(struct request *q) CHECKED;
