/* Requests as code, for the reference pages: curl, JavaScript for Node.js, Python with its standard library. */
#pragma once
#include "api/openapi_parameters.h"
#include "base/json.h"
#include "documents/out.h"

struct docs_operation {
    const char *base; /* the service's address, without a trailing slash */
    const struct route *row;
    json_t *body; /* the example of the request; NULL: none */
    size_t count;
    struct parameter parameters[PARAMETERS_MAX];
};

void docs_operation_init(struct docs_operation *o, const char *base, const struct route *row);
void docs_operation_done(struct docs_operation *o);

/* Appends a piece of code for each language: the operation with its example body, and values that
 * look real for parameters that must be sent. Optional parameters are left out, except Idempotency-Key and limit. The
 * key is read from the environment variable PORTERO_KEY. */
void docs_put_code(const struct docs_operation *o, struct docs_out *out);

/* Appends JSON in lines of two spaces for each level, as plain text. */
void docs_put_json(const json_t *value, struct buf *out);

/* Appends a value for a parameter that looks real. */
void docs_put_value(const struct route *row, const struct parameter *parameter, struct buf *out);
