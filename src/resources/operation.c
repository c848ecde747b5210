#include "resources/operation.h"

#include "api/gate.h"
#include "api/parts.h"
#include "jobs/queue.h"
#include "providers/providers.h"
#include "resources/earlier_account.h"
#include "resources/operation_body.h"
#include "resources/routes.h"

#define WAIT_MS 10000 /* for an operation's end; after it the reply is 202 (BUILDING-13) */

/* ---- state of the subscription at the provider ---- */

/* *ret is NULL if the provider does not know the subscription. Fails with INTERNAL_ERROR if the provider does not
 * respond; nothing has changed then. */
static enum err read_facts(struct request *q, struct str subscription, const struct operation_facts **ret)
{
    struct billing *b = q->parts->providers->billing;
    struct billing_subscription s;
    enum outcome o;
    int tries = 0;
    do
        o = b->ops->subscription_get(b, subscription, q->tx.arena, &s);
    while (outcome_again(o, &tries));
    if (o == OUTCOME_UNKNOWN)
        return ERR_INTERNAL_ERROR;
    *ret = NULL;
    if (o == OUTCOME_REFUSED)
        return ERR_NONE;
    struct operation_facts *facts = arena_new(q->tx.arena, struct operation_facts);
    *facts = (struct operation_facts){.active = s.status == BILLING_ACTIVE,
                                      .price_id = s.price_id,
                                      .currency = s.currency,
                                      .interval = s.interval,
                                      .amount_minor = s.amount_minor,
                                      .quantity = s.quantity};
    *ret = facts;
    return ERR_NONE;
}

/* The provider refuses the change itself, for example because no unit is left to remove. */
static enum err read_invoice(struct request *q, struct str subscription, int64_t quantity,
                             struct operation_offer *offer)
{
    struct billing *b = q->parts->providers->billing;
    struct billing_preview preview;
    enum outcome o;
    int tries = 0;
    do
        o = b->ops->preview(b, subscription, quantity, offer->proration_s, q->tx.arena, &preview);
    while (outcome_again(o, &tries));
    if (o == OUTCOME_REFUSED)
        return tx_fail(&q->tx, ERR_BUILDING_BILLING_MISMATCH,
                       "The subscription cannot be changed in its current state.");
    if (o == OUTCOME_UNKNOWN)
        return ERR_INTERNAL_ERROR;
    offer->next_invoice_minor = preview.amount_due_minor;
    return ERR_NONE;
}

/* ---- POST /v1/buildings/preview ---- */

struct preview {
    const struct id *account;
    struct operation_input input;
    struct str subscription;
    struct operation_offer offer;
    struct operation quote;
};

static enum err draft_run(struct tx *tx, void *arg)
{
    struct preview *v = arg;
    return operation_draft(tx, v->account, &v->input, &v->subscription);
}

static enum err quote_run(struct tx *tx, void *arg)
{
    struct preview *v = arg;
    return operation_quote(tx, v->account, &v->input, &v->offer, &v->quote);
}

enum err operation_preview(struct request *q, struct reply *p)
{
    struct preview *v = arena_new(q->tx.arena, struct preview);
    v->account = &q->who.account_id;
    v->offer.proration_s = q->tx.now_us / US_PER_S;
    enum err e = building_preview_input(&q->tx, q->body, &v->input);
    if (!e)
        e = work_read(&q->work, draft_run, v);
    if (!e)
        e = read_facts(q, v->subscription, &v->offer.facts);
    if (!e && v->offer.facts && v->offer.facts->active)
        e = read_invoice(q, v->subscription, operation_new_quantity(v->input.action, v->offer.facts), &v->offer);
    if (!e)
        e = gate_write(q, quote_run, v);
    if (e)
        return e;
    return reply_ok(p, 201, &building_operation_shape, building_operation_body(q->tx.arena, &v->quote));
}

/* ---- execution ---- */

struct execution {
    struct operation_request request;
    const struct operation_facts *facts;
    struct operation o;
    bool replayed;
};

static enum err check_run(struct tx *tx, void *arg)
{
    struct execution *x = arg;
    return operation_check(tx, &x->request, &x->o, &x->replayed);
}

static enum err start_run(struct tx *tx, void *arg)
{
    struct execution *x = arg;
    return operation_start(tx, &x->request, x->facts, &x->o, &x->replayed);
}

static enum err read_run(struct tx *tx, void *arg)
{
    struct execution *x = arg;
    struct id account = x->request.account_id, id = x->o.id;
    return operation_get(tx, &account, &id, &x->o);
}

/* Checks, reads the provider's state, checks again and starts the operation. A used Idempotency-Key returns its
 * operation. */
static enum err begin_operation(struct request *q, struct execution *x)
{
    enum err e = work_read(&q->work, check_run, x);
    if (e || x->replayed)
        return e;
    e = read_facts(q, x->o.billing.subscription_id, &x->facts);
    return e ? e : gate_write(q, start_run, x);
}

/* Waits for the end of the operation, within the time limit. */
static enum err await(struct request *q, struct execution *x)
{
    bool done;
    if (x->o.status != OPERATION_RUNNING)
        return ERR_NONE;
    enum err e = jobs_wait(q->parts->jobs, operation_job(&x->o.id, q->tx.arena), WAIT_MS, &done);
    return e ? e : work_write(&q->work, read_run, x);
}

static enum err operation_reply(struct request *q, struct reply *p, const struct execution *x, int made)
{
    const struct operation *o = &x->o;
    if (o->status == OPERATION_FAILED && o->error)
        return o->error;
    bool ended = o->status == OPERATION_SUCCEEDED || o->status == OPERATION_FAILED;
    if (x->replayed)
        reply_header(p, "Idempotency-Replayed", STR("true"));
    int status = !ended ? 202 : x->replayed ? 200 : made;
    return reply_ok(p, status, &building_operation_shape, building_operation_body(q->tx.arena, o));
}

/* Everything except the quote. */
static struct operation_request operation_request_of(struct request *q, enum operation_action action)
{
    return (struct operation_request){.account_id = q->who.account_id,
                                      .action = action,
                                      .building_id = q->path_id,
                                      .key = q->idempotency_key,
                                      .hash = q->body_hash};
}

static enum err receipt(struct request *q, enum operation_action action)
{
    const struct operation_request r = operation_request_of(q, action);
    struct operation o;
    return operation_replay(&q->tx, &r, &o);
}

static enum err add_receipt(struct request *q)
{
    return receipt(q, OPERATION_ADD);
}

static enum err remove_receipt(struct request *q)
{
    return receipt(q, OPERATION_REMOVE);
}

static enum err execute(struct request *q, struct reply *p, enum operation_action action, int made)
{
    struct execution *x = arena_new(q->tx.arena, struct execution);
    x->request = operation_request_of(q, action);
    x->request.quote_id = quote_request_id(q->body);
    enum err e = begin_operation(q, x);
    if (!e)
        e = await(q, x);
    return e ? e : operation_reply(q, p, x, made);
}

static enum err add_building(struct request *q, struct reply *p)
{
    return execute(q, p, OPERATION_ADD, 201);
}

static enum err remove_building(struct request *q, struct reply *p)
{
    return execute(q, p, OPERATION_REMOVE, 200);
}

/* ---- GET /v1/buildings/operations/{id} ---- */

/* A write, because it marks an operation that has made no progress. */
static enum err get_operation(struct request *q, struct reply *p)
{
    struct operation *o = arena_new(q->tx.arena, struct operation);
    enum err e = operation_get(&q->tx, &q->who.account_id, &q->path_id, o);
    return e ? e : reply_ok(p, 200, &building_operation_shape, building_operation_body(q->tx.arena, o));
}

/* ---- routes ---- */

#define TAG "Buildings"
#define MANAGES                                                                                                        \
    .credential = CRED_PARENT, .parent_error = ERR_PARENT_BUILDING_KEY_REQUIRED,                                       \
    .scopes = SCOPE(ACCOUNT_READ) | SCOPE(BUILDINGS_WRITE), .limit = LIMIT_KEY, .building = BUILDING_FORBIDDEN,        \
    .reply = &building_operation_shape
#define EXECUTION_ERRORS                                                                                               \
    ERR_MULTI_BUILDING_REQUIRED, ERR_NOT_FOUND, ERR_INVALID_QUOTE_CONFLICT, ERR_IDEMPOTENCY_CONFLICT,                  \
        ERR_QUOTE_EXPIRED, ERR_QUOTE_STALE, ERR_BUILDING_BUSY, ERR_BUILDING_BILLING_MISMATCH

static const struct route rows[] = {
    ROUTE("previewBuilding", POST, "/v1/buildings/preview", MANAGES, .body = &building_preview_shape,
          .body_error = ERR_INVALID_BUILDING_INPUT, .run = RUN_BLOCKING, .handler = operation_preview,
          .flags = ROUTE_SITE, .earlier = &earlier_account_rows[EARLIER_PREVIEW_BUILDING],
          .doc =
              ROUTE_DOC(TAG, 201, "Quote the addition or removal of a linked building",
                        .description = "Changes and buys nothing. The quote is valid for 15 minutes. It contains the "
                                       "exact change and an estimate of the subscription's next invoice.",
                        .body_example =
                            "{\"action\": \"add\", \"label\": \"Cabin\", \"address\": {\"street\": \"1 Main Street\", "
                            "\"city\": \"Portland\", \"state\": \"OR\", \"zip\": \"97201\"}, \"unlock_tone\": \"9\"}",
                        .errors = ROUTE_ERRORS(ERR_PHONE_VERIFICATION_REQUIRED, ERR_FORWARDING_PHONE_NOT_VERIFIED,
                                               ERR_MULTI_BUILDING_REQUIRED, ERR_BUILDING_NOT_FOUND, ERR_BUILDING_LIMIT,
                                               ERR_BUILDING_BILLING_MISMATCH))),
    ROUTE("addBuilding", POST, "/v1/buildings", MANAGES, .idempotency = NEED_REQUIRED, .receipt = add_receipt,
          .body = &quote_request_shape, .body_error = ERR_INVALID_QUOTE, .run = RUN_BLOCKING, .handler = add_building,
          .flags = ROUTE_SITE,
          .doc = ROUTE_DOC(TAG, 201, "Add the building of a quote",
                           .description =
                               "Returns 201 when completed, or 202 if it takes longer: then poll the operation. A "
                               "repeated request with the same Idempotency-Key returns the same operation. A failed "
                               "addition is rolled back: no number, no building, no charge.",
                           .body_example = "{\"quote_id\": \"6564c0ffee0123456789abcd\"}", .other_status = 200,
                           .pending_status = 202, .flags = DOC_REPLAY,
                           .errors = ROUTE_ERRORS(EXECUTION_ERRORS, ERR_PAYMENT_FAILED, ERR_BUILDING_ADD_FAILED))),
    ROUTE("removeBuilding", DELETE, "/v1/buildings/{id}", MANAGES, .idempotency = NEED_REQUIRED,
          .receipt = remove_receipt, .body = &quote_request_shape, .body_error = ERR_INVALID_QUOTE, .run = RUN_BLOCKING,
          .handler = remove_building, .flags = ROUTE_SITE,
          .doc = ROUTE_DOC(
              TAG, 200, "Remove the building of a quote",
              .description =
                  "Permanently releases the number, deletes the building's grants and activity log, revokes the keys "
                  "bound to it, and reduces the subscription by one unit. Returns the same statuses as the addition.",
              .body_example = "{\"quote_id\": \"6564c0ffee0123456789abcd\"}", .pending_status = 202,
              .flags = DOC_REPLAY, .errors = ROUTE_ERRORS(EXECUTION_ERRORS, ERR_BUILDING_NOT_FOUND))),
    ROUTE("getBuildingOperation", GET, "/v1/buildings/operations/{id}", MANAGES, .run = RUN_WRITE,
          .handler = get_operation, .flags = ROUTE_SITE,
          .doc = ROUTE_DOC(TAG, 200, "A quote or its operation",
                           .description = "Quotes and receipts are kept. No subscription is required.",
                           .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
};
const struct route_set operation_routes = ROUTE_SET(rows);
