/* The inventory of virtual numbers. */
#include "admin/routes.h"
#include "base/forms.h"
#include "domain/account.h"
#include "domain/number.h"
#include "domain/owner.h"
#include "resources/number.h"

struct number_body {
    struct val number, country, account, building_id;
};
struct number_reply {
    struct val number, country, account_id, building_id, email, building;
};
struct number_query {
    struct val number;
};
struct released_reply {
    struct val number, released;
};

static const char *const countries[] = {"US", "CA", NULL};

static const struct field body_fields[] = {
    FIELD(struct number_body, number, T_STRING, .flags = F_REQUIRED, NUMBER_FORM, .error = ERR_INVALID_PHONE_NUMBER),
    FIELD(struct number_body, country, T_STRING, .flags = F_UPPER, .values = countries, .doc = "default US"),
    FIELD(struct number_body, account, T_STRING, .flags = F_TRIM | F_LOWER, .max = 254, .error = ERR_INVALID_EMAIL,
          .doc = "e-mail address of the account whose first building gets it"),
    FIELD(struct number_body, building_id, T_ID, .doc = "building that gets it"),
};
static const struct shape body_shape = SHAPE(struct number_body, "AdminNumber", body_fields);

static const struct field reply_fields[] = {
    FIELD(struct number_reply, number, T_STRING, .flags = F_REQUIRED),
    FIELD(struct number_reply, country, T_STRING, .values = countries),
    FIELD(struct number_reply, account_id, T_ID),
    FIELD(struct number_reply, building_id, T_ID, .doc = "building that has it; not given: it is free"),
    FIELD(struct number_reply, email, T_STRING, .doc = "of the account"),
    FIELD(struct number_reply, building, T_STRING, .doc = "label of the building"),
};
static const struct shape reply_shape = SHAPE(struct number_reply, "AdminNumberHolder", reply_fields);

static const struct field query_fields[] = {
    FIELD(struct number_query, number, T_STRING, .flags = F_REQUIRED, NUMBER_FORM, .error = ERR_INVALID_PHONE_NUMBER),
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

/* The building that the body names: at most one of account and building_id. Empty: it names none. */
static enum err find_building(struct request *q, const struct number_body *body, struct building *ret)
{
    const struct building *list;
    struct id account;
    size_t count;
    *ret = (struct building){.id = admin_id(body->building_id)};
    if (v_set(body->account) && v_set(body->building_id))
        return tx_fail(&q->tx, ERR_BAD_REQUEST, "only one of account and building_id can be given");
    if (v_set(body->building_id)) {
        enum err e = building_owner(&q->tx, &ret->id, &account);
        return e ? e : building_get(&q->tx, &account, &ret->id, ret);
    }
    if (!v_set(body->account))
        return ERR_NONE;
    enum err e = admin_account(&q->tx, body->account.s, &account);
    if (!e)
        e = building_list(&q->tx, &account, &list, &count);
    for (size_t i = 0; !e && i < count; i++)
        if (list[i].primary)
            *ret = list[i];
    return e;
}

/* Says and logs who has the number. */
static enum err reply_holder(struct request *q, struct reply *p, int status, const struct building *b)
{
    const struct number_body *body = q->body;
    struct number_reply *reply = arena_new(q->tx.arena, struct number_reply);
    struct account account;
    *reply = (struct number_reply){.number = body->number, .country = body->country};
    q->subject = arena_printf(q->tx.arena, "number=%.*s", STR_ARG(body->number.s));
    if (id_given(&b->id)) {
        enum err e = account_get(&q->tx, &b->account_id, &account);
        if (e)
            return e;
        reply->account_id = v_str(arena_str(q->tx.arena, id_str(&b->account_id)));
        reply->building_id = v_str(arena_str(q->tx.arena, id_str(&b->id)));
        reply->email = v_str(account.email);
        reply->building = v_str(b->label);
        q->subject = arena_printf(q->tx.arena, "number=%.*s building=%s account=%s", STR_ARG(body->number.s),
                                  b->id.text, b->account_id.text);
    }
    return reply_ok(p, status, &reply_shape, reply);
}

static enum err add_number(struct request *q, struct reply *p)
{
    const struct number_body *body = q->body;
    const struct str country = v_given(body->country) ? body->country.s : STR("US");
    struct building b;
    enum err e = find_building(q, body, &b);
    if (!e)
        e = id_given(&b.id) ? number_add_for(&q->tx, body->number.s, country, &b.id)
                            : number_add(&q->tx, body->number.s, country);
    return e ? e : reply_holder(q, p, 201, &b);
}

static enum err assign_number(struct request *q, struct reply *p)
{
    const struct number_body *body = q->body;
    struct building b;
    enum err e = find_building(q, body, &b);
    if (!e && !id_given(&b.id))
        e = tx_fail(&q->tx, ERR_BAD_REQUEST, "account or building_id is required");
    if (!e)
        e = number_assign(&q->tx, body->number.s, &b.id);
    return e ? e : reply_holder(q, p, 200, &b);
}

static enum err remove_number(struct request *q, struct reply *p)
{
    const struct number_body *body = q->body;
    struct number_reply *reply = arena_new(q->tx.arena, struct number_reply);
    reply->number = body->number;
    q->subject = arena_printf(q->tx.arena, "number=%.*s", STR_ARG(body->number.s));
    enum err e = number_remove(&q->tx, body->number.s);
    return e ? e : reply_ok(p, 200, &reply_shape, reply);
}

static enum err release_number(struct request *q, struct reply *p)
{
    const struct number_query *query = q->query;
    struct released_reply *body = arena_new(q->tx.arena, struct released_reply);
    if (!v_set(query->number))
        return tx_fail(&q->tx, ERR_INVALID_PHONE_NUMBER, "number is required");
    q->subject = arena_printf(q->tx.arena, "number=%.*s", STR_ARG(query->number.s));
    enum err e = number_take(&q->tx, query->number.s);
    if (e == ERR_NUMBER_NOT_FOUND)
        return tx_fail(&q->tx, e, "no building has this number");
    if (e)
        return e;
    *body = (struct released_reply){query->number, v_bool(true)};
    return reply_ok(p, 200, &released_shape, body);
}

static const struct route rows[] = {
    ROUTE("adminListNumbers", GET, "/admin/numbers", .credential = CRED_CONTROL, .run = RUN_READ,
          .handler = list_numbers, .reply = &number_list_shape,
          .doc = ROUTE_DOC("Numbers", 200, "List the virtual numbers and their buildings")),
    ROUTE("adminAddNumber", POST, "/admin/numbers", .credential = CRED_CONTROL, .body = &body_shape,
          .body_error = ERR_BAD_REQUEST, .run = RUN_WRITE, .handler = add_number, .reply = &reply_shape,
          .doc = ROUTE_DOC("Numbers", 201, "Add a virtual number to the pool")),
    ROUTE("adminAssignNumber", POST, "/admin/numbers/assign", .credential = CRED_CONTROL, .body = &body_shape,
          .body_error = ERR_BAD_REQUEST, .run = RUN_WRITE, .handler = assign_number, .reply = &reply_shape,
          .doc = ROUTE_DOC("Numbers", 200, "Make a number of the pool a building's")),
    ROUTE("adminRemoveNumber", POST, "/admin/numbers/remove", .credential = CRED_CONTROL, .body = &body_shape,
          .body_error = ERR_BAD_REQUEST, .run = RUN_WRITE, .handler = remove_number, .reply = &reply_shape,
          .doc = ROUTE_DOC("Numbers", 200, "Take a number out of the pool, and from its building")),
    ROUTE("adminReleaseNumber", DELETE, "/admin/numbers", .credential = CRED_CONTROL, .query = &query_shape,
          .run = RUN_WRITE, .handler = release_number, .reply = &released_shape,
          .doc = ROUTE_DOC("Numbers", 200, "Release the virtual number of a building")),
};
const struct route_set admin_number_routes = ROUTE_SET(rows);
