/* The parameters of an operation, derived from its row. */
#pragma once
#include "api/route.h"

#define PARAMETERS_MAX 32

enum parameter_kind {
    PARAMETER_TEXT, /* of the path, made by another system */
    PARAMETER_ID,   /* of the path */
    PARAMETER_QUERY,
    PARAMETER_BUILDING,
    PARAMETER_KEY, /* Idempotency-Key */
    PARAMETER_GRANT_VERSION,
    PARAMETER_SETTINGS_VERSION,
    PARAMETER_EVENT /* of a request that the service sends */
};

struct parameter {
    enum parameter_kind kind;
    const char *in; /* "path", "query", "header" */
    const struct field *field;
};

/* In the order of the document; returns their number. */
size_t openapi_parameters(const struct route *route, struct parameter ret[static PARAMETERS_MAX]);
