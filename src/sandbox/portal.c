#include "sandbox/routes.h"

#include "domain/work.h"
#include "providers/builtin_billing.h"
#include "sandbox/hosted.h"

struct portal_body {
    struct val customer_id, subscription_id, status;
};
static const char *const statuses[] = {"active", "past_due", "canceled", NULL};
static const struct field portal_fields[] = {
    FIELD(struct portal_body, customer_id, T_STRING, .flags = F_REQUIRED),
    FIELD(struct portal_body, subscription_id, T_STRING, .flags = F_REQUIRED),
    FIELD(struct portal_body, status, T_STRING, .flags = F_REQUIRED, .values = statuses),
};
static const struct shape portal_shape = SHAPE(struct portal_body, "SandboxPortal", portal_fields);

static const char *portal_status_text(enum billing_status status)
{
    static const char *const texts[] = {
        [BILLING_ACTIVE] = "active", [BILLING_PAST_DUE] = "past_due", [BILLING_CANCELED] = "canceled"};
    return texts[status];
}

/* ---- the page ---- */

static void put_subscription(struct request *q, struct buf *page, const struct billing_subscription *s)
{
    const struct config_plan *plan = plan_find(q->tx.config, s->plan);
    struct arena *a = q->tx.arena;
    buf_lit(page, "<dl class=\"facts\">\n");
    hosted_fact(page, "Plan", s->plan);
    hosted_fact(page, "Status", s->status == BILLING_PAST_DUE ? STR("past due") : str_z(portal_status_text(s->status)));
    if (plan && s->status != BILLING_CANCELED) {
        hosted_terms(page, a, plan, s->quantity);
        hosted_fact(page, "Total", hosted_price(a, plan->amount_minor * s->quantity, plan->currency));
    }
    buf_lit(page, "</dl>\n");
}

static void put_cancel(struct buf *page, const struct billing_subscription *s)
{
    if (s->status == BILLING_CANCELED) {
        buf_lit(page,
                "<p class=\"note\" role=\"status\">This subscription has ended. Its virtual numbers are kept for 30 "
                "days.</p>\n");
        return;
    }
    buf_printf(page,
               "<form method=\"post\" action=\"/sandbox/portal/%.*s/cancel\"><button class=\"danger\">"
               "Cancel the subscription</button></form>\n",
               STR_ARG(s->customer_id));
}

static enum err get_portal_page(struct request *q, struct reply *p)
{
    struct billing_subscription s;
    struct str email;
    enum err e = builtin_customer_get(q->tx.db, q->path_text, q->tx.arena, &email);
    if (!e)
        e = builtin_subscription_of(q->tx.db, q->path_text, q->tx.arena, &s);
    if (e)
        return e;
    struct buf page = BUF(HOSTED_PAGE_MAX);
    hosted_begin(&page, "Billing portal", email.p);
    buf_lit(&page,
            "<section class=\"card\" aria-labelledby=\"subscription\">\n<h2 id=\"subscription\">Subscription</h2>\n");
    put_subscription(q, &page, &s);
    put_cancel(&page, &s);
    buf_lit(&page, "</section>\n<p><a href=\"/account\">Back to the account</a></p>\n");
    hosted_end(&page);
    return hosted_reply(q, p, &page);
}

/* ---- the button ---- */

struct ending {
    struct str customer_id;
    struct billing_subscription subscription;
};

static enum err end_run(struct tx *tx, void *arg)
{
    struct ending *x = arg;
    enum err e = builtin_subscription_of(tx->db, x->customer_id, tx->arena, &x->subscription);
    x->subscription.status = BILLING_CANCELED;
    return e ? e : builtin_subscription_put(tx->db, &x->subscription);
}

static enum err cancel_subscription(struct request *q, struct reply *p)
{
    struct ending x = {.customer_id = q->path_text};
    enum err e = work_write(&q->work, end_run, &x);
    if (!e)
        e = hosted_event(q, BILLING_OBJECT_SUBSCRIPTION, x.subscription.id);
    if (e)
        return e;
    struct portal_body *r = arena_new(q->tx.arena, struct portal_body);
    *r = (struct portal_body){v_str(x.subscription.customer_id), v_str(x.subscription.id),
                              v_str(str_z(portal_status_text(BILLING_CANCELED)))};
    return hosted_answer(q, p, &portal_shape, r,
                         arena_printf(q->tx.arena, "/sandbox/portal/%.*s", STR_ARG(x.subscription.customer_id)));
}

static const struct route rows[] = {
    ROUTE("getSandboxPortal", GET, "/sandbox/portal/{text}", .credential = CRED_LOOPBACK, .run = RUN_READ,
          .handler = get_portal_page, .media = "text/html; charset=utf-8", .flags = ROUTE_PAGE,
          .doc = ROUTE_DOC("Sandbox", 200, "The hosted billing portal page")),
    ROUTE(
        "cancelSandboxSubscription", POST, "/sandbox/portal/{text}/cancel", .credential = CRED_LOOPBACK,
        .run = RUN_BLOCKING, .handler = cancel_subscription, .reply = &portal_shape,
        .doc = ROUTE_DOC(
            "Sandbox", 200, "Cancel a customer's subscription, like the portal's button",
            .description =
                "Replies when the account has no subscription any more. A browser (`Accept: text/html`) is redirected.",
            .other_status = 303, .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
};
const struct route_set sandbox_portal_routes = ROUTE_SET(rows);
