#include "resources/checkout.h"

#include "api/gate.h"
#include "api/parts.h"
#include "billing/billing_account.h"
#include "billing/plan.h"
#include "jobs/checkout_session.h"
#include "providers/providers.h"
#include "resources/checkout_reply.h"
#include "resources/earlier_account.h"
#include "resources/routes.h"

#define TURNS_MAX 4 /* begin, end another plan's session, begin; plus one turn for a lost race */

/* ---- bodies ---- */

struct checkout_input {
    struct val plan;
};
static const struct field input_fields[] = {
    FIELD(struct checkout_input, plan, T_STRING, .flags = F_REQUIRED, .doc = "a plan's id, from GET /v1/plans"),
};
const struct shape checkout_input_shape = SHAPE(struct checkout_input, "CheckoutRequest", input_fields);

struct expired_body {
    struct val id, status, payment_required;
};
static const char *const expired_values[] = {"expired", NULL};
static const struct field expired_fields[] = {
    FIELD(struct expired_body, id, T_STRING, .flags = F_REQUIRED, .doc = "ID of the hosted checkout session"),
    FIELD(struct expired_body, status, T_STRING, .flags = F_REQUIRED | F_CONST, .values = expired_values),
    FIELD(struct expired_body, payment_required, T_BOOL, .flags = F_REQUIRED | F_CONST | F_FALSE),
};
static const struct shape expired_shape = SHAPE(struct expired_body, "CheckoutExpired", expired_fields);

struct portal_body {
    struct val url;
};
static const struct field portal_fields[] = {
    FIELD(struct portal_body, url, T_STRING, .flags = F_REQUIRED, .format = "uri", .doc = "the hosted billing portal"),
};
static const struct shape portal_shape = SHAPE(struct portal_body, "Portal", portal_fields);

/* ---- shared by the handlers ---- */

static struct checkout_context desk(struct request *q)
{
    return (struct checkout_context){.billing = q->parts->providers->billing, .work = &q->work};
}

/* The return address of hosted pages. The provider's session adds the outcome (contract, Checkout rule 8). */
static struct str account_page(struct request *q)
{
    return arena_printf(q->tx.arena, "%s/account", q->parts->public_url);
}

/* ---- POST /v1/billing/checkout ---- */

struct purchase {
    struct checkout_request request;
    struct checkout checkout;
    enum checkout_step step;
    bool made;
};

static enum err begin_run(struct tx *tx, void *arg)
{
    struct purchase *b = arg;
    return checkout_begin(tx, &b->request, &b->checkout, &b->step, &b->made);
}

static enum checkout_sale sale_of(struct request *q, struct str plan)
{
    struct billing_prices prices;
    if (!catalog_get(q->parts->providers->catalog, q->tx.arena, &prices))
        return CHECKOUT_SALE_UNKNOWN;
    const struct billing_price *price = billing_price_of(&prices, plan);
    return price && price->available ? CHECKOUT_SALE_ON : CHECKOUT_SALE_OFF;
}

/* If the provider cannot be read, the session may still be open: answer with the stored state. */
static enum err checkout_refresh(const struct checkout_context *d, struct purchase *b)
{
    enum err e = checkout_session_refresh(d, &b->checkout);
    b->request.reread = true;
    return e == ERR_CHECKOUT_UNAVAILABLE ? ERR_NONE : e;
}

/* The session was to be expired for another plan but turned out to be paid (rule 4). */
static enum err checkout_expire_open(struct request *q, const struct checkout_context *d, struct purchase *b)
{
    enum err e = checkout_session_expire(d, &b->checkout);
    if (!e && b->checkout.status == CHECKOUT_COMPLETE)
        return tx_fail(&q->tx, ERR_CHECKOUT_EXISTS, "The checkout for the other plan has been paid.");
    return e;
}

/* Runs the steps until one of them answers. */
static enum err checkout_buy(struct request *q, const struct checkout_context *d, struct purchase *b)
{
    for (int turn = 0; turn < TURNS_MAX; turn++) {
        enum err e = gate_write(q, begin_run, b);
        if (e)
            return e;
        switch (b->step) {
        case CHECKOUT_ANSWER:
            return ERR_NONE;
        case CHECKOUT_ASK:
            return checkout_session_open(d, &b->checkout);
        case CHECKOUT_REREAD:
            e = checkout_refresh(d, b);
            break;
        case CHECKOUT_END:
            e = checkout_expire_open(q, d, b);
            break;
        }
        if (e)
            return e;
    }
    return ERR_CHECKOUT_UNAVAILABLE;
}

static struct checkout_request checkout_request_of(struct request *q)
{
    return (struct checkout_request){
        .account = q->who.account_id, .request_id = q->idempotency_key, .hash = q->body_hash};
}

static enum err receipt_run(struct tx *tx, void *arg)
{
    struct checkout c;
    return checkout_replay(tx, arg, &c);
}

enum err checkout_receipt(struct request *q)
{
    struct checkout_request r = checkout_request_of(q);
    return receipt_run(&q->tx, &r);
}

static enum err refuse_plan(struct request *q, enum err refusal)
{
    struct checkout_request r = checkout_request_of(q);
    enum err e = work_read(&q->work, receipt_run, &r);
    return e && e != ERR_NOT_FOUND ? e : refusal;
}

enum err checkout_create(struct request *q, struct reply *p)
{
    const struct checkout_input *input = q->body;
    struct str plan;
    enum err e = plan_named(q->tx.config, q->route->handler_data, input->plan.s, &plan);
    if (e)
        return refuse_plan(q, e);
    if (q->tx.config->unbilled)
        return refuse_plan(q, ERR_PLAN_UNAVAILABLE);
    struct purchase *b = arena_new(q->tx.arena, struct purchase);
    b->request = checkout_request_of(q);
    b->request.plan = plan;
    b->request.sale = sale_of(q, plan);
    b->request.return_url = account_page(q);
    const struct checkout_context d = desk(q);
    e = checkout_buy(q, &d, b);
    bool created = b->made && b->checkout.status != CHECKOUT_FAILED;
    return e ? e : checkout_reply(q, p, created ? 201 : 200, &b->checkout);
}

/* ---- GET /v1/billing/checkout ---- */

enum err checkout_show(struct request *q, struct reply *p)
{
    struct checkout c;
    enum err e = checkout_current(&q->tx, &q->who.account_id, &c);
    if (e && e != ERR_NOT_FOUND)
        return e;
    return checkout_reply(q, p, 200, e ? NULL : &c);
}

/* ---- POST /v1/billing/checkout/{text}/expire ---- */

struct ending {
    struct id account;
    struct str session_id;
    struct checkout checkout;
};

static enum err find_checkout_run(struct tx *tx, void *arg)
{
    struct ending *x = arg;
    return checkout_of_session(tx, &x->account, x->session_id, &x->checkout);
}

static enum err expire_checkout(struct request *q, struct reply *p)
{
    struct ending *x = arena_new(q->tx.arena, struct ending);
    x->account = q->who.account_id;
    x->session_id = q->path_text;
    const struct checkout_context d = desk(q);
    enum err e = work_read(&q->work, find_checkout_run, x);
    if (!e && x->checkout.status == CHECKOUT_OPEN)
        e = checkout_session_expire(&d, &x->checkout);
    if (e)
        return e;
    if (x->checkout.status == CHECKOUT_COMPLETE)
        return tx_fail(&q->tx, ERR_SUBSCRIPTION_EXISTS,
                       "The checkout was paid. This request does not cancel its subscription.");
    return reply_copy(q, p, 200, &expired_shape,
                      &(struct expired_body){v_str(x->checkout.session_id), v_str(STR("expired")), v_bool(false)});
}

/* ---- POST /v1/billing/portal ---- */

struct customer {
    struct id account;
    struct billing_account found;
};

static enum err customer_run(struct tx *tx, void *arg)
{
    struct customer *x = arg;
    return billing_account_get(tx, &x->account, &x->found);
}

static enum err open_portal(struct request *q, struct reply *p)
{
    struct customer x = {.account = q->who.account_id};
    enum err e = work_read(&q->work, customer_run, &x);
    if (e)
        return e;
    if (!x.found.customer_id.p)
        return ERR_CUSTOMER_NOT_FOUND;
    struct billing *billing = q->parts->providers->billing;
    struct str url;
    switch (billing->ops->portal(billing, x.found.customer_id, account_page(q), q->tx.arena, &url)) {
    case OUTCOME_DONE:
        break;
    case OUTCOME_REFUSED:
        return ERR_CUSTOMER_NOT_FOUND;
    case OUTCOME_UNKNOWN:
        return ERR_INTERNAL_ERROR;
    }
    return reply_copy(q, p, 200, &portal_shape, &(struct portal_body){.url = v_str(url)});
}

static const struct route rows[] = {
    ROUTE("getCheckout", GET, "/v1/billing/checkout", .credential = CRED_KEY, .scopes = SCOPE(BILLING_WRITE),
          .limit = LIMIT_KEY, .run = RUN_READ, .handler = checkout_show, .reply = &checkout_shape, .flags = ROUTE_SITE,
          .store_error = ERR_CHECKOUT_UNAVAILABLE, .earlier = &earlier_account_rows[EARLIER_GET_CHECKOUT],
          .doc = ROUTE_DOC(
              "Billing", 200, "The latest checkout",
              .description =
                  "Use it after a timeout. `preparing`: repeat the original plan and request ID. `complete`: check the "
                  "account's subscription. A checkout whose subscription has ended is reported as `none`.")),
    ROUTE("createCheckout", POST, "/v1/billing/checkout", .credential = CRED_PARENT,
          .parent_error = ERR_PARENT_BILLING_REQUIRED, .scopes = SCOPE(BILLING_WRITE), .limit = LIMIT_KEY,
          .idempotency = NEED_REQUIRED, .receipt = checkout_receipt, .body = &checkout_input_shape,
          .body_error = ERR_INVALID_PLAN, .run = RUN_BLOCKING, .handler = checkout_create, .reply = &checkout_shape,
          .flags = ROUTE_SITE, .store_error = ERR_CHECKOUT_UNAVAILABLE,
          .earlier = &earlier_account_rows[EARLIER_CREATE_CHECKOUT],
          .doc = ROUTE_DOC(
              "Billing", 201, "Start a checkout for a subscription",
              .description =
                  "Returns the hosted page for the payment, one unit per building. An open checkout for the same plan "
                  "is returned with its own `request_id`; one for another plan is expired first. After a timeout or a "
                  "503, repeat the request with the same Idempotency-Key: nothing is bought twice.",
              .body_example = "{\"plan\": \"yearly\"}", .other_status = 200,
              .errors = ROUTE_ERRORS(ERR_ACCOUNT_NOT_FOUND, ERR_IDEMPOTENCY_CONFLICT, ERR_SUBSCRIPTION_EXISTS,
                                     ERR_CHECKOUT_EXISTS, ERR_CHECKOUT_PENDING, ERR_CHECKOUT_RECONCILIATION_REQUIRED,
                                     ERR_PLAN_UNAVAILABLE))),
    ROUTE("expireCheckout", POST, "/v1/billing/checkout/{text}/expire", .credential = CRED_KEY,
          .scopes = SCOPE(BILLING_WRITE), .limit = LIMIT_KEY, .run = RUN_BLOCKING, .handler = expire_checkout,
          .reply = &expired_shape, .flags = ROUTE_SITE, .store_error = ERR_CHECKOUT_UNAVAILABLE,
          .doc = ROUTE_DOC("Billing", 200, "Expire an unpaid checkout",
                           .description = "The path contains the checkout's `id`, which is that of the hosted session. "
                                          "Can be repeated. Does not cancel a subscription.",
                           .errors = ROUTE_ERRORS(ERR_NOT_FOUND, ERR_SUBSCRIPTION_EXISTS))),
    ROUTE("openPortal", POST, "/v1/billing/portal", .credential = CRED_PARENT,
          .parent_error = ERR_PARENT_BILLING_REQUIRED, .scopes = SCOPE(BILLING_WRITE), .limit = LIMIT_KEY,
          .run = RUN_BLOCKING, .handler = open_portal, .reply = &portal_shape, .flags = ROUTE_SITE,
          .doc = ROUTE_DOC("Billing", 200, "A link to the hosted billing portal",
                           .description = "The customer changes the payment method or cancels the subscription there.",
                           .errors = ROUTE_ERRORS(ERR_ACCOUNT_NOT_FOUND, ERR_CUSTOMER_NOT_FOUND))),
};
const struct route_set checkout_routes = ROUTE_SET(rows);
