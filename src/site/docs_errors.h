/* The errors that operations answer, with their meanings and what to do next. */
#pragma once
#include "site/docs_rows.h"

#define DOCS_ERRORS_PATH "/docs/errors"

/* Appends those of an operation. */
void docs_put_operation_errors(const json_t *operation, struct docs_out *out);

/* Appends the page of all errors that an operation of the document answers. */
void docs_put_errors(const json_t *document, struct docs_out *out);
