#include "resources/checkout_reply.h"

#include "api/route.h"
#include "billing/plan.h"

struct checkout_body {
    struct val status, payment_required, next_action;
    struct val id, request_id, plan, url, message;
};

static const char *const statuses[] = {"none", "preparing", "open", "complete", "expired", "failed", NULL};
static const char *const plan_ids[] = {"weekly", "yearly", NULL};

#define CHECKOUT_FIELD(member, type, ...) FIELD(struct checkout_body, member, type, __VA_ARGS__)
static const struct field fields[] = {
    CHECKOUT_FIELD(status, T_STRING, .flags = F_REQUIRED, .values = statuses,
                   .doc = "none: no checkout exists, and the members below are absent"),
    CHECKOUT_FIELD(payment_required, T_BOOL, .flags = F_REQUIRED, .doc = "true if the payment at url is due"),
    CHECKOUT_FIELD(next_action, T_STRING, .flags = F_REQUIRED),
    CHECKOUT_FIELD(id, T_STRING, .flags = F_NULLABLE,
                   .doc = "ID of the hosted checkout session; null until the billing provider has responded"),
    CHECKOUT_FIELD(request_id, T_STRING, .doc = "the Idempotency-Key that created it"),
    CHECKOUT_FIELD(plan, T_STRING, .values = plan_ids),
    CHECKOUT_FIELD(url, T_STRING, .flags = F_NULLABLE, .format = "uri",
                   .doc = "page for the payment while the checkout is open"),
    CHECKOUT_FIELD(message, T_STRING),
};
const struct shape checkout_shape = SHAPE(struct checkout_body, "Checkout", fields);

static const struct {
    const char *message, *next_action;
} texts[CHECKOUT_STATUS_COUNT] = {
    [CHECKOUT_PREPARING] = {"The billing provider has not responded yet.",
                            "Repeat POST /v1/billing/checkout with this plan and this request_id as Idempotency-Key."},
    [CHECKOUT_OPEN] = {"The checkout is waiting for payment.", "Open url in a browser and pay there."},
    [CHECKOUT_COMPLETE] = {"The checkout was paid.", "Check account.subscription.status and the building's setup."},
    [CHECKOUT_EXPIRED] = {"The checkout ended without a payment.",
                          "Start again with POST /v1/billing/checkout and a new Idempotency-Key."},
    [CHECKOUT_FAILED] = {"The billing provider refused the checkout; nothing was bought.",
                         "Try again with POST /v1/billing/checkout and a new Idempotency-Key."},
};
#define NEXT_OVERDUE "Contact support with this request_id; do not buy again."
#define NEXT_WITHOUT "Start a checkout with POST /v1/billing/checkout."

static struct val checkout_next_action(const struct checkout *c, int64_t now_us)
{
    return v_str(str_z(checkout_overdue(c, now_us) ? NEXT_OVERDUE : texts[c->status].next_action));
}

enum err checkout_reply(struct request *q, struct reply *p, int status, const struct checkout *c)
{
    struct checkout_body *r = arena_new(q->tx.arena, struct checkout_body);
    *r = (struct checkout_body){
        .status = v_str(STR("none")), .payment_required = v_bool(false), .next_action = v_str(STR(NEXT_WITHOUT))};
    if (c && !c->canceled)
        *r = (struct checkout_body){
            .status = v_str(str_z(checkout_status_text(c->status))),
            .payment_required = v_bool(c->status == CHECKOUT_OPEN || c->status == CHECKOUT_PREPARING),
            .next_action = checkout_next_action(c, q->tx.now_us),
            .id = v_str(c->session_id),
            .request_id = v_str(c->request_id),
            .plan = v_str(plan_name_of(q->route->handler_data, c->plan)),
            .url = c->status == CHECKOUT_OPEN ? v_str(c->url) : v_null(),
            .message = v_str(str_z(texts[c->status].message)),
        };
    return reply_ok(p, status, &checkout_shape, r);
}
