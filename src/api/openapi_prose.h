/* Descriptions of operations and of their groups in the OpenAPI document. */
#pragma once
#include "api/route.h"

/* Appends the row's own description and the meaning of its other columns for a caller. */
void openapi_describe(const struct route *route, struct buf *out);
/* The description of a group of operations; NULL if it is unknown. */
const char *openapi_tag(const char *tag);
