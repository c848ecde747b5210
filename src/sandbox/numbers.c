#include "sandbox/routes.h"

#include "api/number.h"
#include "domain/row.h"

/* The built-in provider has its own table. A number that it assigned to a building but that the service lost appears
 * with the building's ID only. The operator's numbers come from the service's table. */
static enum err read_numbers(struct tx *tx, const struct number **ret, size_t *ret_count)
{
    CURSOR c;
    enum err e = db_query(tx->db, SQL_SANDBOX_NUMBER_LIST, DB_NO_ARGS, &c);
    if (e)
        return e;
    struct number *list = NULL;
    size_t count = 0, room = 0;
    for (bool more; !(e = db_next(&c, &more)) && more;) {
        list = list_room(tx->arena, list, count, &room, sizeof *list);
        list[count++] = (struct number){
            .number = col_copy(&c, COL_SANDBOX_NUMBER_LIST_NUMBER, tx->arena),
            .country = col_copy(&c, COL_SANDBOX_NUMBER_LIST_COUNTRY, tx->arena),
            .building_id = col_id(&c, COL_SANDBOX_NUMBER_LIST_REFERENCE),
            .held_since_us = col_int_or(&c, COL_SANDBOX_NUMBER_LIST_HELD_SINCE, 0),
            .building_label = col_copy(&c, COL_SANDBOX_NUMBER_LIST_LABEL, tx->arena),
            .email = col_copy(&c, COL_SANDBOX_NUMBER_LIST_EMAIL, tx->arena),
            .pooled = col_int(&c, COL_SANDBOX_NUMBER_LIST_POOLED) != 0,
        };
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}

static enum err list_number_pool(struct request *q, struct reply *p)
{
    const struct number *numbers;
    size_t count;
    enum err e = read_numbers(&q->tx, &numbers, &count);
    return e ? e : number_list_reply(q, p, numbers, count);
}

static const struct route rows[] = {
    {.operation_id = "listSandboxNumbers",
     .summary = "List the provider's and the operator's virtual numbers and their holders",
     .tag = "Sandbox",
     .method = HTTP_GET,
     .path = "/sandbox/numbers",
     .credential = CRED_LOOPBACK,
     .run = RUN_READ,
     .handler = list_number_pool,
     .status = 200,
     .reply = &number_list_shape},
};
const struct route_set sandbox_numbers_routes = ROUTE_SET(rows);
