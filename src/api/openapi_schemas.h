/* Field tables as schemas of an OpenAPI document. */
#pragma once
#include "api/openapi_parameters.h"
#include "base/schema.h"

/* The shape's own schema, which refers to sub-shapes and variants by name. */
json_t *openapi_schema(const struct shape *shape, enum schema_use use);

/* Returns a reference to the shape, and adds the shape and everything it refers to to `schemas`. A shape must have a
 * unique name and be used either in requests or in replies. */
json_t *openapi_reference(json_t *schemas, const struct shape *shape, enum schema_use use);

/* A parameter of an operation, with its schema. */
json_t *openapi_parameter(const struct parameter *p);
