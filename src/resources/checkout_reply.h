/* The reply for a checkout (contract, Checkout). */
#pragma once
#include "api/request.h"
#include "billing/checkout.h"

extern const struct shape checkout_shape;
/* `c` NULL: no checkout, or its subscription has ended. The row's handler_data names the plan, see checkout.h. */
enum err checkout_reply(struct request *q, struct reply *p, int status, const struct checkout *c) CHECKED;
