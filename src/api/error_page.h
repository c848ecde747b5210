/* Error pages for browsers. */
#pragma once
#include "api/request.h"
#include "base/buf.h"

/* True if a browser requests a page rather than an API resource, so that the error should be sent as HTML. */
bool error_page_wanted(const struct request *q);
/* Appends the HTML page to `out`, in the language that the client prefers. */
void error_page_put(const struct request *q, const struct err_info *info, struct buf *out);
