/* Rows of table building_operation. */
#pragma once
#include "billing/operation.h"

/* The first row of a statement of operation.sql that reads operations, in the arena. A quote whose time is over is read
 * as expired. Fails with ERR_NOT_FOUND. */
enum err operation_one(struct tx *tx, const struct db_call *call, struct operation *ret) CHECKED;
