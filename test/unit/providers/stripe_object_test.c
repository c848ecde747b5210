/* Reading Stripe's objects, valid and malformed. */
#include "providers/stripe_fixture.h"

/* ---- checkout sessions ---- */

static void test_a_malformed_session_is_unknown(void **state)
{
    struct fixture *d = *state;
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

/* ---- prices ---- */

static enum outcome prices(struct fixture *d, struct billing_prices *ret)
{
    return d->billing->ops->prices(d->billing, &d->arena, ret);
}

static void test_each_plan_has_the_price_from_stripe(void **state)
{
    struct fixture *d = *state;
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

/* BILLING-1 */
static void test_a_price_that_cannot_be_bought_is_not_available(void **state)
{
    struct fixture *d = *state;
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

static void test_prices_without_an_answer_are_unknown(void **state)
{
    struct fixture *d = *state;
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

/* ---- subscriptions ---- */

static enum outcome subscription(struct fixture *d, struct billing_subscription *ret)
{
    return d->billing->ops->subscription_get(d->billing, STR("sub_1"), &d->arena, ret);
}

static void test_a_subscription_has_its_plan_price_and_quantity(void **state)
{
    struct fixture *d = *state;
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

/* BILLING-34 */
static void test_stripes_statuses_map_to_four(void **state)
{
    struct fixture *d = *state;
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

/* BILLING-35 */
static void test_the_plan_comes_from_the_price_or_the_metadata(void **state)
{
    struct fixture *d = *state;
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

static void test_a_metered_subscription_has_no_quantity(void **state)
{
    struct fixture *d = *state;
    struct billing_subscription s;
    script(d, OK, SUBSCRIPTION("active", "{}", "{\"id\":\"si_1\",\"price\":" PRICE("price_1", "") "}"));
    assert_int_equal(subscription(d, &s), OUTCOME_DONE);
    assert_int_equal(s.quantity, 0);
    assert_text(s.plan, NULL);
}

static void test_a_malformed_subscription_is_unknown(void **state)
{
    struct fixture *d = *state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        STRIPE_TEST(test_a_malformed_session_is_unknown),
        STRIPE_TEST(test_each_plan_has_the_price_from_stripe),
        STRIPE_TEST(test_a_price_that_cannot_be_bought_is_not_available),
        STRIPE_TEST(test_prices_without_an_answer_are_unknown),
        STRIPE_TEST(test_a_subscription_has_its_plan_price_and_quantity),
        STRIPE_TEST(test_stripes_statuses_map_to_four),
        STRIPE_TEST(test_the_plan_comes_from_the_price_or_the_metadata),
        STRIPE_TEST(test_a_metered_subscription_has_no_quantity),
        STRIPE_TEST(test_a_malformed_subscription_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
