/* Rows of table checkout as the rules' own struct: every reader of checkout.sql has the same columns. */
#pragma once
#include "domain/checkout.h"
#include "domain/row.h"

/* The first row. ERR_NOT_FOUND. */
enum err checkout_row(struct tx *tx, enum sql statement, struct db_args args, struct checkout *ret) CHECKED;
/* All rows, in the arena. */
enum err checkout_rows(struct tx *tx, enum sql statement, struct db_args args, const struct checkout **ret,
                       size_t *ret_count) CHECKED;
