/* Requests as code, for the reference pages: curl, JavaScript for Node.js, Python with its standard library. */
#pragma once
#include "base/json.h"
#include "documents/out.h"

struct docs_operation {
    const char *base;   /* the service's address, without a trailing slash */
    const char *method; /* in lower case, as in the OpenAPI document */
    const char *path;   /* "/v1/unlock/{id}" */
    const json_t *operation;
};

/* Appends a piece of code for each language: the operation with its example body, and values that
 * look real for parameters that must be sent. Optional parameters are left out, except Idempotency-Key and limit. The
 * key is read from the environment variable PORTERO_KEY. */
void docs_put_code(const struct docs_operation *o, struct docs_out *out);

/* Appends JSON in lines of two spaces for each level, as plain text. */
void docs_put_json(const json_t *value, struct buf *out);

/* Appends a value for a parameter of the OpenAPI document that looks real. */
void docs_put_value(const struct docs_operation *o, const json_t *parameter, struct buf *out);

/* The media type of the first response, or NULL. */
const char *docs_media(const json_t *operation);
