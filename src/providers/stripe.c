/* Billing by Stripe: checkout sessions, the customer portal and subscriptions of its REST API. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"
#include "base/mem.h"
#include "providers/billing.h"
#include "providers/stripe_event.h"
#include "providers/stripe_object.h"
#include "providers/stripe_request.h"

struct stripe {
    struct billing billing;
    const struct config *config;
    struct stripe_client *client;
    struct arena arena;
    struct str webhook_secret;
};

static struct stripe *stripe_of(struct billing *b)
{
    return (struct stripe *)b;
}

/* A 2xx with a malformed body counts as UNKNOWN. */
static enum outcome check_body(const char *call, bool fine)
{
    if (!fine)
        log_warn("stripe failed call=%s outcome=unknown reason=malformed", call);
    return fine ? OUTCOME_DONE : OUTCOME_UNKNOWN;
}

static bool is_missing(const struct stripe_answer *answer)
{
    return str_eq(answer->code, STR("resource_missing"));
}

static enum outcome get_object(struct stripe *s, const char *call, const char *collection, struct str id,
                               struct arena *a, struct stripe_answer *answer)
{
    *answer = (struct stripe_answer){0};
    if (!stripe_is_id(id))
        return OUTCOME_REFUSED;
    struct stripe_request r = {
        .call = call, .method = "GET", .path = arena_printf(a, "/v1/%s/%.*s", collection, STR_ARG(id))};
    return stripe_call(s->client, &r, a, answer);
}

/* ---- prices ---- */

/* Completes *price. A price that Stripe does not have stays without an amount. */
static enum outcome add_price(struct stripe *s, const struct config_plan *plan, struct arena *a,
                              struct billing_price *price)
{
    struct stripe_answer answer;
    enum outcome o = get_object(s, "prices", "prices", str_z(plan->stripe_price), a, &answer);
    if (o == OUTCOME_REFUSED)
        return OUTCOME_DONE;
    if (o == OUTCOME_DONE)
        o = check_body("prices", stripe_read_price(answer.body, a, price));
    json_decref(answer.body);
    price->available = price->available && plan->available;
    return o;
}

static enum outcome stripe_prices(struct billing *b, struct arena *a, struct billing_prices *ret)
{
    struct stripe *s = stripe_of(b);
    struct billing_prices prices = {0};
    for (size_t i = 0; i < CONFIG_PLANS; i++) {
        const struct config_plan *plan = &s->config->plans[i];
        struct billing_price *price = &prices.items[prices.count++];
        *price = (struct billing_price){.plan = str_z(plan->id), .amount_minor = -1};
        enum outcome o = *plan->stripe_price ? add_price(s, plan, a, price) : OUTCOME_DONE;
        if (o != OUTCOME_DONE)
            return o;
    }
    *ret = prices;
    return OUTCOME_DONE;
}

/* ---- checkout sessions ---- */

static const char *price_id_of(const struct stripe *s, struct str plan)
{
    for (size_t i = 0; i < CONFIG_PLANS; i++)
        if (str_eq(plan, str_z(s->config->plans[i].id)))
            return s->config->plans[i].stripe_price;
    return "";
}

static struct stripe_request session_request(const struct billing_session_request *request, struct str price,
                                             struct arena *a)
{
    struct stripe_request r = {
        .call = "session_create", .method = "POST", .path = STR("/v1/checkout/sessions"), .key = request->key};
    stripe_field(&r, "mode", STR("subscription"));
    stripe_field(&r, "line_items[0][price]", price);
    stripe_field_int(&r, "line_items[0][quantity]", request->quantity, a);
    stripe_field(&r, "client_reference_id", request->account_id);
    stripe_field(&r, "subscription_data[metadata][account_id]", request->account_id);
    stripe_field(&r, "subscription_data[metadata][plan]", request->plan);
    stripe_field(&r, "success_url", request->success_url);
    stripe_field(&r, "cancel_url", request->cancel_url);
    if (request->customer_id.p)
        stripe_field(&r, "customer", request->customer_id);
    else
        stripe_field(&r, "customer_email", request->email);
    return r;
}

static enum outcome read_session_answer(const char *call, enum outcome o, struct stripe_answer *answer, struct arena *a,
                                        struct billing_session *ret)
{
    if (o == OUTCOME_DONE)
        o = check_body(call, stripe_read_session(answer->body, a, ret));
    json_decref(answer->body);
    return o;
}

/* A customer that was deleted at Stripe is replaced by a new one. That call has another key. */
static enum outcome stripe_session_create(struct billing *b, const struct billing_session_request *request,
                                          struct arena *a, struct billing_session *ret)
{
    struct stripe *s = stripe_of(b);
    struct stripe_answer answer;
    struct str price = str_z(price_id_of(s, request->plan));
    if (!price.n)
        return OUTCOME_REFUSED;
    struct stripe_request r = session_request(request, price, a);
    enum outcome o = stripe_call(s->client, &r, a, &answer);
    if (o == OUTCOME_REFUSED && is_missing(&answer) && request->customer_id.p) {
        struct billing_session_request retry = *request;
        retry.customer_id = STR_NONE;
        retry.key = arena_printf(a, "%.*s-anew", STR_ARG(request->key));
        return stripe_session_create(b, &retry, a, ret);
    }
    return read_session_answer("session_create", o, &answer, a, ret);
}

static enum outcome stripe_session_get(struct billing *b, struct str id, struct arena *a, struct billing_session *ret)
{
    struct stripe_answer answer;
    enum outcome o = get_object(stripe_of(b), "session_get", "checkout/sessions", id, a, &answer);
    return read_session_answer("session_get", o, &answer, a, ret);
}

/* Stripe refuses to expire a session that is not open. The session is then read. */
static enum outcome stripe_session_expire(struct billing *b, struct str id, struct arena *a,
                                          struct billing_session *ret)
{
    struct stripe_answer answer;
    if (!stripe_is_id(id))
        return OUTCOME_REFUSED;
    struct stripe_request r = {.call = "session_expire",
                               .method = "POST",
                               .path = arena_printf(a, "/v1/checkout/sessions/%.*s/expire", STR_ARG(id))};
    enum outcome o = stripe_call(stripe_of(b)->client, &r, a, &answer);
    if (o == OUTCOME_REFUSED && !is_missing(&answer))
        return stripe_session_get(b, id, a, ret);
    return read_session_answer("session_expire", o, &answer, a, ret);
}

/* ---- the portal ---- */

/* A refusal means an unknown customer. Any other one is a fault of our account, such as a portal that is not set up. */
static enum outcome stripe_portal(struct billing *b, struct str customer_id, struct str return_url, struct arena *a,
                                  struct str *ret_url)
{
    struct stripe_answer answer;
    struct stripe_request r = {.call = "portal", .method = "POST", .path = STR("/v1/billing_portal/sessions")};
    stripe_field(&r, "customer", customer_id);
    stripe_field(&r, "return_url", return_url);
    enum outcome o = stripe_call(stripe_of(b)->client, &r, a, &answer);
    if (o == OUTCOME_REFUSED)
        return is_missing(&answer) ? OUTCOME_REFUSED : OUTCOME_UNKNOWN;
    struct str url = arena_str(a, rest_text(answer.body, "url"));
    json_decref(answer.body);
    if (o == OUTCOME_DONE)
        o = check_body("portal", stripe_is_page(url));
    if (o == OUTCOME_DONE)
        *ret_url = url;
    return o;
}

/* Stripe cancels the customer's subscriptions with it, and keeps its invoices. */
static enum outcome stripe_customer_delete(struct billing *b, struct str customer_id, struct arena *a)
{
    struct stripe_answer answer;
    if (!stripe_is_id(customer_id))
        return OUTCOME_REFUSED;
    struct stripe_request r = {.call = "customer_delete",
                               .method = "DELETE",
                               .path = arena_printf(a, "/v1/customers/%.*s", STR_ARG(customer_id))};
    enum outcome o = stripe_call(stripe_of(b)->client, &r, a, &answer);
    if (o == OUTCOME_DONE)
        o = check_body("customer_delete", str_eq(rest_text(answer.body, "id"), customer_id) &&
                                              json_is_true(json_object_get(answer.body, "deleted")));
    json_decref(answer.body);
    return o == OUTCOME_REFUSED && !is_missing(&answer) ? OUTCOME_UNKNOWN : o;
}

/* ---- subscriptions ---- */

static enum outcome read_stripe_subscription(struct stripe *s, struct str id, struct arena *a,
                                             struct billing_subscription *ret, struct str *ret_item)
{
    struct stripe_answer answer;
    enum outcome o = get_object(s, "subscription_get", "subscriptions", id, a, &answer);
    if (o == OUTCOME_DONE)
        o = check_body("subscription_get", stripe_read_subscription(s->config, answer.body, a, ret, ret_item));
    json_decref(answer.body);
    return o;
}

static enum outcome stripe_subscription_get(struct billing *b, struct str id, struct arena *a,
                                            struct billing_subscription *ret)
{
    struct str item;
    return read_stripe_subscription(stripe_of(b), id, a, ret, &item);
}

/* The upcoming invoice includes the prorations. Its sum is the amount of the next payment. */
static enum outcome stripe_preview(struct billing *b, struct str subscription_id, int64_t quantity, int64_t proration_s,
                                   struct arena *a, struct billing_preview *ret)
{
    struct stripe *s = stripe_of(b);
    struct billing_subscription now;
    struct stripe_answer answer;
    struct str item;
    enum outcome o = read_stripe_subscription(s, subscription_id, a, &now, &item);
    if (o != OUTCOME_DONE)
        return o;
    struct stripe_request r = {.call = "preview", .method = "POST", .path = STR("/v1/invoices/create_preview")};
    stripe_field(&r, "subscription", subscription_id);
    stripe_field(&r, "subscription_details[items][0][id]", item);
    stripe_field_int(&r, "subscription_details[items][0][quantity]", quantity, a);
    stripe_field(&r, "subscription_details[proration_behavior]", STR("create_prorations"));
    stripe_field_int(&r, "subscription_details[proration_date]", proration_s, a);
    o = stripe_call(s->client, &r, a, &answer);
    if (o == OUTCOME_DONE)
        o = check_body("preview", stripe_read_preview(answer.body, a, ret));
    json_decref(answer.body);
    return o;
}

/* The proration (from now if proration_s is 0) is invoiced and paid at once. A failed payment undoes the change
 * (error_if_incomplete). */
static enum outcome put_quantity(struct stripe *s, struct str key, struct str item, int64_t quantity,
                                 int64_t proration_s, struct arena *a, struct stripe_answer *ret)
{
    struct stripe_request r = {.call = "set_quantity",
                               .method = "POST",
                               .path = arena_printf(a, "/v1/subscription_items/%.*s", STR_ARG(item)),
                               .key = key};
    stripe_field_int(&r, "quantity", quantity, a);
    stripe_field(&r, "proration_behavior", STR("always_invoice"));
    if (proration_s)
        stripe_field_int(&r, "proration_date", proration_s, a);
    stripe_field(&r, "payment_behavior", STR("error_if_incomplete"));
    enum outcome o = stripe_call(s->client, &r, a, ret);
    json_decref(ret->body);
    return o;
}

/* Stripe accepts no proration date before the current period. A call that comes too late for its date, for example
 * after a decision of support, is repeated with a proration from now. That call has another key. */
static enum outcome stripe_set_quantity(struct billing *b, struct str key, struct str subscription_id, int64_t quantity,
                                        int64_t proration_s, struct arena *a)
{
    struct stripe *s = stripe_of(b);
    struct billing_subscription now;
    struct stripe_answer answer;
    struct str item;
    enum outcome o = read_stripe_subscription(s, subscription_id, a, &now, &item);
    if (o != OUTCOME_DONE)
        return o;
    o = put_quantity(s, key, item, quantity, proration_s, a, &answer);
    if (o == OUTCOME_REFUSED && !str_eq(answer.type, STR("card_error")))
        o = put_quantity(s, arena_printf(a, "%.*s-now", STR_ARG(key)), item, quantity, 0, a, &answer);
    return o;
}

/* ---- events ---- */

static bool stripe_event(struct billing *b, struct str signature, struct str body, struct arena *a,
                         struct billing_event *ret)
{
    struct str secret = stripe_of(b)->webhook_secret;
    return stripe_signed(signature, body, secret, clock_real_us() / US_PER_S, a) && stripe_read_event(body, a, ret);
}

/* ---- life ---- */

static void stripe_free(struct billing *b)
{
    struct stripe *s = stripe_of(b);
    stripe_client_free(s->client);
    crypto_wipe((void *)s->webhook_secret.p, s->webhook_secret.n);
    arena_done(&s->arena);
    free(s);
}

static const struct billing_ops stripe_ops = {
    .prices = stripe_prices,
    .session_create = stripe_session_create,
    .session_get = stripe_session_get,
    .session_expire = stripe_session_expire,
    .portal = stripe_portal,
    .customer_delete = stripe_customer_delete,
    .subscription_get = stripe_subscription_get,
    .preview = stripe_preview,
    .set_quantity = stripe_set_quantity,
    .event = stripe_event,
    .free = stripe_free,
};

static enum err read_stripe_secrets(struct stripe *s, const struct config *c, char **ret_why)
{
    enum err e =
        config_secret_of("stripe.webhook_secret", c->stripe_webhook_secret, &s->arena, &s->webhook_secret, ret_why);
    if (e)
        return e;
    if (!s->webhook_secret.n)
        return err_why(ret_why, ERR_USAGE, "stripe.webhook_secret is empty");
    for (size_t i = 0; i < CONFIG_PLANS; i++)
        if (*c->plans[i].stripe_price && !stripe_is_id(str_z(c->plans[i].stripe_price)))
            return err_why(ret_why, ERR_USAGE,
                           "billing.plan: a stripe_price must be the ID of a price, like price_1AbC");
    return ERR_NONE;
}

enum err stripe_billing_new(const struct config *c, struct billing **ret, char **ret_why)
{
    struct stripe *s = mem_new(struct stripe);
    s->billing.ops = &stripe_ops;
    s->config = c;
    arena_init(&s->arena, NULL, 0);
    enum err e = read_stripe_secrets(s, c, ret_why);
    if (!e)
        e = stripe_client_new(c, &s->client, ret_why);
    if (e) {
        stripe_free(&s->billing);
        return e;
    }
    *ret = &s->billing;
    return ERR_NONE;
}
