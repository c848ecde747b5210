/* Rows of table checkout: the columns {checkout} of store/sql/checkout.sql. */
#pragma once
#include "billing/checkout.h"

/* The checkout of a row, whose texts it borrows. */
struct checkout checkout_row_read(const struct row_checkout *r);
/* The first row, in the arena. Fails with ERR_NOT_FOUND. */
enum err checkout_row(struct tx *tx, const struct db_call *call, struct checkout *ret) CHECKED;
/* All rows, in the arena. */
enum err checkout_rows(struct tx *tx, const struct db_call *call, const struct checkout **ret,
                       size_t *ret_count) CHECKED;
