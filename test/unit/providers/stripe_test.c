/* Billing by Stripe, against a receiver of the test's own that answers as told, on loopback. What Stripe's own SDK
 * makes of the requests is the business of test/e2e/stripe.test.js. */
#include "http/receiver.h"

#include "providers/billing.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define SCRIPTS_MAX  4
#define OK           "200 OK"

#define SESSION(status, more) "{\"id\":\"cs_test_1\",\"object\":\"checkout.session\",\"status\":\"" status "\"" more "}"
#define OPEN_SESSION          SESSION("open", ",\"url\":\"https://checkout.stripe.com/c/pay/cs_test_1#fid\",\"customer\":null")
#define PRICE(id, more)                                                                                                \
    "{\"id\":\"" id "\",\"object\":\"price\",\"active\":true,\"currency\":\"usd\",\"unit_amount\":499,"                \
    "\"recurring\":{\"interval\":\"week\",\"interval_count\":1}" more "}"
#define ITEM(id, price, quantity)                                                                                      \
    "{\"id\":\"" id "\",\"object\":\"subscription_item\",\"price\":" price ",\"quantity\":" quantity "}"
#define SUBSCRIPTION(status, metadata, items)                                                                          \
    "{\"id\":\"sub_1\",\"object\":\"subscription\",\"status\":\"" status "\",\"customer\":\"cus_1\","                  \
    "\"metadata\":" metadata ",\"items\":{\"object\":\"list\",\"data\":[" items "]}}"
#define WEEKLY              SUBSCRIPTION("active", "{\"account_id\":\"a1\"}", ITEM("si_1", PRICE("price_weekly", ""), "3"))
#define FAILURE(type, code) "{\"error\":{\"type\":\"" type "\",\"code\":\"" code "\",\"message\":\"No.\"}}"

struct script {
    const char *status, *body;
    const char *type; /* NULL: application/json */
};

struct desk {
    struct receiver *receiver;
    struct config config;
    struct billing *billing;
    struct arena arena;
    struct script scripts[SCRIPTS_MAX]; /* one a request; the last one goes on */
    char heard[SCRIPTS_MAX][RECEIVED_MAX + 1];
    size_t count;
    char *why;
};

static bool answer(struct received *q, void *context)
{
    struct desk *d = context;
    char text[16384];
    size_t i = d->count < SCRIPTS_MAX ? d->count++ : SCRIPTS_MAX - 1;
    while (i > 0 && !d->scripts[i].status)
        i--;
    const struct script *s = &d->scripts[i];
    memcpy(d->heard[d->count - 1], q->text, q->n + 1);
    if (!s->status) {
        received_hang(q);
        return false;
    }
    int n = snprintf(text, sizeof text, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n%s", s->status,
                     s->type ? s->type : "application/json", strlen(s->body), s->body);
    return received_say(q, str_n(text, (size_t)n));
}

static int open_desk(void **state)
{
    struct desk *d = calloc(1, sizeof *d);
    assert_non_null(d);
    arena_init(&d->arena, NULL, 0);
    d->receiver = receiver_open(false, answer, d);
    d->config.stripe_url = d->receiver->url;
    d->config.stripe_secret_key = "sk_test_1";
    d->config.stripe_webhook_secret = "whsec_portero";
    d->config.stripe_timeout_s = 30;
    d->config.plans[0] = (struct config_plan){.id = "weekly", .available = true, .stripe_price = "price_weekly"};
    d->config.plans[1] = (struct config_plan){.id = "yearly", .available = true, .stripe_price = "price_yearly"};
    assert_int_equal(stripe_billing_new(&d->config, &d->billing, &d->why), ERR_NONE);
    *state = d;
    return 0;
}

static int close_desk(void **state)
{
    struct desk *d = *state;
    billing_free(d->billing);
    receiver_close(d->receiver);
    arena_done(&d->arena);
    free(d->why);
    free(d);
    return 0;
}

static void script(struct desk *d, const char *status, const char *body)
{
    size_t i = 0;
    while (d->scripts[i].status)
        i++;
    d->scripts[i] = (struct script){.status = status, .body = body};
}

static void script_anew(struct desk *d, const char *status, const char *body)
{
    memset(d->scripts, 0, sizeof d->scripts);
    memset(d->heard, 0, sizeof d->heard);
    d->count = 0;
    script(d, status, body);
}

static void heard(const struct desk *d, size_t i, const char *text)
{
    if (!strstr(d->heard[i], text))
        fail_msg("request %zu has no %s:\n%s", i, text, d->heard[i]);
}

static void not_heard(const struct desk *d, size_t i, const char *text)
{
    if (strstr(d->heard[i], text))
        fail_msg("request %zu has %s:\n%s", i, text, d->heard[i]);
}

static void assert_text(struct str got, const char *want)
{
    if (!str_eq(got, str_z(want)) || !got.p != !want)
        fail_msg("got %.*s, want %s", STR_ARG(got), want ? want : "nothing");
}

/* ---- checkout sessions ---- */

static enum outcome create(struct desk *d, struct str customer, struct billing_session *ret)
{
    const struct billing_session_request request = {
        .key = STR("checkout-1"),
        .account_id = STR("a1"),
        .email = STR("ada+door@example.com"),
        .customer_id = customer,
        .plan = STR("weekly"),
        .quantity = 2,
        .success_url = STR("https://door.example/account?checkout=success"),
        .cancel_url = STR("https://door.example/account?checkout=cancel"),
    };
    return d->billing->ops->session_create(d->billing, &request, &d->arena, ret);
}

static void test_a_session_is_asked_for_with_all_that_belongs_to_it(void **state)
{
    struct desk *d = *state;
    struct billing_session s;
    script(d, OK, OPEN_SESSION);
    assert_int_equal(create(d, STR_NONE, &s), OUTCOME_DONE);
    heard(d, 0, "POST /v1/checkout/sessions HTTP/1.1\r\n");
    heard(d, 0, "\r\nAuthorization: Bearer sk_test_1\r\n");
    heard(d, 0, "\r\nStripe-Version: 2026-08-26.dahlia\r\n");
    heard(d, 0, "\r\nContent-Type: application/x-www-form-urlencoded\r\n");
    heard(d, 0, "\r\nIdempotency-Key: checkout-1\r\n");
    heard(d, 0,
          "\r\n\r\nmode=subscription&line_items[0][price]=price_weekly&line_items[0][quantity]=2&client_reference_id=a1"
          "&subscription_data[metadata][account_id]=a1&subscription_data[metadata][plan]=weekly"
          "&success_url=https%3A%2F%2Fdoor.example%2Faccount%3Fcheckout%3Dsuccess"
          "&cancel_url=https%3A%2F%2Fdoor.example%2Faccount%3Fcheckout%3Dcancel"
          "&customer_email=ada%2Bdoor%40example.com");
    assert_text(s.id, "cs_test_1");
    assert_text(s.url, "https://checkout.stripe.com/c/pay/cs_test_1#fid");
    assert_int_equal(s.status, BILLING_SESSION_OPEN);
}

static void test_a_known_customer_buys_again_as_such(void **state)
{
    struct desk *d = *state;
    struct billing_session s;
    script(d, OK, OPEN_SESSION);
    assert_int_equal(create(d, STR("cus_1"), &s), OUTCOME_DONE);
    heard(d, 0, "&customer=cus_1");
    not_heard(d, 0, "customer_email");
}

static void test_a_customer_deleted_at_stripe_buys_as_a_new_one(void **state)
{
    struct desk *d = *state;
    struct billing_session s;
    script(d, "400 Bad Request", FAILURE("invalid_request_error", "resource_missing"));
    script(d, OK, OPEN_SESSION);
    assert_int_equal(create(d, STR("cus_1"), &s), OUTCOME_DONE);
    heard(d, 1, "\r\nIdempotency-Key: checkout-1-anew\r\n");
    heard(d, 1, "&customer_email=ada%2Bdoor%40example.com");
    not_heard(d, 1, "customer=cus_1");
    script_anew(d, "400 Bad Request", FAILURE("invalid_request_error", "resource_missing"));
    assert_int_equal(create(d, STR("cus_1"), &s), OUTCOME_REFUSED);
    assert_int_equal(d->count, 2);
}

static void test_a_plan_without_a_price_is_refused_unasked(void **state)
{
    struct desk *d = *state;
    struct billing_session s;
    d->config.plans[0].stripe_price = "";
    assert_int_equal(create(d, STR_NONE, &s), OUTCOME_REFUSED);
    assert_int_equal(d->count, 0);
}

static void test_a_session_is_what_it_has_become(void **state)
{
    struct desk *d = *state;
    struct billing_session s;
    script(d, OK,
           SESSION("complete", ",\"url\":null,\"customer\":\"cus_1\",\"subscription\":{\"id\":\"sub_1\"},"
                               "\"client_reference_id\":\"a1\""));
    script(d, OK, SESSION("expired", ",\"url\":null"));
    assert_int_equal(d->billing->ops->session_get(d->billing, STR("cs_test_1"), &d->arena, &s), OUTCOME_DONE);
    heard(d, 0, "GET /v1/checkout/sessions/cs_test_1 HTTP/1.1\r\n");
    not_heard(d, 0, "Idempotency-Key");
    assert_int_equal(s.status, BILLING_SESSION_COMPLETE);
    assert_text(s.url, NULL);
    assert_text(s.customer_id, "cus_1");
    assert_text(s.subscription_id, "sub_1");
    assert_text(s.account_id, "a1");
    assert_int_equal(d->billing->ops->session_get(d->billing, STR("cs_test_1"), &d->arena, &s), OUTCOME_DONE);
    assert_int_equal(s.status, BILLING_SESSION_EXPIRED);
}

static void test_a_malformed_session_is_unknown(void **state)
{
    struct desk *d = *state;
    static const char *const bodies[] = {
        "{}",
        "[" OPEN_SESSION "]",
        "{\"id\":\"cs_1\",\"object\":\"checkout.session\"}",
        SESSION("open", ""),
        SESSION("open", ",\"url\":null"),
        SESSION("open", ",\"url\":7"),
        SESSION("open", ",\"url\":\"http://checkout.stripe.com/\""),
        SESSION("open", ",\"url\":\"javascript:alert(1)\""),
        SESSION("open", ",\"url\":\"https://a/\\r\\nSet-Cookie: a\""),
        SESSION("paid", ",\"url\":\"https://checkout.stripe.com/\""),
        SESSION("complete", ""),
        SESSION("complete", ",\"customer\":\"cus_1\",\"subscription\":null"),
        SESSION("complete", ",\"customer\":null,\"subscription\":\"sub_1\""),
        SESSION("complete", ",\"customer\":\"cus_1\",\"subscription\":\"../sub\""),
        "{\"id\":7,\"object\":\"checkout.session\",\"status\":\"expired\"}",
        "{\"id\":\"cs/1\",\"object\":\"checkout.session\",\"status\":\"expired\"}",
        "{\"id\":\"cs_1\",\"object\":\"customer\",\"status\":\"expired\"}",
    };
    for (size_t i = 0; i < COUNT(bodies); i++) {
        struct billing_session s = {0};
        script_anew(d, OK, bodies[i]);
        if (d->billing->ops->session_get(d->billing, STR("cs_test_1"), &d->arena, &s) != OUTCOME_UNKNOWN)
            fail_msg("%s is understood", bodies[i]);
        assert_null(s.id.p);
    }
}

static enum outcome expire(struct desk *d, struct billing_session *ret)
{
    return d->billing->ops->session_expire(d->billing, STR("cs_test_1"), &d->arena, ret);
}

static void test_expiring_an_open_session_ends_it(void **state)
{
    struct desk *d = *state;
    struct billing_session s;
    script(d, OK, SESSION("expired", ",\"url\":null"));
    assert_int_equal(expire(d, &s), OUTCOME_DONE);
    heard(d, 0, "POST /v1/checkout/sessions/cs_test_1/expire HTTP/1.1\r\n");
    heard(d, 0, "\r\nContent-Length: 0\r\n");
    assert_int_equal(s.status, BILLING_SESSION_EXPIRED);
}

static void test_expiring_what_is_not_open_any_more_tells_what_it_is(void **state)
{
    struct desk *d = *state;
    struct billing_session s;
    script(d, "400 Bad Request", FAILURE("invalid_request_error", "x"));
    script(d, OK, SESSION("complete", ",\"customer\":\"cus_1\",\"subscription\":\"sub_1\""));
    assert_int_equal(expire(d, &s), OUTCOME_DONE);
    heard(d, 1, "GET /v1/checkout/sessions/cs_test_1 HTTP/1.1\r\n");
    assert_int_equal(s.status, BILLING_SESSION_COMPLETE);
}

static void test_expiring_a_session_that_never_was_is_refused(void **state)
{
    struct desk *d = *state;
    struct billing_session s;
    script(d, "404 Not Found", FAILURE("invalid_request_error", "resource_missing"));
    assert_int_equal(expire(d, &s), OUTCOME_REFUSED);
    assert_int_equal(d->count, 1);
}

static void test_an_identifier_that_is_none_of_stripes_is_not_asked_for(void **state)
{
    struct desk *d = *state;
    static const char *const ids[] = {"", "..", "cs_1/expire", "cs_1?a=b", "cs 1", "cs_1%2f", "cs_1\r\nX: y"};
    struct billing_session s;
    struct billing_subscription sub;
    for (size_t i = 0; i < COUNT(ids); i++) {
        const struct billing_ops *ops = d->billing->ops;
        assert_int_equal(ops->session_get(d->billing, str_z(ids[i]), &d->arena, &s), OUTCOME_REFUSED);
        assert_int_equal(ops->session_expire(d->billing, str_z(ids[i]), &d->arena, &s), OUTCOME_REFUSED);
        assert_int_equal(ops->subscription_get(d->billing, str_z(ids[i]), &d->arena, &sub), OUTCOME_REFUSED);
        assert_int_equal(ops->set_quantity(d->billing, STR("k"), str_z(ids[i]), 2, 0, &d->arena), OUTCOME_REFUSED);
    }
    assert_int_equal(d->count, 0);
}

/* ---- how calls end ---- */

static void test_only_a_definite_no_of_stripes_is_a_refusal(void **state)
{
    struct desk *d = *state;
    static const struct {
        const char *status, *body;
        enum outcome want;
    } cases[] = {
        {"400 Bad Request", FAILURE("invalid_request_error", "parameter_missing"), OUTCOME_REFUSED},
        {"402 Payment Required", FAILURE("card_error", "card_declined"), OUTCOME_REFUSED},
        {"404 Not Found", FAILURE("invalid_request_error", "resource_missing"), OUTCOME_REFUSED},
        {"400 Bad Request", FAILURE("idempotency_error", "x"), OUTCOME_UNKNOWN},
        {"400 Bad Request", FAILURE("api_error", "x"), OUTCOME_UNKNOWN},
        {"401 Unauthorized", FAILURE("invalid_request_error", "x"), OUTCOME_UNKNOWN},
        {"403 Forbidden", FAILURE("invalid_request_error", "x"), OUTCOME_UNKNOWN},
        {"409 Conflict", FAILURE("invalid_request_error", "idempotency_key_in_use"), OUTCOME_UNKNOWN},
        {"429 Too Many Requests", FAILURE("invalid_request_error", "rate_limit"), OUTCOME_UNKNOWN},
        {"500 Internal Server Error", FAILURE("api_error", "x"), OUTCOME_UNKNOWN},
        {"503 Service Unavailable", FAILURE("invalid_request_error", "x"), OUTCOME_UNKNOWN},
        {"302 Found", OPEN_SESSION, OUTCOME_UNKNOWN},
        {"404 Not Found", "{}", OUTCOME_UNKNOWN},
        {"404 Not Found", "{\"error\":\"invalid_request_error\"}", OUTCOME_UNKNOWN},
        {"404 Not Found", "{\"error\":{\"type\":[\"invalid_request_error\"]}}", OUTCOME_UNKNOWN},
        {"404 Not Found", "<html>", OUTCOME_UNKNOWN},
        {"200 OK", "", OUTCOME_UNKNOWN},
        {"200 OK", "{\"id\":", OUTCOME_UNKNOWN},
        {"200 OK", "\"cs_1\"", OUTCOME_UNKNOWN},
        {"200 OK", OPEN_SESSION "}", OUTCOME_UNKNOWN},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct billing_session s = {0};
        script_anew(d, cases[i].status, cases[i].body);
        if (create(d, STR_NONE, &s) != cases[i].want)
            fail_msg("%s %s is not as expected", cases[i].status, cases[i].body);
        assert_null(s.id.p);
    }
}

static void test_a_key_in_use_is_waited_for(void **state)
{
    struct desk *d = *state;
    struct billing_session s;
    script(d, "409 Conflict", FAILURE("invalid_request_error", "idempotency_key_in_use"));
    script(d, "409 Conflict", FAILURE("invalid_request_error", "idempotency_key_in_use"));
    script(d, OK, OPEN_SESSION);
    assert_int_equal(create(d, STR_NONE, &s), OUTCOME_DONE);
    assert_int_equal(d->count, 3);
    for (size_t i = 0; i < 3; i++)
        heard(d, i, "\r\nIdempotency-Key: checkout-1\r\n");
}

static void test_an_answer_that_is_no_json_is_unknown(void **state)
{
    struct desk *d = *state;
    struct billing_session s;
    script(d, OK, OPEN_SESSION);
    d->scripts[0].type = "text/html";
    assert_int_equal(create(d, STR_NONE, &s), OUTCOME_UNKNOWN);
    script_anew(d, "404 Not Found", FAILURE("invalid_request_error", "resource_missing"));
    d->scripts[0].type = "text/html";
    assert_int_equal(create(d, STR_NONE, &s), OUTCOME_UNKNOWN);
}

static void test_no_answer_is_unknown(void **state)
{
    struct desk *d = *state;
    struct billing_session s;
    billing_free(d->billing);
    d->config.stripe_timeout_s = 3;
    assert_int_equal(stripe_billing_new(&d->config, &d->billing, &d->why), ERR_NONE);
    assert_int_equal(create(d, STR_NONE, &s), OUTCOME_UNKNOWN);
    assert_int_equal(d->receiver->requests, 1);
}

static void test_nobody_there_is_unknown(void **state)
{
    struct desk *d = *state;
    struct billing_session s;
    billing_free(d->billing);
    d->config.stripe_url = "http://127.0.0.1:1";
    assert_int_equal(stripe_billing_new(&d->config, &d->billing, &d->why), ERR_NONE);
    assert_int_equal(create(d, STR_NONE, &s), OUTCOME_UNKNOWN);
}

/* ---- prices ---- */

static enum outcome prices(struct desk *d, struct billing_prices *ret)
{
    return d->billing->ops->prices(d->billing, &d->arena, ret);
}

static void test_each_plan_has_the_price_that_stripe_says(void **state)
{
    struct desk *d = *state;
    struct billing_prices p;
    script(d, OK, PRICE("price_weekly", ""));
    script(d, OK,
           "{\"id\":\"price_yearly\",\"object\":\"price\",\"active\":true,\"currency\":\"eur\",\"unit_amount\":null,"
           "\"recurring\":{\"interval\":\"year\",\"interval_count\":2}}");
    assert_int_equal(prices(d, &p), OUTCOME_DONE);
    heard(d, 0, "GET /v1/prices/price_weekly HTTP/1.1\r\n");
    heard(d, 1, "GET /v1/prices/price_yearly HTTP/1.1\r\n");
    assert_int_equal(p.count, 2);
    assert_text(p.items[0].plan, "weekly");
    assert_true(p.items[0].available);
    assert_int_equal(p.items[0].amount_minor, 499);
    assert_text(p.items[0].currency, "usd");
    assert_text(p.items[0].interval, "week");
    assert_int_equal(p.items[0].interval_count, 1);
    assert_text(p.items[1].plan, "yearly");
    assert_int_equal(p.items[1].amount_minor, -1);
    assert_text(p.items[1].interval, "year");
    assert_int_equal(p.items[1].interval_count, 2);
}

static void test_what_cannot_be_bought_is_not_available(void **state)
{
    struct desk *d = *state;
    struct billing_prices p;
    d->config.plans[0].stripe_price = "";
    script(d, "404 Not Found", FAILURE("invalid_request_error", "resource_missing"));
    assert_int_equal(prices(d, &p), OUTCOME_DONE);
    assert_int_equal(d->count, 1);
    for (size_t i = 0; i < 2; i++) {
        assert_false(p.items[i].available);
        assert_int_equal(p.items[i].amount_minor, -1);
    }
    static const char *const bodies[] = {
        "{\"id\":\"p\",\"object\":\"price\",\"active\":false,\"currency\":\"usd\",\"unit_amount\":1,"
        "\"recurring\":{\"interval\":\"week\",\"interval_count\":1}}",
        "{\"id\":\"p\",\"object\":\"price\",\"active\":true,\"currency\":\"usd\",\"unit_amount\":1,\"recurring\":null}",
    };
    for (size_t i = 0; i < COUNT(bodies); i++) {
        script_anew(d, OK, bodies[i]);
        assert_int_equal(prices(d, &p), OUTCOME_DONE);
        assert_false(p.items[1].available);
    }
    d->config.plans[1].available = false;
    script_anew(d, OK, PRICE("price_yearly", ""));
    assert_int_equal(prices(d, &p), OUTCOME_DONE);
    assert_false(p.items[1].available);
}

static void test_prices_that_cannot_be_had_are_unknown(void **state)
{
    struct desk *d = *state;
    static const char *const bodies[] = {
        "{}",
        "{\"id\":\"p\",\"object\":\"price\",\"active\":1,\"currency\":\"usd\",\"unit_amount\":1,\"recurring\":null}",
        "{\"id\":\"p\",\"object\":\"price\",\"active\":true,\"currency\":\"USD\",\"unit_amount\":1,\"recurring\":null}",
        "{\"id\":\"p\",\"object\":\"price\",\"active\":true,\"currency\":\"usd\",\"unit_amount\":-1,\"recurring\":"
        "null}",
        "{\"id\":\"p\",\"object\":\"price\",\"active\":true,\"currency\":\"usd\",\"unit_amount\":1.5,\"recurring\":"
        "null}",
        "{\"id\":\"p\",\"object\":\"price\",\"active\":true,\"currency\":\"usd\",\"unit_amount\":1,\"recurring\":{}}",
    };
    for (size_t i = 0; i < COUNT(bodies); i++) {
        struct billing_prices p = {.count = 77};
        script_anew(d, OK, bodies[i]);
        if (prices(d, &p) != OUTCOME_UNKNOWN)
            fail_msg("%s is understood", bodies[i]);
        assert_int_equal(p.count, 77);
    }
}

/* ---- the portal ---- */

static enum outcome portal(struct desk *d, struct str *ret)
{
    return d->billing->ops->portal(d->billing, STR("cus_1"), STR("https://door.example/account"), &d->arena, ret);
}

static void test_the_portal_is_a_page_of_stripes(void **state)
{
    struct desk *d = *state;
    struct str url;
    script(d, OK,
           "{\"id\":\"bps_1\",\"object\":\"billing_portal.session\",\"url\":\"https://billing.stripe.com/p/1\"}");
    assert_int_equal(portal(d, &url), OUTCOME_DONE);
    assert_text(url, "https://billing.stripe.com/p/1");
    heard(d, 0, "POST /v1/billing_portal/sessions HTTP/1.1\r\n");
    heard(d, 0, "\r\n\r\ncustomer=cus_1&return_url=https%3A%2F%2Fdoor.example%2Faccount");
    script_anew(d, OK, "{\"url\":\"ftp://billing.stripe.com/p/1\"}");
    assert_int_equal(portal(d, &url), OUTCOME_UNKNOWN);
}

static void test_the_portal_refuses_only_an_unknown_customer(void **state)
{
    struct desk *d = *state;
    struct str url;
    script(d, "400 Bad Request", FAILURE("invalid_request_error", "resource_missing"));
    assert_int_equal(portal(d, &url), OUTCOME_REFUSED);
    script_anew(d, "400 Bad Request", "{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"No portal.\"}}");
    assert_int_equal(portal(d, &url), OUTCOME_UNKNOWN);
}

/* ---- subscriptions ---- */

static enum outcome subscription(struct desk *d, struct billing_subscription *ret)
{
    return d->billing->ops->subscription_get(d->billing, STR("sub_1"), &d->arena, ret);
}

static void test_a_subscription_has_its_plan_price_and_quantity(void **state)
{
    struct desk *d = *state;
    struct billing_subscription s;
    script(d, OK, WEEKLY);
    assert_int_equal(subscription(d, &s), OUTCOME_DONE);
    heard(d, 0, "GET /v1/subscriptions/sub_1 HTTP/1.1\r\n");
    assert_text(s.id, "sub_1");
    assert_text(s.customer_id, "cus_1");
    assert_text(s.account_id, "a1");
    assert_text(s.plan, "weekly");
    assert_text(s.price_id, "price_weekly");
    assert_text(s.currency, "usd");
    assert_text(s.interval, "week");
    assert_int_equal(s.amount_minor, 499);
    assert_int_equal(s.quantity, 3);
}

static void test_stripes_states_are_three_to_us(void **state)
{
    struct desk *d = *state;
    static const struct {
        const char *body;
        enum billing_status want;
    } cases[] = {
#define STATE(text, status) {SUBSCRIPTION(text, "{}", ITEM("si_1", PRICE("price_1", ""), "1")), status}
        STATE("active", BILLING_ACTIVE),         STATE("trialing", BILLING_ACTIVE),
        STATE("past_due", BILLING_PAST_DUE),     STATE("unpaid", BILLING_PAST_DUE),
        STATE("paused", BILLING_PAST_DUE),       STATE("canceled", BILLING_CANCELED),
        STATE("incomplete", BILLING_INCOMPLETE), STATE("incomplete_expired", BILLING_CANCELED),
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct billing_subscription s;
        script_anew(d, OK, cases[i].body);
        assert_int_equal(subscription(d, &s), OUTCOME_DONE);
        assert_int_equal(s.status, cases[i].want);
        assert_null(s.account_id.p);
    }
}

static void test_the_plan_is_that_of_the_price_else_the_one_bought(void **state)
{
    struct desk *d = *state;
    static const struct {
        const char *body, *plan, *price;
    } cases[] = {
        {SUBSCRIPTION("active", "{\"plan\":\"weekly\"}", ITEM("si_1", PRICE("price_yearly", ""), "1")), "yearly",
         "price_yearly"},
        {SUBSCRIPTION("active", "{\"plan\":\"weekly\"}", ITEM("si_1", PRICE("price_old", ""), "1")), "weekly",
         "price_old"},
        {SUBSCRIPTION("active", "{\"plan\":\"daily\"}", ITEM("si_1", PRICE("price_old", ""), "1")), NULL, "price_old"},
        {SUBSCRIPTION("active", "{}", ITEM("si_1", PRICE("price_old", ""), "1")), NULL, "price_old"},
        {SUBSCRIPTION("active", "{}",
                      ITEM("si_1", PRICE("price_x", ""), "1") "," ITEM("si_2", PRICE("price_weekly", ""), "2")),
         "weekly", "price_weekly"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct billing_subscription s;
        script_anew(d, OK, cases[i].body);
        assert_int_equal(subscription(d, &s), OUTCOME_DONE);
        assert_text(s.plan, cases[i].plan);
        assert_text(s.price_id, cases[i].price);
    }
}

static void test_a_subscription_that_is_metered_has_no_quantity(void **state)
{
    struct desk *d = *state;
    struct billing_subscription s;
    script(d, OK, SUBSCRIPTION("active", "{}", "{\"id\":\"si_1\",\"price\":" PRICE("price_1", "") "}"));
    assert_int_equal(subscription(d, &s), OUTCOME_DONE);
    assert_int_equal(s.quantity, 0);
    assert_text(s.plan, NULL);
}

static void test_a_malformed_subscription_is_unknown(void **state)
{
    struct desk *d = *state;
    static const char *const bodies[] = {
        "{}",
        SUBSCRIPTION("resting", "{}", ITEM("si_1", PRICE("price_1", ""), "1")),
        SUBSCRIPTION("active", "{}", ""),
        SUBSCRIPTION("active", "{}", "7"),
        SUBSCRIPTION("active", "{}", ITEM("si_1", "null", "1")),
        SUBSCRIPTION("active", "{}", ITEM("si_1", PRICE("price_1", ""), "-1")),
        SUBSCRIPTION("active", "{}", ITEM("si_1", PRICE("price_1", ""), "\"1\"")),
        SUBSCRIPTION("active", "{}", ITEM("si_1", PRICE("price_1", ""), "9223372036854775807")),
        SUBSCRIPTION("active", "{}", ITEM("si/1", PRICE("price_1", ""), "1")),
        SUBSCRIPTION("active", "{}", ITEM("si_1", PRICE("", ""), "1")),
        "{\"id\":\"sub_1\",\"object\":\"subscription\",\"status\":\"active\",\"customer\":\"cus_1\",\"items\":[]}",
    };
    for (size_t i = 0; i < COUNT(bodies); i++) {
        struct billing_subscription s = {0};
        script_anew(d, OK, bodies[i]);
        if (subscription(d, &s) != OUTCOME_UNKNOWN)
            fail_msg("%s is understood", bodies[i]);
        assert_null(s.id.p);
    }
}

static enum outcome preview(struct desk *d, struct billing_preview *ret)
{
    return d->billing->ops->preview(d->billing, STR("sub_1"), 4, 1700000000, &d->arena, ret);
}

static void test_a_preview_is_the_upcoming_invoice_at_another_quantity(void **state)
{
    struct desk *d = *state;
    struct billing_preview p;
    script(d, OK, WEEKLY);
    script(d, OK, "{\"object\":\"invoice\",\"amount_due\":1996,\"currency\":\"usd\",\"lines\":{}}");
    assert_int_equal(preview(d, &p), OUTCOME_DONE);
    assert_int_equal(p.amount_due_minor, 1996);
    assert_text(p.currency, "usd");
    heard(d, 1, "POST /v1/invoices/create_preview HTTP/1.1\r\n");
    heard(d, 1,
          "\r\n\r\nsubscription=sub_1&subscription_details[items][0][id]=si_1"
          "&subscription_details[items][0][quantity]=4&subscription_details[proration_behavior]=create_prorations"
          "&subscription_details[proration_date]=1700000000");
    script_anew(d, OK, WEEKLY);
    script(d, OK, "{\"object\":\"invoice\",\"amount_due\":\"1996\",\"currency\":\"usd\"}");
    assert_int_equal(preview(d, &p), OUTCOME_UNKNOWN);
    script_anew(d, "404 Not Found", FAILURE("invalid_request_error", "resource_missing"));
    assert_int_equal(preview(d, &p), OUTCOME_REFUSED);
    assert_int_equal(d->count, 1);
}

static enum outcome set_quantity(struct desk *d)
{
    return d->billing->ops->set_quantity(d->billing, STR("op-1"), STR("sub_1"), 4, 1700000000, &d->arena);
}

static void test_a_quantity_is_paid_for_at_once_or_left_as_it_was(void **state)
{
    struct desk *d = *state;
    script(d, OK, WEEKLY);
    script(d, OK, ITEM("si_1", PRICE("price_weekly", ""), "4"));
    assert_int_equal(set_quantity(d), OUTCOME_DONE);
    heard(d, 1, "POST /v1/subscription_items/si_1 HTTP/1.1\r\n");
    heard(d, 1, "\r\nIdempotency-Key: op-1\r\n");
    heard(d, 1,
          "\r\n\r\nquantity=4&proration_behavior=always_invoice&proration_date=1700000000"
          "&payment_behavior=error_if_incomplete");
    script_anew(d, OK, WEEKLY);
    script(d, "402 Payment Required", FAILURE("card_error", "card_declined"));
    assert_int_equal(set_quantity(d), OUTCOME_REFUSED);
    script_anew(d, OK, WEEKLY);
    script(d, "500 Internal Server Error", FAILURE("api_error", ""));
    assert_int_equal(set_quantity(d), OUTCOME_UNKNOWN);
    script_anew(d, "503 Service Unavailable", "");
    assert_int_equal(set_quantity(d), OUTCOME_UNKNOWN);
    assert_int_equal(d->count, 1);
}

/* What support resolves a week later. */
static void test_a_quantity_that_comes_too_late_to_be_prorated_is_prorated_from_now(void **state)
{
    struct desk *d = *state;
    script(d, OK, WEEKLY);
    script(d, "400 Bad Request", FAILURE("invalid_request_error", "parameter_invalid_integer"));
    script(d, OK, ITEM("si_1", PRICE("price_weekly", ""), "4"));
    assert_int_equal(set_quantity(d), OUTCOME_DONE);
    heard(d, 1, "&proration_date=1700000000&");
    heard(d, 2, "\r\nIdempotency-Key: op-1-now\r\n");
    heard(d, 2, "\r\n\r\nquantity=4&proration_behavior=always_invoice&payment_behavior=error_if_incomplete");
    script_anew(d, OK, WEEKLY);
    script(d, "400 Bad Request", FAILURE("invalid_request_error", "x"));
    script(d, "400 Bad Request", FAILURE("invalid_request_error", "x"));
    assert_int_equal(set_quantity(d), OUTCOME_REFUSED);
    assert_int_equal(d->count, 3);
}

/* ---- configuration ---- */

static void test_wrong_secrets_and_prices_stop_the_start(void **state)
{
    struct desk *d = *state;
    static const struct {
        const char *key, *secret, *price, *why;
    } cases[] = {
        {"env:PORTERO_TEST_EMPTY", "whsec_1", "price_1", "stripe.secret_key is empty"},
        {"sk 1", "whsec_1", "price_1", "stripe.secret_key has characters that no key has"},
        {"sk_1", "env:PORTERO_TEST_EMPTY", "price_1", "stripe.webhook_secret is empty"},
        {"sk_1", "env:PORTERO_TEST_UNSET", "price_1",
         "stripe.webhook_secret: the environment has no PORTERO_TEST_UNSET"},
        {"sk_1", "whsec_1", "price/1", "a plan's stripe_price must be the ID of a price, like price_1AbC"},
    };
    setenv("PORTERO_TEST_EMPTY", "", 1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct config c = d->config;
        struct billing *b = NULL;
        char *why = NULL;
        c.stripe_secret_key = cases[i].key;
        c.stripe_webhook_secret = cases[i].secret;
        c.plans[1].stripe_price = cases[i].price;
        assert_int_equal(stripe_billing_new(&c, &b, &why), ERR_USAGE);
        assert_string_equal(why, cases[i].why);
        assert_null(b);
        free(why);
    }
    unsetenv("PORTERO_TEST_EMPTY");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_desk, close_desk)
    const struct CMUnitTest tests[] = {
        T(test_a_session_is_asked_for_with_all_that_belongs_to_it),
        T(test_a_known_customer_buys_again_as_such),
        T(test_a_customer_deleted_at_stripe_buys_as_a_new_one),
        T(test_a_plan_without_a_price_is_refused_unasked),
        T(test_a_session_is_what_it_has_become),
        T(test_a_malformed_session_is_unknown),
        T(test_expiring_an_open_session_ends_it),
        T(test_expiring_what_is_not_open_any_more_tells_what_it_is),
        T(test_expiring_a_session_that_never_was_is_refused),
        T(test_an_identifier_that_is_none_of_stripes_is_not_asked_for),
        T(test_only_a_definite_no_of_stripes_is_a_refusal),
        T(test_a_key_in_use_is_waited_for),
        T(test_an_answer_that_is_no_json_is_unknown),
        T(test_no_answer_is_unknown),
        T(test_nobody_there_is_unknown),
        T(test_each_plan_has_the_price_that_stripe_says),
        T(test_what_cannot_be_bought_is_not_available),
        T(test_prices_that_cannot_be_had_are_unknown),
        T(test_the_portal_is_a_page_of_stripes),
        T(test_the_portal_refuses_only_an_unknown_customer),
        T(test_a_subscription_has_its_plan_price_and_quantity),
        T(test_stripes_states_are_three_to_us),
        T(test_the_plan_is_that_of_the_price_else_the_one_bought),
        T(test_a_subscription_that_is_metered_has_no_quantity),
        T(test_a_malformed_subscription_is_unknown),
        T(test_a_preview_is_the_upcoming_invoice_at_another_quantity),
        T(test_a_quantity_is_paid_for_at_once_or_left_as_it_was),
        T(test_a_quantity_that_comes_too_late_to_be_prorated_is_prorated_from_now),
        T(test_wrong_secrets_and_prices_stop_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
