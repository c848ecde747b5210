/* How a checkout looks to a client: contract, Checkout. */
#pragma once
#include "api/request.h"
#include "domain/checkout.h"

extern const struct shape checkout_shape;
/* NULL: there is none, or its subscription has ended. */
enum err checkout_reply(struct request *q, struct reply *p, int status, const struct checkout *c) CHECKED;
