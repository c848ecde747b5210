/* The errors that operations answer, with their meanings and what to do next. */
#pragma once
#include "base/err.h"
#include "documents/rows.h"

#define DOCS_ERRORS_PATH "/docs/errors"

/* Appends the errors of an operation. */
void docs_put_operation_errors(const struct route *row, struct docs_out *out);

/* Calls `visit` once for each error that an operation answers. */
void docs_each_error(const struct docs_reference *r, void (*visit)(void *arg, const struct err_info *info), void *arg);

/* "CODE-409", which the caller frees: the anchor on the page. */
char *docs_error_anchor(const struct err_info *info);

/* Appends the page of all errors that an operation answers. */
void docs_put_errors(const struct docs_reference *r, struct docs_out *out);
