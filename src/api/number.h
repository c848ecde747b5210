/* The inventory of virtual numbers as a body, which the operator and the sandbox are shown. */
#pragma once
#include "api/route.h"

extern const struct shape number_list_shape;
/* A RUN_READ handler: all numbers and who holds them. */
enum err number_list_handler(struct request *q, struct reply *p);
