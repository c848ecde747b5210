/* Webhook endpoints of the earlier revision: a building's (contract, Versioning 3; EARLIER-20). */
#include "api/gate.h"
#include "api/parts.h"
#include "api/slots.h"
#include "domain/building_webhook.h"
#include "domain/event.h"
#include "domain/webhook.h"
#include "jobs/delivery.h"
#include "resources/earlier.h"
#include "resources/webhook_url.h"

#define TEST_MS       25000 /* an attempt, after one in progress */
#define TESTS_MOST    8     /* at once: they must not occupy all blocking workers */
#define TESTS_ACCOUNT 2
#define TESTS_SAME    4 /* for one address block or host */

/* ---- bodies ---- */

struct endpoint_input {
    struct val url, events, description, active;
};
#define INPUT                                                                                                          \
    FIELD(struct endpoint_input, url, T_STRING, .min = 1, .max = WEBHOOK_URL_MAX, .format = "uri",                     \
          .error = ERR_INVALID_URL),                                                                                   \
        FIELD(struct endpoint_input, events, T_STRINGS, .min = 1, .max = EARLIER_LISTED, .error = ERR_INVALID_EVENTS), \
        FIELD(struct endpoint_input, description, T_STRING, .flags = F_NULLABLE,                                       \
              .max = BUILDING_WEBHOOK_DESCRIPTION_MAX)
static const struct field create_fields[] = {INPUT};
static const struct shape create_shape =
    SHAPE(struct endpoint_input, "EarlierWebhookCreate", create_fields, .open = true);
static const struct field change_fields[] = {INPUT, FIELD(struct endpoint_input, active, T_BOOL)};
static const struct shape change_shape =
    SHAPE(struct endpoint_input, "EarlierWebhookChange", change_fields, .least = 1);

struct endpoint {
    struct val id, building_id, url, events, description, active, created_at, secret;
};
#define ENDPOINT                                                                                                       \
    FIELD(struct endpoint, id, T_ID, .flags = F_REQUIRED),                                                             \
        FIELD(struct endpoint, building_id, T_ID, .flags = F_REQUIRED),                                                \
        FIELD(struct endpoint, url, T_STRING, .flags = F_REQUIRED),                                                    \
        FIELD(struct endpoint, events, T_STRINGS, .flags = F_REQUIRED),                                                \
        FIELD(struct endpoint, description, T_STRING, .flags = F_REQUIRED | F_NULLABLE),                               \
        FIELD(struct endpoint, active, T_BOOL, .flags = F_REQUIRED),                                                   \
        FIELD(struct endpoint, created_at, T_TIME, .flags = F_REQUIRED)
static const struct field endpoint_fields[] = {ENDPOINT};
static const struct shape endpoint_shape = SHAPE(struct endpoint, "EarlierWebhook", endpoint_fields);
static const struct field created_fields[] = {
    ENDPOINT,
    FIELD(struct endpoint, secret, T_STRING, .flags = F_REQUIRED | F_SECRET),
};
static const struct shape created_shape = SHAPE(struct endpoint, "EarlierWebhookCreated", created_fields);

struct endpoint_list {
    struct val data;
};
static const struct field list_fields[] = {
    FIELD(struct endpoint_list, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &endpoint_shape),
};
static const struct shape list_shape = SHAPE(struct endpoint_list, "EarlierWebhookList", list_fields);

struct endpoint_deleted {
    struct val id, deleted;
};
static const struct field deleted_fields[] = {
    FIELD(struct endpoint_deleted, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct endpoint_deleted, deleted, T_BOOL, .flags = F_REQUIRED | F_CONST),
};
static const struct shape deleted_shape = SHAPE(struct endpoint_deleted, "EarlierWebhookDeleted", deleted_fields);

struct tested {
    struct val success, status_code, latency_ms, error_message;
};
#define TESTED(member, name, type, extra) FIELD_NAMED(struct tested, member, name, type, .flags = F_REQUIRED | (extra))
static const struct field tested_fields[] = {
    TESTED(success, "success", T_BOOL, 0),
    TESTED(status_code, "statusCode", T_INT, F_NULLABLE),
    TESTED(latency_ms, "latencyMs", T_INT, 0),
    TESTED(error_message, "errorMessage", T_STRING, F_NULLABLE),
};
static const struct shape tested_shape = SHAPE(struct tested, "EarlierWebhookTested", tested_fields);

static struct val type_names(struct arena *a, uint32_t events)
{
    struct val *types = arena_array(a, struct val, EARLIER_LISTED);
    size_t n = 0;
    for (int i = 0; i < EARLIER_LISTED; i++)
        if (events & 1U << i)
            types[n++] = v_str(str_z(earlier_event_names[i]));
    return v_list(types, n);
}

/* Borrows `w`. */
static struct endpoint earlier_endpoint(struct arena *a, const struct building_webhook *w)
{
    return (struct endpoint){
        .id = v_str(id_str(&w->id)),
        .building_id = v_str(id_str(&w->building_id)),
        .url = v_str(w->url),
        .events = type_names(a, w->events),
        .description = v_str(w->description),
        .active = v_bool(w->active),
        .created_at = v_time(w->created_us),
    };
}

static enum err earlier_bits(struct request *q, struct val events, uint32_t *ret)
{
    return event_bits(&q->tx, events, earlier_event_names, EARLIER_LISTED, ERR_INVALID_EVENTS, ret);
}

static enum err check_url(struct request *q, struct str url)
{
    enum err e = webhook_url_check(q, url);
    return e == ERR_INVALID_WEBHOOK_URL ? ERR_INVALID_URL : e;
}

/* ---- creation ---- */

struct making {
    const struct request *q;
    struct building_webhook_request request;
    struct building_webhook wanted, made;
    struct str secret;
    bool replayed;
};

static struct building_webhook_request building_request(const struct request *q)
{
    return (struct building_webhook_request){&q->who.account_id, &q->building_id, q->idempotency_key, q->body_hash};
}

static enum err earlier_webhook_receipt(struct request *q)
{
    const struct building_webhook_request r = building_request(q);
    struct building_webhook w;
    struct str secret;
    return building_webhook_replay(&q->tx, &r, &w, &secret);
}

static enum err run_earlier_replay(struct tx *tx, void *arg)
{
    struct making *m = arg;
    enum err e = building_webhook_replay(tx, &m->request, &m->made, &m->secret);
    m->replayed = !e;
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

static enum err run_earlier_create(struct tx *tx, void *arg)
{
    struct making *m = arg;
    tx->now_us = m->q->tx.now_us;
    return building_webhook_create(tx, &m->request, &m->wanted, &m->made, &m->secret, &m->replayed);
}

/* As for the current revision, a replay comes before a check that the world may have changed. */
static enum err make_endpoint(struct request *q, struct making *m)
{
    const struct endpoint_input *in = q->body;
    enum err e = m->request.key.p ? work_read(&q->work, run_earlier_replay, m) : ERR_NONE;
    if (e || m->replayed)
        return e;
    if (!v_given(in->url))
        return ERR_MISSING_URL;
    if (!v_given(in->events))
        return ERR_MISSING_EVENTS;
    m->wanted.url = in->url.s;
    m->wanted.description = v_set(in->description) ? in->description.s : STR_NONE;
    e = earlier_bits(q, in->events, &m->wanted.events);
    if (!e)
        e = check_url(q, in->url.s);
    return e ? e : gate_write(q, run_earlier_create, m);
}

static enum err earlier_create_webhook(struct request *q, struct reply *p)
{
    struct making *m = arena_new(q->tx.arena, struct making);
    *m = (struct making){.q = q, .request = building_request(q)};
    enum err e = make_endpoint(q, m);
    if (e)
        return e;
    if (m->replayed)
        reply_header(p, "Idempotency-Replayed", STR("true"));
    struct endpoint *body = arena_new(q->tx.arena, struct endpoint);
    *body = earlier_endpoint(q->tx.arena, &m->made);
    body->secret = v_str(m->secret);
    return reply_ok(p, m->replayed ? 200 : 201, &created_shape, body);
}

/* ---- the others ---- */

static enum err earlier_list_webhooks(struct request *q, struct reply *p)
{
    const struct building_webhook *list;
    size_t count;
    enum err e = building_webhook_list(&q->tx, &q->building_id, &list, &count);
    if (e)
        return e;
    struct endpoint *items = arena_array(q->tx.arena, struct endpoint, count + 1);
    for (size_t i = 0; i < count; i++)
        items[i] = earlier_endpoint(q->tx.arena, &list[i]);
    return reply_copy(q, p, 200, &list_shape, &(struct endpoint_list){.data = v_list(items, count)});
}

struct changing {
    const struct request *q;
    struct building_webhook_change change;
    struct building_webhook webhook;
};

static enum err run_earlier_update(struct tx *tx, void *arg)
{
    struct changing *c = arg;
    tx->now_us = c->q->tx.now_us;
    return building_webhook_update(tx, &c->q->building_id, &c->q->path_id, &c->change, &c->webhook);
}

static enum err earlier_update_webhook(struct request *q, struct reply *p)
{
    const struct endpoint_input *in = q->body;
    struct changing *c = arena_new(q->tx.arena, struct changing);
    *c = (struct changing){.q = q, .change = {.url = in->url.s, .description = in->description, .active = in->active}};
    if (!v_given(in->url) && !v_given(in->events) && !v_given(in->description) && !v_given(in->active))
        return tx_fail(&q->tx, ERR_INVALID_WEBHOOK, "at least one of url, events, description and active is required");
    enum err e = v_given(in->events) ? earlier_bits(q, in->events, &c->change.events) : ERR_NONE;
    if (!e && v_given(in->url))
        e = check_url(q, in->url.s);
    if (!e)
        e = gate_write(q, run_earlier_update, c);
    if (e)
        return e;
    struct endpoint *body = arena_new(q->tx.arena, struct endpoint);
    *body = earlier_endpoint(q->tx.arena, &c->webhook);
    return reply_ok(p, 200, &endpoint_shape, body);
}

static enum err earlier_delete_webhook(struct request *q, struct reply *p)
{
    enum err e = building_webhook_delete(&q->tx, &q->building_id, &q->path_id);
    if (e)
        return e;
    return reply_copy(q, p, 200, &deleted_shape, &(struct endpoint_deleted){v_str(id_str(&q->path_id)), v_bool(true)});
}

/* ---- the test ---- */

static struct slots tests = SLOTS(LOOKUP_TEST, TESTS_MOST, TESTS_ACCOUNT, TESTS_SAME);

struct testing {
    const struct request *q;
    struct str url;
    struct id delivery;
    struct building_webhook_outcome outcome;
};

static enum err run_url(struct tx *tx, void *arg)
{
    struct testing *t = arg;
    const struct building_webhook *w;
    size_t n;
    enum err e = building_webhook_list(tx, &t->q->building_id, &w, &n);
    for (size_t i = 0; !e && i < n; i++)
        if (id_equal(&w[i].id, &t->q->path_id)) {
            t->url = w[i].url;
            return ERR_NONE;
        }
    return e ? e : ERR_NOT_FOUND;
}

static enum err run_earlier_test(struct tx *tx, void *arg)
{
    struct testing *t = arg;
    const struct request *q = t->q;
    tx->now_us = q->tx.now_us;
    return building_webhook_test(tx, &q->who.account_id, &q->building_id, &q->path_id, &t->delivery);
}

static enum err run_outcome(struct tx *tx, void *arg)
{
    struct testing *t = arg;
    return building_webhook_outcome(tx, &t->q->path_id, &t->delivery, &t->outcome);
}

/* Waits for the end of the attempt, for TEST_MS at most. */
static enum err await_outcome(struct request *q, struct testing *t)
{
    struct deliveries *engine = q->parts->deliveries;
    const int64_t until_us = clock_monotonic_us() + TEST_MS * 1000;
    for (bool going = true;;) {
        const uint64_t seen = deliveries_records(engine);
        enum err e = work_read(&q->work, run_outcome, t);
        const int64_t left_ms = (until_us - clock_monotonic_us()) / 1000;
        if (e || t->outcome.ended || !going || left_ms <= 0)
            return e;
        going = deliveries_wait(engine, seen, left_ms);
    }
}

static struct val error_message(struct arena *a, const struct building_webhook_outcome *o)
{
    static const char *const texts[][2] = {
        {"timeout", "The endpoint did not answer in time."},
        {"resolve", "The host of the URL was not found."},
        {"address", "The host of the URL has no public address."},
        {"connect", "The connection was refused."},
        {"tls", "The TLS handshake failed."},
        {"broken", "The connection broke."},
        {"url", "The URL cannot be used."},
        {"secret", "The secret cannot be decrypted."},
    };
    if (o->delivered)
        return v_null();
    if (!o->ended)
        return v_str(STR("The attempt has not ended yet: others to this endpoint are in progress."));
    if (o->status_code)
        return v_str(arena_printf(a, "The endpoint answered with status %lld.", (long long)o->status_code));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (str_eq(o->failure, str_z(texts[i][0])))
            return v_str(str_z(texts[i][1]));
    return v_str(STR("The endpoint was deleted, or switched off."));
}

static enum err earlier_test_webhook(struct request *q, struct reply *p)
{
    struct testing *t = arena_new(q->tx.arena, struct testing);
    struct slot *slot;
    *t = (struct testing){.q = q};
    enum err e = work_read(&q->work, run_url, t);
    if (!e)
        e = slots_take(&tests, q, t->url, &slot);
    if (e)
        return e;
    e = gate_write(q, run_earlier_test, t);
    if (!e)
        e = await_outcome(q, t);
    slots_release(&tests, slot);
    if (e)
        return e;
    const struct building_webhook_outcome *o = &t->outcome;
    return reply_copy(q, p, 200, &tested_shape,
                      &(struct tested){
                          .success = v_bool(o->delivered),
                          .status_code = o->status_code ? v_int(o->status_code) : v_null(),
                          .latency_ms = v_int(o->took_ms),
                          .error_message = error_message(q->tx.arena, o),
                      });
}

/* ---- rows ---- */

#define ROW                                                                                                            \
    .credential = CRED_OWNER, .parent_error = ERR_OWNER_KEY_REQUIRED, .scopes = SCOPE(WEBHOOKS_WRITE),                 \
    .limit = LIMIT_KEY, .building = BUILDING_HEADER
#define ALL "/v1/webhooks"
#define ONE "/v1/webhooks/{id}"

const struct route earlier_webhook_rows[EARLIER_WEBHOOK_ROWS] = {
    [EARLIER_CREATE_WEBHOOK] =
        ROUTE("earlierCreateWebhook", POST, ALL, ROW, .idempotency = NEED_OPTIONAL, .receipt = earlier_webhook_receipt,
              .body = &create_shape, .body_error = ERR_INVALID_WEBHOOK, .run = RUN_BLOCKING,
              .handler = earlier_create_webhook, .reply = &created_shape, .flags = ROUTE_SUBSCRIBED,
              .store_error = ERR_CREATE_FAILED,
              .doc = ROUTE_DOC("Webhooks", 201, "Register an HTTPS receiver for the events of a building",
                               .other_status = 200, .flags = DOC_REPLAY)),
    [EARLIER_LIST_WEBHOOK] =
        ROUTE("earlierListWebhooks", GET, ALL, ROW, .run = RUN_READ, .handler = earlier_list_webhooks,
              .reply = &list_shape, .flags = ROUTE_SUBSCRIBED, .store_error = ERR_LIST_FAILED,
              .doc = ROUTE_DOC("Webhooks", 200, "List a building's endpoints, without their secrets")),
    [EARLIER_UPDATE_WEBHOOK] =
        ROUTE("earlierUpdateWebhook", PATCH, ONE, ROW, .body = &change_shape, .body_error = ERR_INVALID_WEBHOOK,
              .run = RUN_BLOCKING, .handler = earlier_update_webhook, .reply = &endpoint_shape,
              .flags = ROUTE_SUBSCRIBED, .store_error = ERR_UPDATE_FAILED,
              .doc = ROUTE_DOC("Webhooks", 200, "Change an endpoint, or switch it off and on")),
    [EARLIER_DELETE_WEBHOOK] =
        ROUTE("earlierDeleteWebhook", DELETE, ONE, ROW, .run = RUN_WRITE, .handler = earlier_delete_webhook,
              .reply = &deleted_shape, .flags = ROUTE_SUBSCRIBED, .store_error = ERR_DELETE_FAILED,
              .doc = ROUTE_DOC("Webhooks", 200, "Delete an endpoint; can be repeated")),
    [EARLIER_TEST_WEBHOOK] =
        ROUTE("earlierTestWebhook", POST, ONE "/test", ROW, .run = RUN_BLOCKING, .handler = earlier_test_webhook,
              .reply = &tested_shape, .flags = ROUTE_SUBSCRIBED, .store_error = ERR_TEST_FAILED,
              .doc = ROUTE_DOC("Webhooks", 200, "Send a webhook.test event, and tell how the attempt went")),
};
