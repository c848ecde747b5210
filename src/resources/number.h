/* The list of virtual numbers and their holders, for the operator and the sandbox. */
#pragma once
#include "api/route.h"
#include "domain/number.h"

extern const struct shape number_list_shape;
/* Replies 200 with these numbers. */
enum err number_list_reply(struct request *q, struct reply *p, const struct number *numbers, size_t count) CHECKED;
