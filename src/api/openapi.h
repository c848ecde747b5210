/* The OpenAPI 3.1 document, derived from route rows and field tables. */
#pragma once
#include "api/route.h"

struct openapi {
    const char *title, *description;
    const struct route_set *const *sets;
    size_t set_count;
    bool events;       /* with what is posted to webhook endpoints */
    const char *guide; /* path of the guide for those who program against it; NULL: none */
};

/* The contract's; the sandbox has its own (sandbox/routes.h). */
extern const struct openapi openapi_contract;

/* Appends the document (JSON, without white space). `public_url` becomes the server's address; NULL, or the machine's
 * own name, which means nothing elsewhere: the server is the one the document comes from. Pages are left out. */
void openapi_document(const struct openapi *d, const char *public_url, struct buf *out);
