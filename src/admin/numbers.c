/* The inventory of virtual numbers. */
#include "admin/routes.h"
#include "api/number.h"
#include "domain/number.h"

struct number_body {
    struct val number, country;
};
struct number_query {
    struct val number;
};
struct released_reply {
    struct val number, released;
};

static const char *const countries[] = {"US", "CA", NULL};

static const struct field body_fields[] = {
    FIELD(struct number_body, number, T_STRING, .flags = F_REQUIRED, .pattern = NUMBER_PATTERN,
          .error = ERR_INVALID_PHONE_NUMBER),
    FIELD(struct number_body, country, T_STRING, .flags = F_UPPER, .values = countries, .doc = "default US"),
};
static const struct shape body_shape = SHAPE(struct number_body, "AdminNumber", body_fields);

static const struct field query_fields[] = {
    FIELD(struct number_query, number, T_STRING, .flags = F_REQUIRED, .pattern = NUMBER_PATTERN,
          .error = ERR_INVALID_PHONE_NUMBER),
};
static const struct shape query_shape = SHAPE(struct number_query, "AdminNumberQuery", query_fields);

static const struct field released_fields[] = {
    FIELD(struct released_reply, number, T_STRING, .flags = F_REQUIRED),
    FIELD(struct released_reply, released, T_BOOL, .flags = F_REQUIRED | F_CONST),
};
static const struct shape released_shape = SHAPE(struct released_reply, "AdminNumberReleased", released_fields);

static enum err list_numbers(struct request *q, struct reply *p)
{
    const struct number *numbers;
    size_t count;
    enum err e = number_list(&q->tx, &numbers, &count);
    return e ? e : number_list_reply(q, p, numbers, count);
}

static enum err add_number(struct request *q, struct reply *p)
{
    const struct number_body *given = q->body;
    struct number_body *body = arena_new(q->tx.arena, struct number_body);
    body->number = given->number;
    body->country = v_set(given->country) ? given->country : v_str(STR("US"));
    q->subject = arena_printf(q->tx.arena, "number=%.*s", STR_ARG(body->number.s));
    enum err e = number_add(&q->tx, body->number.s, body->country.s);
    return e ? e : reply_ok(p, 201, &body_shape, body);
}

static enum err release_number(struct request *q, struct reply *p)
{
    const struct number_query *query = q->query;
    struct released_reply *body = arena_new(q->tx.arena, struct released_reply);
    if (!v_set(query->number))
        return tx_fail(&q->tx, ERR_INVALID_PHONE_NUMBER, "number is required");
    q->subject = arena_printf(q->tx.arena, "number=%.*s", STR_ARG(query->number.s));
    enum err e = number_release(&q->tx, query->number.s);
    if (e == ERR_NUMBER_NOT_FOUND)
        return tx_fail(&q->tx, e, "no building has this number");
    if (e)
        return e;
    *body = (struct released_reply){query->number, v_bool(true)};
    return reply_ok(p, 200, &released_shape, body);
}

static const struct route rows[] = {
    {.operation_id = "adminListNumbers",
     .summary = "List the virtual numbers and their buildings",
     .tag = "Numbers",
     .method = HTTP_GET,
     .path = "/admin/numbers",
     .credential = CRED_CONTROL,
     .run = RUN_READ,
     .handler = list_numbers,
     .status = 200,
     .reply = &number_list_shape},
    {.operation_id = "adminAddNumber",
     .summary = "Add a virtual number to the pool",
     .tag = "Numbers",
     .method = HTTP_POST,
     .path = "/admin/numbers",
     .credential = CRED_CONTROL,
     .body = &body_shape,
     .body_error = ERR_BAD_REQUEST,
     .run = RUN_WRITE,
     .handler = add_number,
     .status = 201,
     .reply = &body_shape},
    {.operation_id = "adminReleaseNumber",
     .summary = "Release the virtual number of a building",
     .tag = "Numbers",
     .method = HTTP_DELETE,
     .path = "/admin/numbers",
     .credential = CRED_CONTROL,
     .query = &query_shape,
     .run = RUN_WRITE,
     .handler = release_number,
     .status = 200,
     .reply = &released_shape},
};
const struct route_set admin_number_routes = ROUTE_SET(rows);
