/* Grants as rows of the table access_grant. */
#pragma once
#include "domain/grant.h"

#define GRANT_REQUEST_HASH_LEN 16 /* so much of the SHA-256 of a create's body is kept */

/* The grant in the columns {grant} that the cursor's row begins with; its text is in the arena. */
struct grant grant_row(const struct cursor *c, struct arena *a);
/* The schedule in the columns {schedule} of a statement, which begin with column `at`. */
struct schedule grant_row_schedule(const struct cursor *c, int at, struct arena *a);

/* Inserts the grant with its receipt: false in *ret_inserted if the building already has that request. */
enum err grant_row_insert(struct tx *tx, const struct id *building, const struct grant *g,
                          const unsigned char request_hash[static SHA256_LEN], bool *ret_inserted) CHECKED;
/* Writes what an update may change, if the row still has g->version: else false in *ret_updated. */
enum err grant_row_update(struct tx *tx, const struct id *building, const struct grant *g, bool *ret_updated) CHECKED;
