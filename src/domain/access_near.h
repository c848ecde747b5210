/* The grants that might have been meant when nothing opened a door, and why they did not open it. */
#pragma once
#include "domain/access.h"

/* The newest of the building's grants that are not revoked and cannot be used now, ACCESS_NEAR_MAX at most. Looks at
 * the newest NEAR_ROWS_MAX grants, so that it costs the same in any building. */
#define NEAR_ROWS_MAX 50
enum err near_find(struct tx *tx, const struct id *building, struct access_near ret[static ACCESS_NEAR_MAX],
                   size_t *ret_count) CHECKED;
