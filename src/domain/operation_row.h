/* Building operations as rows. */
#pragma once
#include "domain/operation.h"

/* The current row of a statement of operation.sql, in the op's arena; a quote after its time reads as expired. */
struct operation operation_read(const struct cursor *c, struct op *op);
/* The first row of such a statement. ERR_NOT_FOUND. */
enum err operation_one(struct op *op, enum sql statement, struct db_args args, struct operation *ret) CHECKED;
