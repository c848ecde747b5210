/* Parts of the checkout's handlers that both revisions of the interface have. A row's handler_data is a table of struct
 * plan_name; NULL: of the current revision. */
#pragma once
#include "api/route.h"

extern const struct shape checkout_input_shape;
enum err checkout_receipt(struct request *q) CHECKED;
enum err checkout_create(struct request *q, struct reply *p) CHECKED;
enum err checkout_show(struct request *q, struct reply *p) CHECKED;
