/* The fields of a body and the parameters of an operation, for the reference pages. */
#pragma once
#include "api/openapi_parameters.h"
#include "documents/out.h"

/* Appends a list of the shape's fields, each with its type, its bounds, whether it is required, and its meaning.
 * Objects within are folded. */
void docs_put_fields(const struct shape *shape, enum schema_use use, struct docs_out *out);

/* Appends a parameter of an operation as an entry of such a list. */
void docs_put_parameter(const struct parameter *parameter, struct docs_out *out);
