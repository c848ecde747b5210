/* The trace of a request: header traceparent of W3C's Trace Context, https://www.w3.org/TR/trace-context/
 * (section 3.2). The service begins no trace of its own. */
#pragma once
#include "http/request.h"

struct trace {
    char trace_id[33], parent_id[17], flags[3]; /* lower-case hex; "" if the request has no trace */
};

/* Reads the header. A header that is malformed, or that is sent twice, counts as none. */
void trace_read(const struct http_request *r, struct trace *ret);
/* The same from the value of the header. */
bool trace_parse(struct str value, struct trace *ret);
