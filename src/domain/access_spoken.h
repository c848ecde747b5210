/* The codes that may be spoken at a door, for a recogniser that can only verify codes that it knows. */
#pragma once
#include "domain/grant.h"
#include "domain/tx.h"

/* The codes of the building's usable passcodes that may be spoken, padded with zeros. None if there are more than `max`
 * or the door does not exist. They are secret: the caller wipes them. */
enum err access_spoken_codes(struct tx *tx, const struct id *building, char (*ret)[GRANT_CODE_DIGITS + 1], size_t max,
                             size_t *ret_count) CHECKED;
