/* Whose a building is. */
#pragma once
#include "domain/op.h"

/* ERR_BUILDING_NOT_FOUND. */
enum err building_owner(struct op *op, const struct id *building, struct id *ret_account) CHECKED;
