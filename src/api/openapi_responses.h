/* The responses of an operation, derived from its row. */
#pragma once
#include "api/route.h"

#define SUCCESSES_MAX        3
#define RESPONSE_HEADERS_MAX 16

/* The statuses of success, the usual one first; returns their number. */
size_t openapi_successes(const struct route *route, int ret[static SUCCESSES_MAX]);
/* The meaning of a status of success. */
const char *openapi_success_text(const struct route *route, int status);
/* The media type of a success without its parameters; STR_NONE without a body. */
struct str openapi_media(const struct route *route);

struct response_header {
    const char *name, *type, *doc;
};
/* The headers that every response has; returns their number. */
size_t openapi_common_headers(bool cacheable, struct response_header ret[static RESPONSE_HEADERS_MAX]);
/* The headers of a response with that status; returns their number. */
size_t openapi_headers(const struct route *route, int status, struct response_header ret[static RESPONSE_HEADERS_MAX]);
