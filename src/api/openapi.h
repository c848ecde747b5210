/* The OpenAPI 3.1 document, derived from route rows and field tables. */
#pragma once
#include "api/route.h"

/* Appends the document (JSON, indented) of the sets' routes. `public_url` becomes the server's address. */
void openapi_document(const struct route_set *const *sets, size_t set_count, const char *public_url, struct buf *out);
