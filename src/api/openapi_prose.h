/* Names and descriptions of operations and of their groups in documents. */
#pragma once
#include "api/route.h"

#define OPENAPI_PATH_MAX 128
/* The path as clients see it: below /app for the website's operations, and with {id} for {text}. */
void openapi_path(const struct route *route, char ret[static OPENAPI_PATH_MAX]);
/* The method in lower case. */
const char *openapi_method(const struct route *route);
/* Appends the row's own description and the meaning of its other columns for a caller. */
void openapi_describe(const struct route *route, struct buf *out);
/* The description of a group of operations; NULL if it is unknown. */
const char *openapi_tag(const char *tag);
