/* The reference of the operations, from the OpenAPI document. */
#pragma once
#include "documents/rows.h"

struct docs_reference {
    json_t *document; /* of openapi_build */
    const char *base; /* the service's address, without a trailing slash */
    bool sandbox;     /* the script that sends an operation gets a description of each */
};

/* Appends the page of a tag: its operations, and for "Webhooks" the events that the service posts. */
void docs_put_tag(const struct docs_reference *r, const json_t *tag, struct docs_out *out);
