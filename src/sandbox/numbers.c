#include "sandbox/routes.h"

#include "resources/number.h"

/* The built-in provider has its own table. A number that it assigned to a building but that the service lost appears
 * with the building's ID only. The operator's numbers come from the service's table. */
static enum err list_number_pool(struct request *q, struct reply *p)
{
    const struct number *numbers;
    size_t count;
    enum err e = number_list_by(&q->tx, SQL(sandbox_number_list), &numbers, &count);
    return e ? e : number_list_reply(q, p, numbers, count);
}

static const struct route rows[] = {
    ROUTE("listSandboxNumbers", GET, "/sandbox/numbers", .credential = CRED_LOOPBACK, .run = RUN_READ,
          .handler = list_number_pool, .reply = &number_list_shape,
          .doc = ROUTE_DOC("Sandbox", 200, "List the provider's and the operator's virtual numbers and their holders")),
};
const struct route_set sandbox_numbers_routes = ROUTE_SET(rows);
