/* Parts of the plans' handler that both revisions of the interface have. */
#pragma once
#include "api/route.h"

extern const struct shape plans_shape;
/* The row's handler_data is a table of struct plan_name; NULL: of the current revision. */
enum err plan_list(struct request *q, struct reply *p) CHECKED;
