/* The OpenAPI 3.1 document, derived from route rows and field tables. */
#pragma once
#include <jansson.h>

#include "api/route.h"
#include "base/buf.h"

#define OPENAPI_MAX (4U << 20) /* of a document; documents.c holds them to it when the program is built */

struct openapi {
    const char *title, *description;
    const struct route_set *const *sets;
    size_t set_count;
    bool events;       /* document the events posted to webhook endpoints */
    const char *guide; /* path of the guide for developers; NULL: none */
    /* Examples of replies, by operation ID; the caller releases them. NULL: none. */
    json_t *(*examples)(void);
};

/* Reads a text of the program as JSON; the caller releases it. If it is damaged, the program ends. The build runs this
 * (src/documents.c), so a program with damaged examples cannot be built. */
json_t *openapi_constant(const char *text);

/* Appends the document (JSON, without white space). `public_url` becomes the server's address. If it is NULL or this
 * machine's own name, the server is the one that sends the document. Pages are left out. */
void openapi_document(const struct openapi *d, const char *public_url, struct buf *out);
