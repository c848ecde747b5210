#include "resources/delivery.h"

#include "domain/event.h"
#include "resources/page.h"
#include "resources/routes.h"

/* ---- bodies ---- */

#define FILTER(member, type, ...) FIELD(struct delivery_filter, member, type, __VA_ARGS__)
static const struct field query_fields[] = {
    FILTER(status, T_STRING, .values = delivery_status_names, .error = ERR_INVALID_FILTER,
           .doc = "only deliveries with this status"),
    FILTER(limit, T_INT, .min = 1, .max = DELIVERY_PAGE_MAX, .error = ERR_INVALID_LIMIT, .doc = "default 50"),
    FILTER(cursor, T_ID, .error = ERR_INVALID_CURSOR, .doc = "pagination.cursor of the previous page"),
};
static const struct shape query_shape = SHAPE(struct delivery_filter, "WebhookDeliveryQuery", query_fields);

#define OUT(member, type, ...) FIELD(struct delivery_body, member, type, __VA_ARGS__)
static const struct field delivery_fields[] = {
    OUT(id, T_ID, .flags = F_REQUIRED),
    OUT(event_id, T_STRING, .flags = F_REQUIRED,
        .doc = "identifies the event; repetitions and replays have the same value"),
    OUT(type, T_STRING, .flags = F_REQUIRED, .values = event_type_names),
    OUT(status, T_STRING, .flags = F_REQUIRED, .values = delivery_status_names),
    OUT(attempts, T_INT, .flags = F_REQUIRED, .doc = "completed attempts"),
    OUT(created_at, T_TIME, .flags = F_REQUIRED),
    OUT(next_attempt_at, T_TIME, .flags = F_REQUIRED | F_NULLABLE, .doc = "null unless pending"),
    OUT(last_attempt_at, T_TIME, .flags = F_REQUIRED | F_NULLABLE, .doc = "when the last attempt ended"),
    OUT(last_status_code, T_INT, .flags = F_REQUIRED | F_NULLABLE, .doc = "status of the response; null: no response"),
    OUT(last_error, T_STRING, .flags = F_REQUIRED | F_NULLABLE, .doc = "reason of the failure; null: no failure"),
};
static const struct shape delivery_shape = SHAPE(struct delivery_body, "WebhookDelivery", delivery_fields);

struct delivery_page_body {
    struct val data, pagination;
};
static const struct field page_fields[] = {
    FIELD(struct delivery_page_body, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &delivery_shape,
          .doc = "newest first"),
    FIELD(struct delivery_page_body, pagination, T_OBJECT, .flags = F_REQUIRED, .sub = &pagination_shape),
};
static const struct shape page_shape = SHAPE(struct delivery_page_body, "WebhookDeliveryPage", page_fields);

struct queued {
    struct val delivery_id;
};
static const struct field queued_fields[] = {
    FIELD(struct queued, delivery_id, T_ID, .flags = F_REQUIRED, .doc = "queued, not yet delivered"),
};
const struct shape delivery_queued_shape = SHAPE(struct queued, "WebhookDeliveryQueued", queued_fields);

const void *delivery_queued_body(struct request *q, const struct id *delivery)
{
    struct queued *body = arena_new(q->tx.arena, struct queued);
    body->delivery_id = v_str(arena_str(q->tx.arena, id_str(delivery)));
    return body;
}

struct delivery_body delivery_entry_body(const struct delivery_entry *d)
{
    return (struct delivery_body){
        .id = v_str(id_str(&d->id)),
        .account_id = v_str(id_str(&d->account_id)),
        .webhook_id = v_str(id_str(&d->webhook_id)),
        .event_id = v_str(d->event_id),
        .type = v_str(d->type),
        .status = v_str(d->status),
        .attempts = v_int(d->attempts),
        .created_at = v_time(d->created_us),
        .next_attempt_at = v_time_or_null(d->due_us),
        .last_attempt_at = v_time_or_null(d->attempted_us),
        .last_status_code = d->status_code ? v_int(d->status_code) : v_null(),
        .last_error = v_str(d->failure),
    };
}

/* ---- handlers ---- */

static enum err list_webhook_deliveries(struct request *q, struct reply *p)
{
    struct arena *a = q->tx.arena;
    struct delivery_page page;
    enum err e = delivery_log_page(&q->tx, &q->who.account_id, &q->path_id, q->query, &page);
    if (e)
        return e;
    struct delivery_body *items = arena_array(a, struct delivery_body, page.count);
    for (size_t i = 0; i < page.count; i++)
        items[i] = delivery_entry_body(&page.items[i]);
    struct delivery_page_body *body = arena_new(a, struct delivery_page_body);
    body->data = v_list(items, page.count);
    body->pagination = pagination_of(a, page.more ? id_str(&page.items[page.count - 1].id) : STR_NONE);
    return reply_ok(p, 200, &page_shape, body);
}

static enum err replay_webhook_delivery(struct request *q, struct reply *p)
{
    struct id made;
    enum err e = delivery_replay(&q->tx, &q->who.account_id, &q->path_id, &q->item_id, &made);
    return e ? e : reply_ok(p, 202, &delivery_queued_shape, delivery_queued_body(q, &made));
}

#define TAG "Webhooks"

static const struct route rows[] = {
    ROUTE("listWebhookDeliveries", GET, "/v1/webhooks/{id}/deliveries", .credential = CRED_PARENT,
          .parent_error = ERR_OWNER_KEY_REQUIRED, .scopes = SCOPE(ACCESS_READ), .limit = LIMIT_KEY,
          .query = &query_shape, .run = RUN_READ, .handler = list_webhook_deliveries, .reply = &page_shape,
          .flags = ROUTE_SITE, .store_error = ERR_LIST_FAILED,
          .doc = ROUTE_DOC(
              TAG, 200, "List the deliveries to an endpoint, newest first",
              .description =
                  "The last 30 days unless the operator chose another time, including those of a deleted endpoint.",
              .flags = DOC_EXTENSION, .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
    ROUTE("replayWebhookDelivery", POST, "/v1/webhooks/{id}/deliveries/{delivery_id}/replay", .credential = CRED_PARENT,
          .parent_error = ERR_OWNER_KEY_REQUIRED, .scopes = SCOPE(ACCESS_WRITE), .limit = LIMIT_KEY, .run = RUN_WRITE,
          .handler = replay_webhook_delivery, .reply = &delivery_queued_shape, .flags = ROUTE_SITE,
          .doc =
              ROUTE_DOC(TAG, 202, "Replay a delivery",
                        .description =
                            "Queues a new delivery of the same event, with the same event ID, and the usual signature, "
                            "timeout and retries. The replayed delivery must have been delivered or have failed.",
                        .flags = DOC_EXTENSION, .errors = ROUTE_ERRORS(ERR_NOT_FOUND, ERR_DELIVERY_PENDING))),
};

const struct route_set delivery_routes = ROUTE_SET(rows);
