/* The operations that the documents for developers describe, from the tables of routes. */
#pragma once
#include "api/openapi.h"
#include "base/json.h"
#include "documents/out.h"

#define DOCS_ROWS_MAX 256
#define DOCS_TAGS_MAX 32

struct docs_reference {
    const char *base;        /* the service's address, without a trailing slash */
    bool sandbox;            /* also the sandbox's operations; each gets what the script that sends it needs */
    const char *description; /* of the service */
    json_t *examples;        /* of replies, by operation ID */
    size_t row_count, tag_count;
    const struct route *rows[DOCS_ROWS_MAX]; /* collections first; the rows of one path in sequence */
    const char *tags[DOCS_TAGS_MAX];         /* in the order of their first operations */
};

/* `base` must live as long. */
void docs_reference_init(struct docs_reference *r, const char *base, bool sandbox);
void docs_reference_done(struct docs_reference *r);

/* Calls `visit` for each operation with the tag (all, if it is NULL). */
void docs_each_operation(const struct docs_reference *r, const char *tag,
                         void (*visit)(void *arg, const struct route *row), void *arg);

/* "/docs/api/access-grants" for "Access grants"; the caller frees it. */
char *docs_tag_path(const char *tag);

/* Appends a link to the operation. */
void docs_put_operation_link(const struct route *row, struct docs_out *out);

/* Appends method and path. */
void docs_put_line(const struct route *row, struct docs_out *out);
