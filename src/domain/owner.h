/* The account of a building. */
#pragma once
#include "domain/tx.h"

/* Fails with ERR_BUILDING_NOT_FOUND. */
enum err building_owner(struct tx *tx, const struct id *building, struct id *ret_account) CHECKED;
