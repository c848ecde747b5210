/* The documents for developers, which src/documents.c renders when the program is built: the reference, the guides,
 * /llms.txt and /robots.txt. */
#pragma once
#include "http/asset.h"

/* Stands in the texts for the service's address. */
#define DOCS_PUBLIC_URL "https://this-service.invalid"

enum docs_mode { DOCS_PRODUCTION = 1, DOCS_SANDBOX = 2 };

/* A document as it is built in: in the format of zlib. */
struct docs_text {
    const char *path;  /* "/docs/api" */
    const char *media; /* text/html; charset=utf-8 */
    int modes;         /* the modes that serve it */
    size_t size;       /* of the text */
    struct str compressed;
};
/* Ends with a row without a path. Weak, because the program that makes it is linked without it. */
extern const struct docs_text docs_texts[] __attribute__((weak));

struct docs;

/* For the services of that mode. public_url is without a trailing slash, and must live as long. */
struct docs *docs_new(enum docs_mode mode, const char *public_url);
void docs_free(struct docs *d);

/* The document of that path, which lives as long as d; NULL if there is none. The first call for a path takes
 * milliseconds, because the text gets the service's address and is compressed. `docs` is a struct docs. */
const struct http_asset *docs_find(void *docs, struct str path);
