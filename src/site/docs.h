/* The documents for developers: the reference of the API, made of the OpenAPI document, the guides of the directory
 * docs, /llms.txt and /robots.txt. All are rendered and compressed once, when the first of them is asked for: a start
 * need not wait for pages that few read. */
#pragma once
#include "api/openapi.h"
#include "http/asset.h"

struct docs_options {
    /* The documents whose operations are described, NULL-terminated. Each operation that they describe, and no other.
     */
    const struct openapi *const *apis;
    const char *public_url; /* without a trailing slash */
    bool sandbox;           /* the pages have forms that send requests, and search engines are kept away */
};

struct docs;

/* The options are copied, without what they point to, which must live as long. */
struct docs *docs_new(const struct docs_options *options);
void docs_free(struct docs *d);

/* The document of that path, such as "/docs/api", which lives as long as d; NULL if there is none. The first call takes
 * a fraction of a second, while others wait for it. `docs` is a struct docs. */
const struct http_asset *docs_find(void *docs, struct str path);
