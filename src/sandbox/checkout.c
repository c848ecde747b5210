#include "sandbox/routes.h"

#include "domain/work.h"
#include "providers/builtin_billing.h"
#include "sandbox/hosted.h"

struct session_body {
    struct val id, status, return_url;
};
static const char *const statuses[] = {"open", "complete", "expired", NULL};
static const struct field session_fields[] = {
    FIELD(struct session_body, id, T_STRING, .flags = F_REQUIRED, .doc = "ID of the checkout session"),
    FIELD(struct session_body, status, T_STRING, .flags = F_REQUIRED, .values = statuses),
    FIELD(struct session_body, return_url, T_STRING, .flags = F_REQUIRED, .format = "uri",
          .doc = "page to which a browser is redirected"),
};
static const struct shape session_shape = SHAPE(struct session_body, "SandboxCheckout", session_fields);

static const char *session_status_text(enum billing_session_status status)
{
    static const char *const texts[] = {[BILLING_SESSION_OPEN] = "open",
                                        [BILLING_SESSION_COMPLETE] = "complete",
                                        [BILLING_SESSION_EXPIRED] = "expired"};
    return texts[status];
}

/* ---- the page ---- */

static void put_order(struct request *q, struct buf *page, const struct builtin_session *s)
{
    const struct config_plan *plan = plan_find(q->tx.config, s->plan);
    struct arena *a = q->tx.arena;
    buf_lit(page, "<dl class=\"facts\">\n");
    hosted_fact(page, "Account", s->email);
    hosted_fact(page, "Plan", s->plan);
    hosted_terms(page, a, plan, s->quantity);
    buf_lit(page, "</dl>\n");
    if (plan) {
        buf_lit(page, "<p>Due today: <span class=\"figure\">");
        buf_html(page, hosted_price(a, plan->amount_minor * s->quantity, plan->currency));
        buf_lit(page, "</span></p>\n");
    }
}

/* IDs contain only letters, digits and underscores, so they need no escaping. */
static void put_state(struct buf *page, const struct builtin_session *s)
{
    switch (s->session.status) {
    case BILLING_SESSION_OPEN:
        buf_printf(page,
                   "<form class=\"actions\" method=\"post\" action=\"/sandbox/checkout/%.*s/pay\">\n"
                   "<button class=\"primary\">Pay</button>\n"
                   "<button formaction=\"/sandbox/checkout/%.*s/cancel\">Cancel</button>\n</form>\n",
                   STR_ARG(s->session.id), STR_ARG(s->session.id));
        break;
    case BILLING_SESSION_COMPLETE:
        buf_lit(page, "<p class=\"note good\" role=\"status\">This checkout was paid.</p>\n");
        break;
    case BILLING_SESSION_EXPIRED:
        buf_lit(page, "<p class=\"note bad\" role=\"status\">This checkout has expired. Start a new one.</p>\n");
        break;
    }
}

static enum err get_checkout_page(struct request *q, struct reply *p)
{
    struct builtin_session s;
    enum err e = builtin_session_get(q->tx.db, q->path_text, q->tx.now_us, q->tx.arena, &s);
    if (e)
        return e;
    struct buf page = BUF(HOSTED_PAGE_MAX);
    hosted_begin(&page, "Checkout", "A subscription to Portero: one unit for each building.");
    buf_lit(&page, "<section class=\"card\" aria-label=\"Order\">\n");
    put_order(q, &page, &s);
    put_state(&page, &s);
    buf_lit(&page, "</section>\n");
    hosted_end(&page);
    return hosted_reply(q, p, &page);
}

/* ---- the buttons ---- */

struct press {
    struct str id;
    bool pays;
    struct builtin_session session;
};

static enum err press_run(struct tx *tx, void *arg)
{
    struct press *b = arg;
    return b->pays ? builtin_session_pay(tx->db, b->id, tx->now_us, tx->arena, &b->session)
                   : builtin_session_get(tx->db, b->id, tx->now_us, tx->arena, &b->session);
}

static enum err press_button(struct request *q, bool pays, struct builtin_session *ret)
{
    struct press b = {.id = q->path_text, .pays = pays};
    enum err e = work_run(&q->work, pays ? STORE_WRITE : STORE_READ, press_run, &b);
    if (!e)
        *ret = b.session;
    return e;
}

static enum err checkout_answer(struct request *q, struct reply *p, const struct builtin_session *s, struct str url)
{
    struct session_body *r = arena_new(q->tx.arena, struct session_body);
    *r = (struct session_body){v_str(s->session.id), v_str(str_z(session_status_text(s->session.status))), v_str(url)};
    return hosted_answer(q, p, &session_shape, r, url);
}

/* An expired checkout cannot be paid. The reply then leads back to its page, which shows this. */
static enum err pay_checkout(struct request *q, struct reply *p)
{
    struct builtin_session s;
    enum err e = press_button(q, true, &s);
    bool paid = !e && s.session.status == BILLING_SESSION_COMPLETE;
    if (paid)
        e = hosted_event(q, BILLING_OBJECT_SESSION, s.session.id);
    return e ? e : checkout_answer(q, p, &s, paid ? s.success_url : s.url);
}

/* The checkout stays open, so that the customer can return to it. */
static enum err cancel_checkout(struct request *q, struct reply *p)
{
    struct builtin_session s;
    enum err e = press_button(q, false, &s);
    return e ? e : checkout_answer(q, p, &s, s.cancel_url);
}

static const struct route rows[] = {
    ROUTE("getSandboxCheckout", GET, "/sandbox/checkout/{text}", .credential = CRED_LOOPBACK, .run = RUN_READ,
          .handler = get_checkout_page, .media = "text/html; charset=utf-8", .flags = ROUTE_PAGE,
          .doc = ROUTE_DOC("Sandbox", 200, "The hosted checkout page")),
    ROUTE("paySandboxCheckout", POST, "/sandbox/checkout/{text}/pay", .credential = CRED_LOOPBACK, .run = RUN_BLOCKING,
          .handler = pay_checkout, .reply = &session_shape,
          .doc = ROUTE_DOC("Sandbox", 200, "Pay a checkout, like the button on its page",
                           .description =
                               "Replies when the subscription is active and the numbers are provisioned. A paid or "
                               "expired checkout stays unchanged. A browser (`Accept: text/html`) is redirected.",
                           .other_status = 303, .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
    ROUTE("cancelSandboxCheckout", POST, "/sandbox/checkout/{text}/cancel", .credential = CRED_LOOPBACK,
          .run = RUN_BLOCKING, .handler = cancel_checkout, .reply = &session_shape,
          .doc = ROUTE_DOC("Sandbox", 200, "Leave a checkout, like the button on its page",
                           .description = "The checkout stays open. A browser (`Accept: text/html`) is redirected.",
                           .other_status = 303, .errors = ROUTE_ERRORS(ERR_NOT_FOUND))),
};
const struct route_set sandbox_checkout_routes = ROUTE_SET(rows);
