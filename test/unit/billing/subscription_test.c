#include "billing/subscription.h"

#include "domain/number.h"
#include "domain/tx_fixture.h"

static struct id home(struct tx *tx, struct str email)
{
    struct id account;
    const struct building *list;
    size_t count;
    assert_none(account_ensure(tx, email, &account));
    assert_none(building_list(tx, &account, &list, &count));
    return list[0].id;
}

static struct str number_of(struct tx *tx, const struct id *building)
{
    CURSOR c;
    assert_none(db_one(tx->db, SQL(building_for_number, .id = building), &c));
    return row_building_for_number(&c, tx->arena).virtual_number;
}

static void take_in(struct tx *tx, const struct id *building, const char *number)
{
    struct str held;
    assert_none(number_add_provided(tx, building, str_z(number), &held));
}

static struct account account(struct tx *tx)
{
    struct id id;
    struct account a;
    assert_none(account_ensure(tx, OWNER, &id));
    assert_none(account_get(tx, &id, &a));
    return a;
}

static void set(struct tx *tx, enum subscription_status status, const char *plan)
{
    struct account a = account(tx);
    assert_none(subscription_set(tx, &a.id, status, str_z(plan)));
}

/* BILLING-20 */
static void test_activation_asks_for_a_number_for_every_building_without_one(struct tx *tx)
{
    struct id a = home(tx, OWNER);
    struct str payload;
    set(tx, SUBSCRIPTION_ACTIVE, NULL);
    assert_str(account(tx).plan, "weekly");
    assert_int_equal(account(tx).status, SUBSCRIPTION_ACTIVE);
    assert_int_equal(take_jobs(tx, JOB_PROVISION, &payload), 1);
    assert_str(payload, a.text);
    take_in(tx, &a, "+12125550000");
    tx->now_us += MINUTES;
    tx_sql(tx, "DELETE FROM job");
    set(tx, SUBSCRIPTION_PAST_DUE, NULL);
    set(tx, SUBSCRIPTION_ACTIVE, "yearly");
    assert_str(account(tx).plan, "yearly");
    assert_int_equal(take_jobs(tx, JOB_PROVISION, &payload), 0);
}

static void test_past_due_keeps_the_plan(struct tx *tx)
{
    set(tx, SUBSCRIPTION_ACTIVE, "yearly");
    set(tx, SUBSCRIPTION_PAST_DUE, NULL);
    assert_str(account(tx).plan, "yearly");
    assert_int_equal(account(tx).status, SUBSCRIPTION_PAST_DUE);
}

static void test_an_unknown_plan_or_account_is_refused(struct tx *tx)
{
    struct account a = account(tx);
    assert_error(subscription_set(tx, &a.id, SUBSCRIPTION_ACTIVE, STR("daily")), ERR_INVALID_PLAN);
    assert_error(subscription_set(tx, &(struct id){"ffffffffffffffffffffffff"}, SUBSCRIPTION_NONE, STR_NONE),
                 ERR_ACCOUNT_NOT_FOUND);
}

/* BILLING-22 */
static void test_numbers_are_released_30_days_after_the_end(struct tx *tx)
{
    struct id a = home(tx, OWNER);
    struct account owner = account(tx);
    int64_t due_us;
    set(tx, SUBSCRIPTION_ACTIVE, NULL);
    take_in(tx, &a, "+12125550000");
    set(tx, SUBSCRIPTION_NONE, NULL);
    assert_null(account(tx).plan.p);
    const int64_t ended_us = tx->now_us;
    assert_int_equal(take_jobs(tx, JOB_RELEASE_NUMBERS, NULL), 0);
    tx->now_us += 23 * DAYS - 1;
    assert_none(subscription_release_numbers(tx, &owner.id, &due_us));
    assert_int_equal(due_us, ended_us + 23 * DAYS);
    assert_int_equal(take_jobs(tx, JOB_MAIL, NULL), 0);
    tx->now_us += 1;
    assert_int_equal(take_jobs(tx, JOB_RELEASE_NUMBERS, NULL), 1);
    assert_none(subscription_release_numbers(tx, &owner.id, &due_us));
    assert_int_equal(due_us, ended_us + 30 * DAYS);
    assert_int_equal(take_jobs(tx, JOB_MAIL, NULL), 1);
    assert_non_null(number_of(tx, &a).p);
    tx->now_us = due_us;
    assert_none(subscription_release_numbers(tx, &owner.id, &due_us));
    assert_int_equal(due_us, 0);
    assert_int_equal(take_jobs(tx, JOB_MAIL, NULL), 1);
    assert_null(number_of(tx, &a).p);
}

static void test_a_renewal_keeps_the_number_and_a_second_end_starts_a_new_period(struct tx *tx)
{
    struct id a = home(tx, OWNER);
    struct account owner = account(tx);
    int64_t due_us;
    set(tx, SUBSCRIPTION_ACTIVE, NULL);
    take_in(tx, &a, "+12125550000");
    set(tx, SUBSCRIPTION_NONE, NULL);
    tx->now_us += 20 * DAYS;
    set(tx, SUBSCRIPTION_ACTIVE, NULL);
    tx->now_us += 10 * DAYS;
    assert_none(subscription_release_numbers(tx, &owner.id, &due_us));
    assert_non_null(number_of(tx, &a).p);
    set(tx, SUBSCRIPTION_NONE, NULL);
    set(tx, SUBSCRIPTION_NONE, NULL); /* reported twice, it ends once */
    assert_none(subscription_release_numbers(tx, &owner.id, &due_us));
    assert_non_null(number_of(tx, &a).p);
    tx->now_us += 30 * DAYS;
    assert_none(subscription_release_numbers(tx, &owner.id, &due_us));
    assert_null(number_of(tx, &a).p);
}

static void test_the_statuses_of_billing_providers_are_parsed(struct tx *tx)
{
    (void)tx;
    enum subscription_status s;
    assert_true(subscription_status_parse(STR("canceled"), &s));
    assert_int_equal(s, SUBSCRIPTION_NONE);
    assert_true(subscription_status_parse(STR("past_due"), &s));
    assert_int_equal(s, SUBSCRIPTION_PAST_DUE);
    assert_false(subscription_status_parse(STR("none"), &s));
    assert_false(subscription_status_parse(STR_NONE, &s));
}

#define TESTS(x)                                                                                                       \
    x(test_activation_asks_for_a_number_for_every_building_without_one) x(test_past_due_keeps_the_plan)                \
        x(test_an_unknown_plan_or_account_is_refused) x(test_numbers_are_released_30_days_after_the_end)               \
            x(test_a_renewal_keeps_the_number_and_a_second_end_starts_a_new_period)                                    \
                x(test_the_statuses_of_billing_providers_are_parsed)
TX_RUN(TESTS)
