/* Whose a building is. */
#pragma once
#include "domain/tx.h"

/* ERR_BUILDING_NOT_FOUND. */
enum err building_owner(struct tx *tx, const struct id *building, struct id *ret_account) CHECKED;
