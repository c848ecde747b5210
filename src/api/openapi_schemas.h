/* Field tables as schemas of an OpenAPI document. */
#pragma once
#include "base/schema.h"

/* The shape's own schema, which names sub-shapes and variants by reference. */
json_t *openapi_schema(const struct shape *shape, enum schema_use use);

/* A reference to the shape among `schemas`, which it is put into with all that it names. A shape has a name of its own,
 * and is either a request's or a reply's. */
json_t *openapi_reference(json_t *schemas, const struct shape *shape, enum schema_use use);
