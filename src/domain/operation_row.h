/* Building operations as rows. */
#pragma once
#include "domain/operation.h"

/* The first row of a statement of operation.sql that reads operations, in the tx's arena; a quote after its time reads
 * as expired. ERR_NOT_FOUND. */
enum err operation_one(struct tx *tx, enum sql statement, struct db_args args, struct operation *ret) CHECKED;
