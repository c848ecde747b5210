/* Errors for somebody who looks at them in a browser. */
#pragma once
#include "api/request.h"
#include "base/buf.h"

/* Whether the error is better shown as a page: a browser asks for something that is not the API's. */
bool error_page_wanted(const struct request *q);
/* Appends the page (HTML). */
void error_page_put(const struct err_info *info, const char *request_id, struct buf *out);
