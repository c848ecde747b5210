/* The reference of the operations as HTML, from the OpenAPI document. */
#pragma once
#include "base/json.h"

struct docs_reference {
    json_t *document; /* of openapi_build */
    const char *base; /* the service's address */
    bool forms;       /* describe each operation to the script that sends it */
};

/* An operation of the document. */
struct docs_row {
    const char *path, *method;
    const json_t *operation;
};

/* Calls `visit` for each operation with the tag (all, if it is NULL), those on collections first. */
void docs_each_operation(const json_t *document, const char *tag, void (*visit)(void *arg, const struct docs_row *row),
                         void *arg);

/* Appends the operations of the tag, and for "Webhooks" the events that the service posts. */
void docs_put_operations(const struct docs_reference *r, const char *tag, struct buf *out);

/* Appends all errors that an operation of the document answers. */
void docs_put_errors(const json_t *document, struct buf *out);

/* "access-grants" for "Access grants" */
void docs_put_tag_name(const char *tag, struct buf *out);

/* Appends "<b>POST</b> <code>/v1/unlock</code>". */
void docs_put_line(const struct docs_row *row, struct buf *out);

/* Appends a path, with places to break a line. */
const char *docs_member(const json_t *object, const char *name);
