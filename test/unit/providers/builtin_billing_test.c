/* The built-in billing provider: calls have one effect for each key, records survive a restart, faults can be ordered.
 */
#include "providers/builtin_billing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "providers/billing_fixture.h"
#include "providers/fault.h"

static void configure(struct config *c)
{
    c->billing_provider = "sandbox";
    c->plans[0] = (struct config_plan){.id = "weekly",
                                       .amount_minor = 499,
                                       .currency = "usd",
                                       .interval = "week",
                                       .interval_count = 1,
                                       .available = true};
    c->plans[1] = (struct config_plan){
        .id = "yearly", .amount_minor = -1, .currency = "usd", .interval = "year", .interval_count = 1};
}

static int set_up(void **state)
{
    return billing_fixture_open(state, configure);
}

static int tear_down(void **state)
{
    fault_order(STR("billing"), STR_NONE, FAULT_NONE, 0);
    clock_set_offset_s(0);
    return billing_fixture_close(state);
}

static struct billing_session_request order(const char *key)
{
    return (struct billing_session_request){
        .key = str_z(key),
        .account_id = STR("0123456789abcdef01234567"),
        .email = STR("a@example.com"),
        .plan = STR("weekly"),
        .quantity = 3,
        .success_url = STR("https://door.example/x/account?checkout=success"),
        .cancel_url = STR("https://door.example/x/account?checkout=cancel"),
    };
}

static struct billing_session create(struct fixture *d, const char *key)
{
    struct billing_session s;
    struct billing_session_request r = order(key);
    assert_int_equal(d->ops->session_create(d->billing, &r, &d->arena, &s), OUTCOME_DONE);
    return s;
}

static struct billing_session get(struct fixture *d, struct str id)
{
    struct billing_session s;
    assert_int_equal(d->ops->session_get(d->billing, id, &d->arena, &s), OUTCOME_DONE);
    return s;
}

struct payment {
    struct str id;
    struct arena *arena;
    struct builtin_session session;
};

static enum err pay_run(void *arg, struct db *db)
{
    struct payment *p = arg;
    return builtin_session_pay(db, p->id, clock_now_us(), p->arena, &p->session);
}

static struct billing_session pay(struct fixture *d, struct str id)
{
    struct payment p = {.id = id, .arena = &d->arena};
    assert_int_equal(store_run(d->fixture->store, STORE_WRITE, pay_run, &p), ERR_NONE);
    return p.session.session;
}

static struct billing_subscription subscription(struct fixture *d, struct str id)
{
    struct billing_subscription s;
    assert_int_equal(d->ops->subscription_get(d->billing, id, &d->arena, &s), OUTCOME_DONE);
    return s;
}

static void same(struct str a, struct str b)
{
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.p, b.p, a.n);
}

static void test_a_key_creates_one_session_at_most(void **state)
{
    struct fixture *d = *state;
    struct billing_session one = create(d, "k1"), two = create(d, "k2");
    assert_false(str_eq(one.id, two.id));
    assert_int_equal(one.status, BILLING_SESSION_OPEN);
    assert_true(str_starts(one.url, STR("https://door.example/x/sandbox/checkout/cs_")));
    same(create(d, "k1").id, one.id);
    pay(d, one.id);
    assert_int_equal(create(d, "k1").status, BILLING_SESSION_COMPLETE);
}

static void test_a_payment_creates_one_customer_and_one_subscription(void **state)
{
    struct fixture *d = *state;
    struct billing_session s = create(d, "k1"), paid = pay(d, s.id), again = pay(d, s.id);
    assert_int_equal(paid.status, BILLING_SESSION_COMPLETE);
    assert_null(paid.url.p);
    same(again.subscription_id, paid.subscription_id);
    struct billing_subscription sub = subscription(d, paid.subscription_id);
    same(sub.customer_id, paid.customer_id);
    same(sub.account_id, STR("0123456789abcdef01234567"));
    same(sub.plan, STR("weekly"));
    same(sub.currency, STR("usd"));
    assert_int_equal(sub.status, BILLING_ACTIVE);
    assert_int_equal(sub.quantity, 3);
    assert_int_equal(sub.amount_minor, 499);
    struct billing_session_request r = order("k2");
    r.customer_id = paid.customer_id;
    assert_int_equal(d->ops->session_create(d->billing, &r, &d->arena, &s), OUTCOME_DONE);
    same(pay(d, s.id).customer_id, paid.customer_id);
}

/* SANDBOX-3 */
static void test_a_session_expires_by_request_or_after_a_day_and_cannot_be_paid_then(void **state)
{
    struct fixture *d = *state;
    struct billing_session s = create(d, "k1"), old = create(d, "k2"), paid = create(d, "k3"), ended;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(d->ops->session_expire(d->billing, s.id, &d->arena, &ended), OUTCOME_DONE);
        assert_int_equal(ended.status, BILLING_SESSION_EXPIRED);
    }
    assert_int_equal(pay(d, s.id).status, BILLING_SESSION_EXPIRED);
    pay(d, paid.id);
    assert_int_equal(d->ops->session_expire(d->billing, paid.id, &d->arena, &ended), OUTCOME_DONE);
    assert_int_equal(ended.status, BILLING_SESSION_COMPLETE);
    clock_set_offset_s(BUILTIN_SESSION_TTL_S - 60);
    assert_int_equal(get(d, old.id).status, BILLING_SESSION_OPEN);
    clock_set_offset_s(BUILTIN_SESSION_TTL_S + 60);
    assert_int_equal(get(d, old.id).status, BILLING_SESSION_EXPIRED);
    assert_int_equal(pay(d, old.id).status, BILLING_SESSION_EXPIRED);
    assert_int_equal(get(d, paid.id).status, BILLING_SESSION_COMPLETE);
}

static void test_a_quantity_is_set_once_for_each_key(void **state)
{
    struct fixture *d = *state;
    struct str id = pay(d, create(d, "k1").id).subscription_id;
    struct billing *b = d->billing;
    assert_int_equal(d->ops->set_quantity(b, STR("q1"), id, 4, 0, &d->arena), OUTCOME_DONE);
    assert_int_equal(d->ops->set_quantity(b, STR("q2"), id, 5, 0, &d->arena), OUTCOME_DONE);
    assert_int_equal(d->ops->set_quantity(b, STR("q1"), id, 4, 0, &d->arena), OUTCOME_DONE);
    assert_int_equal(subscription(d, id).quantity, 5);
    assert_true(fault_order(STR("billing"), STR("set_quantity"), FAULT_DECLINE, 1));
    assert_int_equal(d->ops->set_quantity(b, STR("q3"), id, 6, 0, &d->arena), OUTCOME_REFUSED);
    assert_int_equal(subscription(d, id).quantity, 5);
}

/* SANDBOX-8 */
static void test_a_preview_is_the_price_of_all_units(void **state)
{
    struct fixture *d = *state;
    struct str id = pay(d, create(d, "k1").id).subscription_id;
    struct billing_preview p;
    assert_int_equal(d->ops->preview(d->billing, id, 4, 0, &d->arena, &p), OUTCOME_DONE);
    assert_int_equal(p.amount_due_minor, 4 * 499);
    same(p.currency, STR("usd"));
}

static void test_an_unknown_object_is_refused(void **state)
{
    struct fixture *d = *state;
    struct billing *b = d->billing;
    struct billing_session session;
    struct billing_subscription sub;
    struct billing_preview preview;
    struct str url, none = STR("none");
    assert_int_equal(d->ops->session_get(b, none, &d->arena, &session), OUTCOME_REFUSED);
    assert_int_equal(d->ops->session_expire(b, none, &d->arena, &session), OUTCOME_REFUSED);
    assert_int_equal(d->ops->portal(b, none, STR("https://door.example/account"), &d->arena, &url), OUTCOME_REFUSED);
    assert_int_equal(d->ops->subscription_get(b, none, &d->arena, &sub), OUTCOME_REFUSED);
    assert_int_equal(d->ops->preview(b, none, 1, 0, &d->arena, &preview), OUTCOME_REFUSED);
    assert_int_equal(d->ops->set_quantity(b, STR("q"), none, 1, 0, &d->arena), OUTCOME_REFUSED);
    struct billing_session_request r = order("k1");
    r.plan = STR("yearly"); /* without a price */
    assert_int_equal(d->ops->session_create(b, &r, &d->arena, &session), OUTCOME_REFUSED);
}

static void test_the_portal_is_next_to_the_account_page(void **state)
{
    struct fixture *d = *state;
    struct str url, customer = pay(d, create(d, "k1").id).customer_id;
    assert_int_equal(d->ops->portal(d->billing, customer, STR("https://door.example/account"), &d->arena, &url),
                     OUTCOME_DONE);
    same(url, arena_printf(&d->arena, "https://door.example/sandbox/portal/%.*s", STR_ARG(customer)));
}

static void test_prices_are_the_configurations(void **state)
{
    struct fixture *d = *state;
    struct billing_prices p;
    assert_int_equal(d->ops->prices(d->billing, &d->arena, &p), OUTCOME_DONE);
    assert_int_equal(p.count, 2);
    assert_true(billing_price_of(&p, STR("weekly"))->available);
    assert_int_equal(billing_price_of(&p, STR("weekly"))->amount_minor, 499);
    assert_false(billing_price_of(&p, STR("yearly"))->available);
    assert_int_equal(billing_price_of(&p, STR("yearly"))->amount_minor, -1);
}

static void test_an_ordered_fault_fails_every_call_before_it_acts(void **state)
{
    struct fixture *d = *state;
    struct billing *b = d->billing;
    struct billing_session session;
    struct billing_subscription sub;
    struct billing_preview preview;
    struct billing_prices prices;
    struct str url;
    struct billing_session paid = pay(d, create(d, "k1").id), open = create(d, "k2");
    const struct {
        enum fault fault;
        enum outcome outcome;
    } cases[] = {{FAULT_TIMEOUT, OUTCOME_UNKNOWN}, {FAULT_ERROR, OUTCOME_UNKNOWN}, {FAULT_DECLINE, OUTCOME_REFUSED}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct billing_session_request r = order("k3");
        assert_true(fault_order(STR("billing"), STR_NONE, cases[i].fault, 8));
        assert_int_equal(d->ops->prices(b, &d->arena, &prices), cases[i].outcome);
        assert_int_equal(d->ops->session_create(b, &r, &d->arena, &session), cases[i].outcome);
        assert_int_equal(d->ops->session_get(b, open.id, &d->arena, &session), cases[i].outcome);
        assert_int_equal(d->ops->session_expire(b, open.id, &d->arena, &session), cases[i].outcome);
        assert_int_equal(d->ops->portal(b, paid.customer_id, STR("https://a/b"), &d->arena, &url), cases[i].outcome);
        assert_int_equal(d->ops->subscription_get(b, paid.subscription_id, &d->arena, &sub), cases[i].outcome);
        assert_int_equal(d->ops->preview(b, paid.subscription_id, 9, 0, &d->arena, &preview), cases[i].outcome);
        assert_int_equal(d->ops->set_quantity(b, STR("q"), paid.subscription_id, 9, 0, &d->arena), cases[i].outcome);
    }
    assert_int_equal(get(d, open.id).status, BILLING_SESSION_OPEN);
    assert_int_equal(subscription(d, paid.subscription_id).quantity, 3);
}

static void test_its_records_survive_a_restart(void **state)
{
    struct fixture *d = *state;
    struct billing_session s = create(d, "k1");
    char *why = NULL;
    billing_free(d->billing);
    d->billing = NULL;
    store_close(d->fixture->store);
    assert_int_equal(store_fixture_start(d->fixture), 0);
    assert_int_equal(billing_new(&d->fixture->config, d->fixture->store, &d->billing, &why), ERR_NONE);
    same(create(d, "k1").id, s.id);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_key_creates_one_session_at_most),
        TEST(test_a_payment_creates_one_customer_and_one_subscription),
        TEST(test_a_session_expires_by_request_or_after_a_day_and_cannot_be_paid_then),
        TEST(test_a_quantity_is_set_once_for_each_key),
        TEST(test_a_preview_is_the_price_of_all_units),
        TEST(test_an_unknown_object_is_refused),
        TEST(test_the_portal_is_next_to_the_account_page),
        TEST(test_prices_are_the_configurations),
        TEST(test_an_ordered_fault_fails_every_call_before_it_acts),
        TEST(test_its_records_survive_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
