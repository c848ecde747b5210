#include "sandbox/numbers.h"

#include "api/number.h"

static const struct route rows[] = {
    {.operation = "listSandboxNumbers",
     .summary = "The pool of virtual numbers and who holds them",
     .tag = "Sandbox",
     .method = HTTP_GET,
     .path = "/sandbox/numbers",
     .credential = CRED_LOOPBACK,
     .run = RUN_READ,
     .handler = number_list_handler,
     .status = 200,
     .reply = &number_list_shape},
};
const struct route_set sandbox_numbers_routes = ROUTE_SET(rows);
