/* The outcomes of calls to Stripe. */
#include "providers/stripe_fixture.h"

/* BILLING-32 */
static void test_only_a_refusal_by_stripe_itself_is_refused(void **state)
{
    struct fixture *d = *state;
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

/* BILLING-33 */
static void test_a_call_is_repeated_while_its_key_is_in_use(void **state)
{
    struct fixture *d = *state;
    struct billing_session s;
    script(d, "409 Conflict", FAILURE("invalid_request_error", "idempotency_key_in_use"));
    script(d, "409 Conflict", FAILURE("invalid_request_error", "idempotency_key_in_use"));
    script(d, OK, OPEN_SESSION);
    assert_int_equal(create(d, STR_NONE, &s), OUTCOME_DONE);
    assert_int_equal(d->count, 3);
    for (size_t i = 0; i < 3; i++)
        heard(d, i, "\r\nIdempotency-Key: checkout-1\r\n");
}

static void test_a_response_that_is_not_json_is_unknown(void **state)
{
    struct fixture *d = *state;
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
    struct fixture *d = *state;
    struct billing_session s;
    billing_free(d->billing);
    d->config.stripe_timeout_s = 3;
    assert_int_equal(stripe_billing_new(&d->config, &d->billing, &d->why), ERR_NONE);
    assert_int_equal(create(d, STR_NONE, &s), OUTCOME_UNKNOWN);
    assert_int_equal(d->receiver->requests, 1);
}

static void test_a_refused_connection_is_unknown(void **state)
{
    struct fixture *d = *state;
    struct billing_session s;
    billing_free(d->billing);
    d->config.stripe_url = "http://127.0.0.1:1";
    assert_int_equal(stripe_billing_new(&d->config, &d->billing, &d->why), ERR_NONE);
    assert_int_equal(create(d, STR_NONE, &s), OUTCOME_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STRIPE_TEST(test_only_a_refusal_by_stripe_itself_is_refused),
        STRIPE_TEST(test_a_call_is_repeated_while_its_key_is_in_use),
        STRIPE_TEST(test_a_response_that_is_not_json_is_unknown),
        STRIPE_TEST(test_no_answer_is_unknown),
        STRIPE_TEST(test_a_refused_connection_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
