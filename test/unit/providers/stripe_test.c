/* The requests to Stripe, and their results. */
#include "providers/stripe_fixture.h"

/* ---- checkout sessions ---- */

static void test_a_session_is_created_with_all_its_fields(void **state)
{
    struct fixture *d = *state;
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

static void test_a_known_customer_is_used_again(void **state)
{
    struct fixture *d = *state;
    struct billing_session s;
    script(d, OK, OPEN_SESSION);
    assert_int_equal(create(d, STR("cus_1"), &s), OUTCOME_DONE);
    heard(d, 0, "&customer=cus_1");
    not_heard(d, 0, "customer_email");
}

/* BILLING-37 */
static void test_a_customer_deleted_at_stripe_is_replaced(void **state)
{
    struct fixture *d = *state;
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

static void test_a_plan_without_a_price_is_refused_without_a_call(void **state)
{
    struct fixture *d = *state;
    struct billing_session s;
    d->config.plans[0].stripe_price = "";
    assert_int_equal(create(d, STR_NONE, &s), OUTCOME_REFUSED);
    assert_int_equal(d->count, 0);
}

static void test_a_session_is_read_with_its_status(void **state)
{
    struct fixture *d = *state;
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

static enum outcome expire(struct fixture *d, struct billing_session *ret)
{
    return d->billing->ops->session_expire(d->billing, STR("cs_test_1"), &d->arena, ret);
}

static void test_an_open_session_is_expired(void **state)
{
    struct fixture *d = *state;
    struct billing_session s;
    script(d, OK, SESSION("expired", ",\"url\":null"));
    assert_int_equal(expire(d, &s), OUTCOME_DONE);
    heard(d, 0, "POST /v1/checkout/sessions/cs_test_1/expire HTTP/1.1\r\n");
    heard(d, 0, "\r\nContent-Length: 0\r\n");
    assert_int_equal(s.status, BILLING_SESSION_EXPIRED);
}

static void test_expiring_a_session_that_has_ended_returns_it(void **state)
{
    struct fixture *d = *state;
    struct billing_session s;
    script(d, "400 Bad Request", FAILURE("invalid_request_error", "x"));
    script(d, OK, SESSION("complete", ",\"customer\":\"cus_1\",\"subscription\":\"sub_1\""));
    assert_int_equal(expire(d, &s), OUTCOME_DONE);
    heard(d, 1, "GET /v1/checkout/sessions/cs_test_1 HTTP/1.1\r\n");
    assert_int_equal(s.status, BILLING_SESSION_COMPLETE);
}

static void test_expiring_an_unknown_session_is_refused(void **state)
{
    struct fixture *d = *state;
    struct billing_session s;
    script(d, "404 Not Found", FAILURE("invalid_request_error", "resource_missing"));
    assert_int_equal(expire(d, &s), OUTCOME_REFUSED);
    assert_int_equal(d->count, 1);
}

static void test_an_invalid_identifier_is_refused_without_a_call(void **state)
{
    struct fixture *d = *state;
    static const char *const ids[] = {"", "..", "cs_1/expire", "cs_1?a=b", "cs 1", "cs_1%2f", "cs_1\r\nX: y"};
    struct billing_session s;
    struct billing_subscription sub;
    for (size_t i = 0; i < COUNT(ids); i++) {
        const struct billing_ops *ops = d->billing->ops;
        assert_int_equal(ops->session_get(d->billing, str_z(ids[i]), &d->arena, &s), OUTCOME_REFUSED);
        assert_int_equal(ops->session_expire(d->billing, str_z(ids[i]), &d->arena, &s), OUTCOME_REFUSED);
        assert_int_equal(ops->subscription_get(d->billing, str_z(ids[i]), &d->arena, &sub), OUTCOME_REFUSED);
        assert_int_equal(ops->customer_delete(d->billing, str_z(ids[i]), &d->arena), OUTCOME_REFUSED);
        assert_int_equal(ops->set_quantity(d->billing, STR("k"), str_z(ids[i]), 2, 0, &d->arena), OUTCOME_REFUSED);
    }
    assert_int_equal(d->count, 0);
}

/* ---- the portal ---- */

static enum outcome portal(struct fixture *d, struct str *ret)
{
    return d->billing->ops->portal(d->billing, STR("cus_1"), STR("https://door.example/account"), &d->arena, ret);
}

static void test_the_portal_returns_a_url_of_stripe(void **state)
{
    struct fixture *d = *state;
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

/* BILLING-32 */
static void test_the_portal_refuses_only_an_unknown_customer(void **state)
{
    struct fixture *d = *state;
    struct str url;
    script(d, "400 Bad Request", FAILURE("invalid_request_error", "resource_missing"));
    assert_int_equal(portal(d, &url), OUTCOME_REFUSED);
    script_anew(d, "400 Bad Request", "{\"error\":{\"type\":\"invalid_request_error\",\"message\":\"No portal.\"}}");
    assert_int_equal(portal(d, &url), OUTCOME_UNKNOWN);
}

/* ---- the end of a customer ---- */

static enum outcome delete_customer(struct fixture *d)
{
    return d->billing->ops->customer_delete(d->billing, STR("cus_1"), &d->arena);
}

static void test_a_customer_is_deleted(void **state)
{
    struct fixture *d = *state;
    script(d, OK, "{\"id\":\"cus_1\",\"object\":\"customer\",\"deleted\":true}");
    assert_int_equal(delete_customer(d), OUTCOME_DONE);
    heard(d, 0, "DELETE /v1/customers/cus_1 HTTP/1.1\r\n");
    heard(d, 0, "\r\nAuthorization: Bearer sk_test_1\r\n");
    not_heard(d, 0, "Idempotency-Key");
    not_heard(d, 0, "Content-Type");
    assert_int_equal(d->count, 1);
}

static void test_a_customer_that_stripe_does_not_have_is_no_longer_asked_for(void **state)
{
    struct fixture *d = *state;
    script(d, "404 Not Found", FAILURE("invalid_request_error", "resource_missing"));
    assert_int_equal(delete_customer(d), OUTCOME_REFUSED);
    assert_int_equal(d->count, 1);
}

/* The job of the deletion is then repeated. */
static void test_a_customer_may_be_left_after_any_other_answer(void **state)
{
    struct fixture *d = *state;
    static const struct script answers[] = {
        {"400 Bad Request", FAILURE("invalid_request_error", "x"), NULL},
        {"401 Unauthorized", FAILURE("invalid_request_error", "resource_missing"), NULL},
        {"404 Not Found", "{}", NULL},
        {"429 Too Many Requests", FAILURE("invalid_request_error", "rate_limit"), NULL},
        {"500 Internal Server Error", FAILURE("api_error", ""), NULL},
        {OK, "{\"id\":\"cus_1\",\"object\":\"customer\"}", NULL},
        {OK, "{\"id\":\"cus_1\",\"object\":\"customer\",\"deleted\":false}", NULL},
        {OK, "{\"id\":\"cus_2\",\"object\":\"customer\",\"deleted\":true}", NULL},
        {OK, "{}", NULL},
        {OK, "", NULL},
        {OK, "<html>Sorry</html>", "text/html"},
    };
    for (size_t i = 0; i < COUNT(answers); i++) {
        script_anew(d, answers[i].status, answers[i].body);
        d->scripts[0].type = answers[i].type;
        assert_int_equal(delete_customer(d), OUTCOME_UNKNOWN);
    }
}

/* ---- quantities ---- */

static enum outcome preview(struct fixture *d, struct billing_preview *ret)
{
    return d->billing->ops->preview(d->billing, STR("sub_1"), 4, 1700000000, &d->arena, ret);
}

static void test_a_preview_is_the_upcoming_invoice_at_another_quantity(void **state)
{
    struct fixture *d = *state;
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

static enum outcome set_quantity(struct fixture *d)
{
    return d->billing->ops->set_quantity(d->billing, STR("tx-1"), STR("sub_1"), 4, 1700000000, &d->arena);
}

/* BILLING-36 */
static void test_a_quantity_is_paid_at_once_or_not_changed(void **state)
{
    struct fixture *d = *state;
    script(d, OK, WEEKLY);
    script(d, OK, ITEM("si_1", PRICE("price_weekly", ""), "4"));
    assert_int_equal(set_quantity(d), OUTCOME_DONE);
    heard(d, 1, "POST /v1/subscription_items/si_1 HTTP/1.1\r\n");
    heard(d, 1, "\r\nIdempotency-Key: tx-1\r\n");
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

/* For an operation that support resolves a week later. */
/* BUILDING-20 */
static void test_a_proration_date_that_is_too_old_is_replaced_by_the_present(void **state)
{
    struct fixture *d = *state;
    script(d, OK, WEEKLY);
    script(d, "400 Bad Request", FAILURE("invalid_request_error", "parameter_invalid_integer"));
    script(d, OK, ITEM("si_1", PRICE("price_weekly", ""), "4"));
    assert_int_equal(set_quantity(d), OUTCOME_DONE);
    heard(d, 1, "&proration_date=1700000000&");
    heard(d, 2, "\r\nIdempotency-Key: tx-1-now\r\n");
    heard(d, 2, "\r\n\r\nquantity=4&proration_behavior=always_invoice&payment_behavior=error_if_incomplete");
    script_anew(d, OK, WEEKLY);
    script(d, "400 Bad Request", FAILURE("invalid_request_error", "x"));
    script(d, "400 Bad Request", FAILURE("invalid_request_error", "x"));
    assert_int_equal(set_quantity(d), OUTCOME_REFUSED);
    assert_int_equal(d->count, 3);
}

/* ---- configuration ---- */

static void test_invalid_secrets_and_prices_stop_the_start(void **state)
{
    struct fixture *d = *state;
    static const struct {
        const char *key, *secret, *price, *why;
    } cases[] = {
        {"env:PORTERO_TEST_EMPTY", "whsec_1", "price_1", "stripe.secret_key is empty"},
        {"sk 1", "whsec_1", "price_1", "stripe.secret_key contains invalid characters"},
        {"sk_1", "env:PORTERO_TEST_EMPTY", "price_1", "stripe.webhook_secret is empty"},
        {"sk_1", "env:PORTERO_TEST_UNSET", "price_1",
         "stripe.webhook_secret: environment variable PORTERO_TEST_UNSET is not set"},
        {"sk_1", "whsec_1", "price/1", "billing.plan: a stripe_price must be the ID of a price, like price_1AbC"},
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
    const struct CMUnitTest tests[] = {
        STRIPE_TEST(test_a_session_is_created_with_all_its_fields),
        STRIPE_TEST(test_a_known_customer_is_used_again),
        STRIPE_TEST(test_a_customer_deleted_at_stripe_is_replaced),
        STRIPE_TEST(test_a_plan_without_a_price_is_refused_without_a_call),
        STRIPE_TEST(test_a_session_is_read_with_its_status),
        STRIPE_TEST(test_an_open_session_is_expired),
        STRIPE_TEST(test_expiring_a_session_that_has_ended_returns_it),
        STRIPE_TEST(test_expiring_an_unknown_session_is_refused),
        STRIPE_TEST(test_an_invalid_identifier_is_refused_without_a_call),
        STRIPE_TEST(test_the_portal_returns_a_url_of_stripe),
        STRIPE_TEST(test_the_portal_refuses_only_an_unknown_customer),
        STRIPE_TEST(test_a_customer_is_deleted),
        STRIPE_TEST(test_a_customer_that_stripe_does_not_have_is_no_longer_asked_for),
        STRIPE_TEST(test_a_customer_may_be_left_after_any_other_answer),
        STRIPE_TEST(test_a_preview_is_the_upcoming_invoice_at_another_quantity),
        STRIPE_TEST(test_a_quantity_is_paid_at_once_or_not_changed),
        STRIPE_TEST(test_a_proration_date_that_is_too_old_is_replaced_by_the_present),
        STRIPE_TEST(test_invalid_secrets_and_prices_stop_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
