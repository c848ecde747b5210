/* What the OpenAPI document says to people, and to agents: of a group of operations, and of each. */
#pragma once
#include "api/route.h"

/* The row's own description, and what its other columns mean to a caller. */
void openapi_describe(const struct route *route, struct buf *out);
/* What a group of operations is about; NULL for one that is not known. */
const char *openapi_tag(const char *tag);
