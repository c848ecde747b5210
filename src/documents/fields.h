/* The fields of a JSON Schema, for the reference pages. */
#pragma once
#include "base/json.h"
#include "documents/out.h"

/* Appends a list of the schema's fields, each with its type, its bounds, whether it is required, and its meaning.
 * Objects within are folded. References are looked up in the OpenAPI document. */
void docs_put_fields(const json_t *document, const json_t *schema, struct docs_out *out);

/* Appends a parameter of an operation as an entry of such a list. */
void docs_put_parameter(const json_t *document, const json_t *parameter, const json_t *schema, const char *meaning,
                        struct docs_out *out);

/* The object that a "$ref" of the document leads to; the node itself if it is none. */
const json_t *docs_resolve(const json_t *document, const json_t *node);
