#include "resources/routes.h"

#include "api/gate.h"
#include "base/forms.h"
#include "domain/event.h"
#include "domain/webhook.h"
#include "resources/delivery.h"
#include "resources/earlier.h"
#include "resources/webhook_url.h"

#define KEEP_HOURS (WEBHOOK_KEEP_S / 3600)

/* ---- bodies ---- */

struct endpoint_request {
    struct val url, events;
};
static const struct field request_fields[] = {
    FIELD(struct endpoint_request, url, T_STRING, .flags = F_REQUIRED, .min = 1, .max = WEBHOOK_URL_MAX,
          .format = "uri", .error = ERR_INVALID_WEBHOOK_URL,
          .doc = "https and publicly reachable, without user and fragment"),
    FIELD(struct endpoint_request, events, T_STRINGS, .min = 1, .max = EVENT_TYPE_COUNT, .values = event_type_names,
          .error = ERR_INVALID_WEBHOOK_EVENTS, .doc = "default: every type"),
};
static const struct shape request_shape =
    SHAPE(struct endpoint_request, "WebhookEndpointRequest", request_fields, .open = true);

struct endpoint_change {
    struct val url, events, active;
};
static const struct field change_fields[] = {
    FIELD(struct endpoint_change, url, T_STRING, .min = 1, .max = WEBHOOK_URL_MAX, .format = "uri",
          .error = ERR_INVALID_WEBHOOK_URL, .doc = "https and publicly reachable, without user and fragment"),
    FIELD(struct endpoint_change, events, T_STRINGS, .min = 1, .max = EVENT_TYPE_COUNT, .values = event_type_names,
          .error = ERR_INVALID_WEBHOOK_EVENTS),
    FIELD(struct endpoint_change, active, T_BOOL,
          .doc = "false: it gets no events, and its pending deliveries are canceled"),
};
static const struct shape change_shape =
    SHAPE(struct endpoint_change, "WebhookEndpointChange", change_fields, .least = 1);

struct rotation_body {
    struct val keep_previous_hours;
};
static const struct field rotation_fields[] = {
    FIELD(struct rotation_body, keep_previous_hours, T_INT, .min = 0, .max = KEEP_HOURS,
          .doc = "how long the earlier secret stays valid; 0: it ends at once; default 24"),
};
static const struct shape rotation_shape = SHAPE(struct rotation_body, "WebhookSecretRotation", rotation_fields);

struct endpoint {
    struct val id, url, events, active, created_at, secret, previous_secret_until;
};
#define ENDPOINT                                                                                                       \
    FIELD(struct endpoint, id, T_ID, .flags = F_REQUIRED), FIELD(struct endpoint, url, T_STRING, .flags = F_REQUIRED), \
        FIELD(struct endpoint, events, T_STRINGS, .flags = F_REQUIRED, .values = event_type_names),                    \
        FIELD(struct endpoint, active, T_BOOL, .flags = F_REQUIRED, .doc = "false: it gets no events"),                \
        FIELD(struct endpoint, created_at, T_TIME, .flags = F_REQUIRED)
static const struct field endpoint_fields[] = {ENDPOINT};
static const struct shape endpoint_shape = SHAPE(struct endpoint, "WebhookEndpoint", endpoint_fields);
#define SECRET                                                                                                         \
    FIELD(struct endpoint, secret, T_STRING, .flags = F_REQUIRED | F_SECRET,                                           \
          FORM("^whsec_[0-9A-Za-z]{43}$", "a secret"),                                                                 \
          .doc = "signs the deliveries, including the prefix; shown only here")
static const struct field created_fields[] = {ENDPOINT, SECRET};
static const struct shape created_shape = SHAPE(struct endpoint, "WebhookEndpointCreated", created_fields);
static const struct field rotated_fields[] = {
    ENDPOINT,
    SECRET,
    FIELD(struct endpoint, previous_secret_until, T_TIME, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "until then deliveries are signed with the earlier secret, too; null: it has ended"),
};
static const struct shape rotated_shape = SHAPE(struct endpoint, "WebhookSecretRotated", rotated_fields);

struct endpoint_list {
    struct val data;
};
static const struct field list_fields[] = {
    FIELD(struct endpoint_list, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &endpoint_shape, .doc = "newest first"),
};
static const struct shape list_shape = SHAPE(struct endpoint_list, "WebhookEndpointList", list_fields);

struct endpoint_deleted {
    struct val id, deleted;
};
static const struct field deleted_fields[] = {
    FIELD(struct endpoint_deleted, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct endpoint_deleted, deleted, T_BOOL, .flags = F_REQUIRED | F_CONST),
};
static const struct shape deleted_shape = SHAPE(struct endpoint_deleted, "WebhookEndpointDeleted", deleted_fields);

static struct val type_list(struct arena *a, uint32_t events)
{
    struct val *types = arena_array(a, struct val, EVENT_TYPE_COUNT);
    size_t n = 0;
    for (int i = 0; i < EVENT_TYPE_COUNT; i++)
        if (events & 1U << i)
            types[n++] = v_str(str_z(event_type_names[i]));
    return v_list(types, n);
}

/* Borrows `w`, which must not move while the body is in use. */
static struct endpoint endpoint_body(struct arena *a, const struct webhook *w)
{
    return (struct endpoint){
        .id = v_str(id_str(&w->id)),
        .url = v_str(w->url),
        .events = type_list(a, w->events),
        .active = v_bool(w->active),
        .created_at = v_time(w->created_us),
    };
}

/* ---- creation ---- */

struct creation {
    const struct request *q;
    struct webhook_request request;
    struct str url;
    uint32_t events;
    struct webhook webhook;
    struct str secret;
    bool replayed;
};

static enum err run_replay(struct tx *tx, void *arg)
{
    struct creation *c = arg;
    enum err e = webhook_replay(tx, &c->request, &c->webhook, &c->secret);
    c->replayed = !e;
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

static enum err run_create(struct tx *tx, void *arg)
{
    struct creation *c = arg;
    tx->now_us = c->q->tx.now_us;
    return webhook_create(tx, &c->request, c->url, c->events, &c->webhook, &c->secret, &c->replayed);
}

/* A URL that was valid at creation may have become invalid: look for a replay before checking it. */
static enum err webhook_make(struct request *q, struct creation *c)
{
    const struct endpoint_request *in = q->body;
    enum err e = c->request.key.p ? work_read(&q->work, run_replay, c) : ERR_NONE;
    if (e || c->replayed)
        return e;
    e = webhook_events(&q->tx, in->events, &c->events);
    if (!e)
        e = webhook_url_check(q, c->url);
    return e ? e : gate_write(q, run_create, c);
}

static struct webhook_request webhook_request_of(const struct request *q)
{
    return (struct webhook_request){&q->who.account_id, q->idempotency_key, q->body_hash};
}

static enum err webhook_receipt(struct request *q)
{
    const struct webhook_request r = webhook_request_of(q);
    struct webhook w;
    struct str secret;
    const enum err e = webhook_replay(&q->tx, &r, &w, &secret);
    if (e && e != ERR_IDEMPOTENCY_CONFLICT)
        return e;
    const enum err found = webhook_find(&q->tx, &q->who.account_id, &w.id, &q->receipt_ended);
    return found ? found : e;
}

static enum err create_webhook(struct request *q, struct reply *p)
{
    const struct endpoint_request *in = q->body;
    struct creation *c = arena_new(q->tx.arena, struct creation);
    c->q = q;
    c->request = webhook_request_of(q);
    c->url = in->url.s;
    enum err e = webhook_make(q, c);
    if (e)
        return e;
    if (c->replayed)
        reply_header(p, "Idempotency-Replayed", STR("true"));
    struct endpoint *body = arena_new(q->tx.arena, struct endpoint);
    *body = endpoint_body(q->tx.arena, &c->webhook);
    body->secret = v_str(c->secret);
    return reply_ok(p, c->replayed ? 200 : 201, &created_shape, body);
}

/* ---- the others ---- */

static enum err list_webhooks(struct request *q, struct reply *p)
{
    const struct webhook *webhooks;
    size_t count;
    enum err e = webhook_list(&q->tx, &q->who.account_id, &webhooks, &count);
    if (e)
        return e;
    struct endpoint *items = arena_array(q->tx.arena, struct endpoint, count);
    for (size_t i = 0; i < count; i++)
        items[i] = endpoint_body(q->tx.arena, &webhooks[i]);
    return reply_copy(q, p, 200, &list_shape, &(struct endpoint_list){.data = v_list(items, count)});
}

struct update {
    const struct request *q;
    struct webhook_change change;
    struct webhook webhook;
};

static enum err run_update(struct tx *tx, void *arg)
{
    struct update *u = arg;
    tx->now_us = u->q->tx.now_us;
    return webhook_update(tx, &u->q->who.account_id, &u->q->path_id, &u->change, &u->webhook);
}

static enum err update_webhook(struct request *q, struct reply *p)
{
    const struct endpoint_change *in = q->body;
    struct update *u = arena_new(q->tx.arena, struct update);
    *u = (struct update){.q = q, .change = {.url = in->url.s, .events = in->events, .active = in->active}};
    if (!v_given(in->url) && !v_given(in->events) && !v_given(in->active))
        return tx_fail(&q->tx, ERR_INVALID_WEBHOOK, "at least one of url, events and active is required");
    enum err e = v_given(in->url) ? webhook_url_check(q, u->change.url) : ERR_NONE;
    if (!e)
        e = gate_write(q, run_update, u);
    if (e)
        return e;
    struct endpoint *body = arena_new(q->tx.arena, struct endpoint);
    *body = endpoint_body(q->tx.arena, &u->webhook);
    return reply_ok(p, 200, &endpoint_shape, body);
}

static enum err rotation_receipt(struct request *q)
{
    struct webhook_rotation r = {.request = webhook_request_of(q)};
    return webhook_rotation_replay(&q->tx, &q->path_id, &r);
}

static enum err rotate_webhook_secret(struct request *q, struct reply *p)
{
    const struct rotation_body *in = q->body;
    const int64_t hours = v_given(in->keep_previous_hours) ? in->keep_previous_hours.i : KEEP_HOURS;
    struct webhook_rotation *r = arena_new(q->tx.arena, struct webhook_rotation);
    r->request = webhook_request_of(q);
    r->keep_us = hours * 3600 * US_PER_S;
    enum err e = webhook_rotate(&q->tx, &q->path_id, r);
    if (e)
        return e;
    if (r->replayed)
        reply_header(p, "Idempotency-Replayed", STR("true"));
    struct endpoint *body = arena_new(q->tx.arena, struct endpoint);
    *body = endpoint_body(q->tx.arena, &r->webhook);
    body->secret = v_str(r->secret);
    body->previous_secret_until = v_time_or_null(r->previous_until_us);
    return reply_ok(p, 200, &rotated_shape, body);
}

static enum err delete_webhook(struct request *q, struct reply *p)
{
    enum err e = webhook_delete(&q->tx, &q->who.account_id, &q->path_id);
    if (e)
        return e;
    return reply_copy(q, p, 200, &deleted_shape, &(struct endpoint_deleted){v_str(id_str(&q->path_id)), v_bool(true)});
}

struct test {
    const struct request *q;
    struct id delivery;
};

static enum err run_test(struct tx *tx, void *arg)
{
    struct test *t = arg;
    tx->now_us = t->q->tx.now_us;
    return webhook_test(tx, &t->q->who.account_id, &t->q->path_id, &t->delivery);
}

static enum err test_webhook(struct request *q, struct reply *p)
{
    struct test *t = arena_new(q->tx.arena, struct test);
    t->q = q;
    enum err e = gate_write(q, run_test, t);
    return e ? e : reply_ok(p, 202, &delivery_queued_shape, delivery_queued_body(q, &t->delivery));
}

#define TAG "Webhooks"

static const struct route rows[] = {
    ROUTE("createWebhook", POST, "/v1/webhooks", .credential = CRED_PARENT, .parent_error = ERR_OWNER_KEY_REQUIRED,
          .scopes = SCOPE(ACCESS_WRITE), .limit = LIMIT_KEY, .idempotency = NEED_OPTIONAL, .receipt = webhook_receipt,
          .body = &request_shape, .body_error = ERR_INVALID_WEBHOOK_URL, .run = RUN_BLOCKING, .handler = create_webhook,
          .reply = &created_shape, .flags = ROUTE_SITE, .store_error = ERR_CREATE_FAILED,
          .earlier = &earlier_webhook_rows[EARLIER_CREATE_WEBHOOK],
          .doc = ROUTE_DOC(
              TAG, 201, "Register an HTTPS receiver for events",
              .description =
                  "Endpoints belong to the account and receive the events of all its buildings; at most five. "
                  "Without an Idempotency-Key, list the endpoints before you repeat a request that timed out.",
              .body_example =
                  "{\"url\":\"https://example.com/hooks/door\",\"events\":[\"access.granted\",\"access.denied\"]}",
              .other_status = 200, .flags = DOC_REPLAY,
              .errors = ROUTE_ERRORS(ERR_WEBHOOK_LIMIT, ERR_SECRET_DECRYPT_FAILED))),
    ROUTE("listWebhooks", GET, "/v1/webhooks", .credential = CRED_PARENT, .parent_error = ERR_OWNER_KEY_REQUIRED,
          .scopes = SCOPE(ACCESS_READ), .limit = LIMIT_KEY, .run = RUN_READ, .handler = list_webhooks,
          .reply = &list_shape, .flags = ROUTE_SITE, .store_error = ERR_LIST_FAILED,
          .earlier = &earlier_webhook_rows[EARLIER_LIST_WEBHOOK],
          .doc = ROUTE_DOC(TAG, 200, "List the account's endpoints, without their secrets")),
    ROUTE("updateWebhook", PATCH, "/v1/webhooks/{id}", .credential = CRED_PARENT,
          .parent_error = ERR_OWNER_KEY_REQUIRED, .scopes = SCOPE(ACCESS_WRITE), .limit = LIMIT_KEY,
          .body = &change_shape, .body_error = ERR_INVALID_WEBHOOK, .run = RUN_BLOCKING, .handler = update_webhook,
          .reply = &endpoint_shape, .flags = ROUTE_SITE, .store_error = ERR_UPDATE_FAILED,
          .earlier = &earlier_webhook_rows[EARLIER_UPDATE_WEBHOOK],
          .doc = ROUTE_DOC(
              TAG, 200, "Change an endpoint's URL or event types, or switch it off and on",
              .description =
                  "Send only the fields that change. An endpoint that is switched off gets no events, and its pending "
                  "deliveries are canceled; they can be replayed. Deliveries that are pending go to the new URL.",
              .body_example = "{\"events\":[\"access.granted\"],\"active\":true}", .flags = DOC_EXTENSION,
              .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
    ROUTE("rotateWebhookSecret", POST, "/v1/webhooks/{id}/secret", .credential = CRED_PARENT,
          .parent_error = ERR_OWNER_KEY_REQUIRED, .scopes = SCOPE(ACCESS_WRITE), .limit = LIMIT_KEY,
          .idempotency = NEED_OPTIONAL, .receipt = rotation_receipt, .body = &rotation_shape,
          .body_error = ERR_INVALID_WEBHOOK, .body_optional = true, .run = RUN_WRITE, .handler = rotate_webhook_secret,
          .reply = &rotated_shape, .flags = ROUTE_SITE, .store_error = ERR_UPDATE_FAILED,
          .doc = ROUTE_DOC(
              TAG, 200, "Give an endpoint another secret",
              .description =
                  "Deliveries are signed with both secrets until the earlier one ends, each in a `v1` of "
                  "Service-Signature: accept one that matches. Without an Idempotency-Key, a request that timed out "
                  "may have changed the secret. A request with the last rotation's key returns that secret again.",
              .body_example = "{\"keep_previous_hours\":24}", .flags = DOC_EXTENSION | DOC_REPLAY,
              .errors = ROUTE_ERRORS(ERR_NOT_FOUND, ERR_WEBHOOK_ROTATION_PENDING, ERR_SECRET_DECRYPT_FAILED))),
    ROUTE("deleteWebhook", DELETE, "/v1/webhooks/{id}", .credential = CRED_PARENT,
          .parent_error = ERR_OWNER_KEY_REQUIRED, .scopes = SCOPE(ACCESS_WRITE), .limit = LIMIT_KEY, .run = RUN_WRITE,
          .handler = delete_webhook, .reply = &deleted_shape, .flags = ROUTE_SITE, .store_error = ERR_DELETE_FAILED,
          .earlier = &earlier_webhook_rows[EARLIER_DELETE_WEBHOOK],
          .doc = ROUTE_DOC(TAG, 200, "Delete an endpoint; can be repeated",
                           .description = "Stops its deliveries and cancels their retries.")),
    ROUTE("testWebhook", POST, "/v1/webhooks/{id}/test", .credential = CRED_PARENT,
          .parent_error = ERR_OWNER_KEY_REQUIRED, .scopes = SCOPE(ACCESS_WRITE), .limit = LIMIT_KEY,
          .run = RUN_BLOCKING, /* as the earlier revision's, which waits for the attempt */
          .handler = test_webhook, .reply = &delivery_queued_shape, .flags = ROUTE_SITE, .store_error = ERR_TEST_FAILED,
          .earlier = &earlier_webhook_rows[EARLIER_TEST_WEBHOOK],
          .doc = ROUTE_DOC(TAG, 202, "Queue a webhook.test event for an endpoint",
                           .description = "Sent with the usual signature, timeout and retries, even if the endpoint "
                                          "does not list the type. Queued does not mean delivered.",
                           .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
};

const struct route_set webhook_routes = ROUTE_SET(rows);
