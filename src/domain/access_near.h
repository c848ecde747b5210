/* The grants that a visitor may have meant when the door did not open, and why they did not open it. */
#pragma once
#include "domain/access_door.h"

/* Why a grant that is not revoked is not usable; false if it is usable. */
bool near_unusable(const struct grant *g, int64_t now_us, enum access_why *ret);

/* A usable grant outside its windows. */
struct access_near near_outside(const struct usable *grant, int64_t now_us);

/* Finds the newest passcode that has the digits and is not revoked. *ret_count is 1 if it is not usable now, and *ret
 * says why; else 0. Fails with ERR_NOT_FOUND. */
enum err near_with_code(struct tx *tx, const struct id *building, struct str digits, struct access_near *ret,
                        size_t *ret_count) CHECKED;

/* Finds the newest grants of the building that are not revoked and not usable now. Reads only the newest NEAR_ROWS_MAX
 * grants, so that the cost does not grow with the building. */
#define NEAR_ROWS_MAX 50
enum err near_find(struct tx *tx, const struct id *building, struct access_near ret[static ACCESS_NEAR_MAX],
                   size_t *ret_count) CHECKED;
