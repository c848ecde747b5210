/* Parts of the account's handler that both revisions of the interface have. */
#pragma once
#include "api/route.h"

extern const struct shape account_shape;
/* The row's handler_data is a table of struct plan_type; NULL: of the current revision. */
enum err account_show(struct request *q, struct reply *p) CHECKED;
