/* Query parameters, read through the same field tables as bodies. */
#pragma once
#include "base/schema.h"

/* Reads `query` ("a=1&b=x", without '?') into the struct at `ret`. Unknown parameters are ignored. A known one that is
 * empty, repeated or badly encoded fails with that parameter's error (HTTP-14). */
bool query_read(const struct shape *shape, struct str query, struct arena *a, void *ret,
                struct schema_fault *ret_fault);
