/* The operations of the OpenAPI document, as the documents for developers see them. */
#pragma once
#include "base/json.h"
#include "documents/out.h"

/* An operation of the document. */
struct docs_row {
    const char *path, *method;
    const json_t *operation;
};

/* Calls `visit` for each operation with the tag (all, if it is NULL), those on collections first. */
void docs_each_operation(const json_t *document, const char *tag, void (*visit)(void *arg, const struct docs_row *row),
                         void *arg);

/* "/docs/api/access-grants" for "Access grants"; the caller frees it. */
char *docs_tag_path(const char *tag);

/* Appends a link to the operation. */
void docs_put_operation_link(const struct docs_row *row, struct docs_out *out);

/* Appends method and path. */
void docs_put_line(const struct docs_row *row, struct docs_out *out);

/* A member that is a string, or "". */
const char *docs_member(const json_t *object, const char *name);

/* The schema of a request's or a response's JSON, or NULL. */
const json_t *docs_schema(const json_t *holder);
