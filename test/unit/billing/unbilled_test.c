/* Accounts while no provider bills, and when one does again. */
#include "billing/unbilled.h"

#include "domain/building_fixture.h"

#define STATE                                                                                                          \
    "SELECT plan, subscription_status, billed_plan, billed_status, subscription_id FROM account "                      \
    "WHERE email = 'owner@example.com'"

static enum err settle_run(struct tx *tx, void *more)
{
    return unbilled_settle(tx, more);
}

/* Returns the number of further transactions that it takes. */
static int settle(struct building_fixture *fx, bool unbilled)
{
    bool more = false;
    int further = -1;
    fx->fixture->config.unbilled = unbilled;
    fx->fixture->config.billing_free_plan = "weekly";
    do {
        assert_int_equal(fixture_run(fx, STORE_WRITE, settle_run, &more), ERR_NONE);
        further++;
    } while (more && further < 10);
    return further;
}

/* BILLING-30 */
static void test_an_account_becomes_active_and_gets_back_what_it_had(void **state)
{
    static const struct {
        const char *had, *without, *again;
    } cases[] = {
        {"plan = NULL, subscription_status = 'none', subscription_id = NULL", "weekly|active||none|\n", "|none|||\n"},
        {"plan = 'yearly', subscription_status = 'past_due', subscription_id = 'sub_1'",
         "weekly|active|yearly|past_due|sub_1\n", "yearly|past_due|||sub_1\n"},
        {"plan = 'weekly', subscription_status = 'active', subscription_id = 'sub_2'",
         "weekly|active|weekly|active|sub_2\n", "weekly|active|||sub_2\n"},
    };
    struct building_fixture *fx = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture_sql(fx, arena_printf(&fx->arena, "UPDATE account SET %s", cases[i].had).p);
        for (int start = 0; start < 2; start++) {
            settle(fx, true);
            fixture_expect(fx, STATE, cases[i].without);
        }
        for (int start = 0; start < 2; start++) {
            settle(fx, false);
            fixture_expect(fx, STATE, cases[i].again);
        }
    }
}

static void test_another_free_plan_keeps_what_the_account_had(void **state)
{
    struct building_fixture *fx = *state;
    fixture_sql(fx, "UPDATE account SET subscription_status = 'past_due', subscription_id = 'sub_1'");
    settle(fx, true);
    fx->fixture->config.billing_free_plan = "yearly";
    bool more;
    assert_int_equal(fixture_run(fx, STORE_WRITE, settle_run, &more), ERR_NONE);
    fixture_expect(fx, STATE, "yearly|active|weekly|past_due|sub_1\n");
}

static void test_a_plan_that_is_configured_no_more_becomes_the_default(void **state)
{
    struct building_fixture *fx = *state;
    fixture_sql(fx, "UPDATE account SET plan = 'daily', subscription_id = 'sub_1'");
    settle(fx, true);
    fixture_expect(fx, STATE, "weekly|active|daily|active|sub_1\n");
    settle(fx, false);
    fixture_expect(fx, STATE, "weekly|active|||sub_1\n");
}

static void test_buildings_get_numbers_and_a_subscription_is_read_again(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    fixture_sql(fx, "UPDATE account SET subscription_id = 'sub_1'");
    fixture_sql(fx, "UPDATE building SET virtual_number = NULL");
    fixture_sql(fx, "DELETE FROM job");
    settle(fx, true);
    fixture_expect(fx, "SELECT kind FROM job ORDER BY kind", "provision\n");
    settle(fx, false);
    fixture_expect(fx, "SELECT kind FROM job WHERE kind = 'billing_sync'", "billing_sync\n");
    fixture_expect(fx, "SELECT count(*) FROM account WHERE subscription_ended_at IS NOT NULL", "1\n");
}

static void test_a_store_without_change_is_left_alone(void **state)
{
    struct building_fixture *fx = *state;
    fixture_sql(fx, "DELETE FROM job");
    assert_int_equal(settle(fx, false), 0);
    fixture_expect(fx, STATE, "weekly|active|||\n");
    fixture_expect(fx, "SELECT count(*) FROM job", "0\n");
}

static void test_many_accounts_take_several_transactions(void **state)
{
    struct building_fixture *fx = *state;
    /* With the fixture's own, one more than two batches have. */
    fixture_sql(fx, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400) "
                    "INSERT INTO account (id, email, created_at) SELECT (100000 + i) || 'aaaaaaaaaaaaaaaaaa', "
                    "'a' || i || '@example.com', 0 FROM n");
    assert_int_equal(settle(fx, true), 2);
    fixture_expect(fx, "SELECT count(*) FROM account WHERE subscription_status = 'active' AND billed_status <> ''",
                   "401\n");
    assert_int_equal(settle(fx, false), 2);
    fixture_expect(fx, "SELECT count(*) FROM account WHERE billed_status IS NOT NULL", "0\n");
    fixture_expect(fx, "SELECT count(*) FROM account WHERE subscription_status = 'active'", "1\n");
}

// clang-format off
#define TESTS(x) \
    x(test_an_account_becomes_active_and_gets_back_what_it_had), \
    x(test_another_free_plan_keeps_what_the_account_had), \
    x(test_a_plan_that_is_configured_no_more_becomes_the_default), \
    x(test_buildings_get_numbers_and_a_subscription_is_read_again), \
    x(test_a_store_without_change_is_left_alone), \
    x(test_many_accounts_take_several_transactions)
// clang-format on
FIXTURE_RUN(TESTS)
