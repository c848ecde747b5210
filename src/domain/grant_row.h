/* Rows of table access_grant. */
#pragma once
#include "domain/grant.h"

#define GRANT_REQUEST_HASH_LEN 16 /* bytes of the SHA-256 of the body that are kept */

/* The grant of a row, whose texts it borrows. */
struct grant grant_row(const struct row_grant *r);
/* The schedule of a routine, or of a pass with these windows. Borrows the time zone. */
struct schedule grant_row_schedule(const struct row_schedule *r, struct str windows);

/* Inserts the grant with its receipt. *ret_inserted is false if the building has a grant of the same
 * Idempotency-Key. */
enum err grant_row_insert(struct tx *tx, const struct id *building, const struct grant *g,
                          const unsigned char request_hash[static SHA256_LEN], bool *ret_inserted) CHECKED;
/* Writes the members that an update may change. *ret_updated is false if the row's version is not g->version. */
enum err grant_row_update(struct tx *tx, const struct id *building, const struct grant *g, bool *ret_updated) CHECKED;
