/* Webhook deliveries of all accounts, and sending the event of one again. */
#include "admin/routes.h"
#include "resources/delivery.h"

#define LIST_MAX 100

struct deliveries_query {
    struct val email, status;
};
struct deliveries_reply {
    struct val data;
};
struct replay_body {
    struct val delivery_id;
};

static const struct field query_fields[] = {
    FIELD(struct deliveries_query, email, T_STRING, .flags = F_TRIM | F_LOWER, .max = 254, .error = ERR_INVALID_EMAIL,
          .doc = "deliveries of this account only"),
    FIELD(struct deliveries_query, status, T_STRING, .values = delivery_status_names, .error = ERR_INVALID_FILTER,
          .doc = "default: failed; with email any"),
};
static const struct shape query_shape = SHAPE(struct deliveries_query, "AdminDeliveriesQuery", query_fields);

#define OUT(member, type, ...) FIELD(struct delivery_body, member, type, __VA_ARGS__)
static const struct field delivery_fields[] = {
    OUT(id, T_ID, .flags = F_REQUIRED),
    OUT(account_id, T_ID, .flags = F_REQUIRED),
    OUT(webhook_id, T_ID, .flags = F_REQUIRED),
    OUT(event_id, T_STRING, .flags = F_REQUIRED),
    OUT(type, T_STRING, .flags = F_REQUIRED),
    OUT(status, T_STRING, .flags = F_REQUIRED),
    OUT(attempts, T_INT, .flags = F_REQUIRED),
    OUT(created_at, T_TIME, .flags = F_REQUIRED),
    OUT(next_attempt_at, T_TIME, .flags = F_REQUIRED | F_NULLABLE),
    OUT(last_attempt_at, T_TIME, .flags = F_REQUIRED | F_NULLABLE),
    OUT(last_status_code, T_INT, .flags = F_REQUIRED | F_NULLABLE),
    OUT(last_error, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
};
static const struct shape delivery_shape = SHAPE(struct delivery_body, "AdminDelivery", delivery_fields);

static const struct field deliveries_fields[] = {
    FIELD(struct deliveries_reply, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &delivery_shape),
};
static const struct shape deliveries_shape = SHAPE(struct deliveries_reply, "AdminDeliveries", deliveries_fields);

static const struct field replay_fields[] = {
    FIELD(struct replay_body, delivery_id, T_ID, .flags = F_REQUIRED),
};
static const struct shape replay_shape = SHAPE(struct replay_body, "AdminDeliveryReplay", replay_fields);

static enum err list_deliveries(struct request *q, struct reply *p)
{
    const struct deliveries_query *query = q->query;
    const struct delivery_entry *list;
    struct id account = {""};
    struct str status = v_set(query->status) ? query->status.s : STR_NONE;
    size_t count;
    enum err e = v_set(query->email) ? admin_account(&q->tx, query->email.s, &account) : ERR_NONE;
    if (e)
        return e;
    if (id_given(&account))
        q->subject = arena_printf(q->tx.arena, "account=%s", account.text);
    if (!id_given(&account) && !status.p)
        status = str_z(delivery_status_names[DELIVERY_FAILED]);
    e = delivery_log_search(&q->tx, &account, status, LIST_MAX, &list, &count);
    if (e)
        return e;
    struct delivery_body *rows = arena_array(q->tx.arena, struct delivery_body, count + 1);
    for (size_t i = 0; i < count; i++)
        rows[i] = delivery_entry_body(&list[i]);
    return reply_copy(q, p, 200, &deliveries_shape, &(struct deliveries_reply){.data = v_list(rows, count)});
}

static enum err replay_delivery(struct request *q, struct reply *p)
{
    const struct replay_body *body = q->body;
    const struct id id = admin_id(body->delivery_id);
    struct id made;
    q->subject = arena_printf(q->tx.arena, "delivery=%s", id.text);
    enum err e = delivery_replay_any(&q->tx, &id, &made);
    if (e == ERR_NOT_FOUND && !q->tx.why.p)
        return tx_fail(&q->tx, e, "delivery not found");
    return e ? e : reply_ok(p, 202, &delivery_queued_shape, delivery_queued_body(q, &made));
}

static const struct route rows[] = {
    ROUTE("adminListDeliveries", GET, "/admin/deliveries", .credential = CRED_CONTROL, .personal = true,
          .query = &query_shape, .run = RUN_READ, .handler = list_deliveries, .reply = &deliveries_shape,
          .doc = ROUTE_DOC("Webhooks", 200, "List the newest webhook deliveries of an account, or with a status")),
    ROUTE("adminReplayDelivery", POST, "/admin/deliveries/replay", .credential = CRED_CONTROL, .body = &replay_shape,
          .body_error = ERR_INVALID_ID, .run = RUN_WRITE, .handler = replay_delivery, .reply = &delivery_queued_shape,
          .doc = ROUTE_DOC("Webhooks", 202, "Send the event of a delivery again")),
};
const struct route_set admin_delivery_routes = ROUTE_SET(rows);
