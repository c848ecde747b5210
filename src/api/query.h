/* Query parameters, read through the same field tables as bodies. */
#pragma once
#include "base/schema.h"

/* Reads `query` ("a=1&b=x", without '?') into the struct at `ret`. Unknown parameters are ignored. A known one that is
 * empty, repeated or badly encoded fails with that parameter's error (HTTP-14). */
bool query_read(const struct shape *shape, struct str query, struct arena *a, void *ret,
                struct schema_fault *ret_fault);

/* The same in two steps, for parameters that come one by one: adds the text of one to the object `values`, and reads
 * the object (NULL: none came). */
bool query_add(const struct field *f, struct str text, struct arena *a, json_t *values, struct schema_fault *ret_fault);
bool query_read_values(const struct shape *shape, json_t *values, struct arena *a, void *ret,
                       struct schema_fault *ret_fault);
