/* The errors that operations answer, with their meanings and what to do next. */
#pragma once
#include "base/err.h"
#include "documents/rows.h"

#define DOCS_ERRORS_PATH "/docs/errors"

/* Appends those of an operation. */
void docs_put_operation_errors(const json_t *operation, struct docs_out *out);

/* Calls `visit` once for each error that an operation of the document answers. */
void docs_each_error(const json_t *document, void (*visit)(void *arg, const struct err_info *info), void *arg);

/* "CODE-409", which the caller frees: the anchor on the page. */
char *docs_error_anchor(const struct err_info *info);

/* Appends the page of all errors that an operation of the document answers. */
void docs_put_errors(const json_t *document, struct docs_out *out);
