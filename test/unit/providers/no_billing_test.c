/* No billing: every account has one subscription that costs nothing, and nothing can be bought. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "providers/billing_fixture.h"

#define ACCOUNT "0123456789abcdef01234567"
#define OTHER   "0123456789abcdef01234568"

static void configure(struct config *c)
{
    c->billing_provider = "none";
    c->unbilled = true;
    c->billing_free_plan = "yearly";
    c->plans[0] = (struct config_plan){"weekly", 499, "usd", "week", 1, true, ""};
    c->plans[1] = (struct config_plan){"yearly", 9900, "eur", "year", 1, false, ""};
}

static int set_up(void **state)
{
    return billing_fixture_open(state, configure);
}

struct added {
    struct id account, building;
};

static enum err add_run(void *arg, struct db *db)
{
    const struct added *b = arg;
    return db_exec(
        db,
        SQL(building_insert_primary, .account_id = &b->account, .id = &b->building, .created_at = 0, .label = STR("x")),
        NULL);
}

static void add_building(struct fixture *d, const char *account, const char *building)
{
    struct added b = {{{0}}, {{0}}};
    assert_true(id_parse(str_z(account), &b.account) && id_parse(str_z(building), &b.building));
    assert_int_equal(store_run(d->fixture->store, STORE_WRITE, add_run, &b), ERR_NONE);
}

static struct billing_subscription subscription(struct fixture *d, const char *id)
{
    struct billing_subscription s;
    assert_int_equal(d->ops->subscription_get(d->billing, str_z(id), &d->arena, &s), OUTCOME_DONE);
    return s;
}

#define assert_str(s, wanted) assert_true(str_eq((s), str_z(wanted)))

static void an_account_has_an_active_unit_for_each_building_at_no_price(void **state)
{
    struct fixture *d = *state;
    assert_int_equal(subscription(d, ACCOUNT).quantity, 0);
    add_building(d, ACCOUNT, "000000000000000000000001");
    add_building(d, ACCOUNT, "000000000000000000000002");
    add_building(d, OTHER, "000000000000000000000003");
    const struct billing_subscription s = subscription(d, ACCOUNT);
    assert_int_equal(s.quantity, 2);
    assert_int_equal(s.status, BILLING_ACTIVE);
    assert_int_equal(s.amount_minor, 0);
    assert_str(s.id, ACCOUNT);
    assert_str(s.account_id, ACCOUNT);
    assert_int_equal(s.customer_id.n, 0);
    assert_str(s.plan, "yearly");
    assert_str(s.currency, "eur");
    assert_str(s.interval, "year");
    assert_int_equal(subscription(d, OTHER).quantity, 1);
}

static void the_free_plan_has_the_only_price(void **state)
{
    struct fixture *d = *state;
    struct billing_prices prices;
    assert_int_equal(d->ops->prices(d->billing, &d->arena, &prices), OUTCOME_DONE);
    assert_int_equal(prices.count, 1);
    assert_str(prices.items[0].plan, "yearly");
    assert_str(prices.items[0].currency, "eur");
    assert_str(prices.items[0].interval, "year");
    assert_int_equal(prices.items[0].interval_count, 1);
    assert_int_equal(prices.items[0].amount_minor, 0);
    d->fixture->config.billing_free_plan = "weekly";
    assert_int_equal(d->ops->prices(d->billing, &d->arena, &prices), OUTCOME_DONE);
    assert_str(prices.items[0].plan, "weekly");
}

/* BILLING-29 */
static void nothing_can_be_bought(void **state)
{
    struct fixture *d = *state;
    const struct billing_session_request request = {.account_id = STR(ACCOUNT), .plan = STR("weekly"), .quantity = 1};
    struct billing_session session;
    struct str url;
    assert_int_equal(d->ops->session_create(d->billing, &request, &d->arena, &session), OUTCOME_REFUSED);
    assert_int_equal(d->ops->portal(d->billing, STR("cus_1"), STR("https://x/"), &d->arena, &url), OUTCOME_REFUSED);
}

/* An operation that began with another provider must wait for it. */
/* BILLING-31 */
static void objects_of_other_providers_are_out_of_reach(void **state)
{
    static const char *const ids[] = {"", "sub_1NvqJqLkdIwHu7ix", "0123456789ABCDEF0123456G", ACCOUNT "0"};
    struct fixture *d = *state;
    struct billing_session session;
    struct billing_subscription s;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const struct str id = str_z(ids[i]);
        assert_int_equal(d->ops->session_get(d->billing, id, &d->arena, &session), OUTCOME_UNKNOWN);
        assert_int_equal(d->ops->session_expire(d->billing, id, &d->arena, &session), OUTCOME_UNKNOWN);
        assert_int_equal(d->ops->subscription_get(d->billing, id, &d->arena, &s), OUTCOME_UNKNOWN);
        assert_int_equal(d->ops->set_quantity(d->billing, STR("key"), id, 2, 0, &d->arena), OUTCOME_UNKNOWN);
    }
}

static void another_building_costs_nothing(void **state)
{
    struct fixture *d = *state;
    struct billing_preview p = {.amount_due_minor = 1};
    assert_int_equal(d->ops->preview(d->billing, STR(ACCOUNT), 3, 0, &d->arena, &p), OUTCOME_DONE);
    assert_int_equal(p.amount_due_minor, 0);
    assert_str(p.currency, "eur");
    assert_int_equal(d->ops->set_quantity(d->billing, STR("key"), STR(ACCOUNT), 3, 0, &d->arena), OUTCOME_DONE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, billing_fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_account_has_an_active_unit_for_each_building_at_no_price),
        TEST(the_free_plan_has_the_only_price),
        TEST(nothing_can_be_bought),
        TEST(objects_of_other_providers_are_out_of_reach),
        TEST(another_building_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
