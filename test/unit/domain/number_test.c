#include "rules.h"

#include "domain/number.h"
#include "domain/subscription.h"

/* The config of the test's own fixture is a plain struct. */
static void set_production(struct op *op)
{
    ((struct config *)op->config)->production = true;
}

static struct id home(struct op *op, struct str email)
{
    struct id account;
    const struct building *list;
    size_t count;
    assert_none(account_ensure(op, email, &account));
    assert_none(building_list(op, &account, &list, &count));
    return list[0].id;
}

static struct str number_of(struct op *op, const struct id *building)
{
    CURSOR c;
    assert_none(db_one(op->db, SQL_BUILDING_FOR_NUMBER, DB_ARGS(v_str(id_str(building))), &c));
    return col_copy(&c, 1, op->arena);
}

static void test_the_sandbox_mints_numbers_from_its_ranges(struct op *op)
{
    struct id a = home(op, OWNER), b = home(op, STR("b@example.com")), c = home(op, STR("c@example.com"));
    struct str number;
    assert_none(number_allocate(op, &a, &number));
    assert_str(number, "+15550100000");
    assert_none(number_allocate(op, &b, &number));
    assert_str(number, "+15550100001");
    rules_sql(op, "UPDATE building SET country = 'CA' WHERE virtual_number IS NULL");
    assert_none(number_allocate(op, &c, &number));
    assert_str(number, "+15550200000");
    assert_str(number_of(op, &c), "+15550200000");
}

static void test_a_building_keeps_the_number_it_has(struct op *op)
{
    struct id a = home(op, OWNER);
    struct str first, second;
    assert_none(number_allocate(op, &a, &first));
    assert_none(number_allocate(op, &a, &second));
    assert_true(str_eq(first, second));
    const struct number *list;
    size_t count;
    assert_none(number_list(op, &list, &count));
    assert_int_equal(count, 1);
    assert_id(list[0].building_id, a);
    assert_true(str_eq(list[0].email, OWNER));
    assert_int_equal(list[0].held_since_us, RULES_NOW);
}

static void test_a_released_number_is_reused_last(struct op *op)
{
    struct id a = home(op, OWNER), b = home(op, STR("b@example.com"));
    struct str number;
    assert_none(number_allocate(op, &a, &number));
    assert_none(number_release(op, number));
    assert_null(number_of(op, &a).p);
    assert_error(number_release(op, number), ERR_NUMBER_NOT_FOUND);
    assert_none(number_allocate(op, &b, &number));
    assert_str(number, "+15550100001");
    set_production(op);
    assert_none(number_allocate(op, &a, &number));
    assert_str(number, "+15550100000");
}

static void test_a_used_up_range_reuses_what_was_given_back_longest_ago(struct op *op)
{
    struct id a = home(op, OWNER), b = home(op, STR("b@example.com"));
    rules_sql(op, "INSERT INTO number (number, country, building_id, released_at) VALUES "
                  "('+15550199999', 'US', 'x', 0), ('+15550100005', 'US', NULL, 20), ('+15550100006', 'US', NULL, 10)");
    struct str number;
    assert_none(number_allocate(op, &a, &number));
    assert_str(number, "+15550100006");
    assert_none(number_allocate(op, &b, &number));
    assert_str(number, "+15550100005");
    struct id c = home(op, STR("c@example.com"));
    assert_error(number_allocate(op, &c, &number), ERR_NUMBER_NOT_PROVISIONED);
}

static void test_production_has_only_what_the_operator_added(struct op *op)
{
    struct id a = home(op, OWNER);
    struct str number;
    set_production(op);
    assert_error(number_allocate(op, &a, &number), ERR_NUMBER_NOT_PROVISIONED);
    assert_none(number_add(op, STR("+14165550000"), STR("CA")));
    assert_error(number_allocate(op, &a, &number), ERR_NUMBER_NOT_PROVISIONED);
    assert_none(number_add(op, STR("+12125550000"), STR("US")));
    assert_none(number_add(op, STR("+12125550000"), STR("US")));
    assert_none(number_allocate(op, &a, &number));
    assert_str(number, "+12125550000");
    assert_error(number_allocate(op, &(struct id){"ffffffffffffffffffffffff"}, &number), ERR_BUILDING_NOT_FOUND);
}

/* ---- subscriptions ---- */

static struct account account(struct op *op)
{
    struct id id;
    struct account a;
    assert_none(account_ensure(op, OWNER, &id));
    assert_none(account_get(op, &id, &a));
    return a;
}

static void set(struct op *op, enum subscription_status status, const char *plan)
{
    struct account a = account(op);
    assert_none(subscription_set(op, &a.id, status, str_z(plan)));
}

static void test_activation_asks_for_a_number_for_every_building_without_one(struct op *op)
{
    struct id a = home(op, OWNER);
    struct str payload;
    set(op, SUBSCRIPTION_ACTIVE, NULL);
    assert_str(account(op).plan, "weekly");
    assert_int_equal(account(op).status, SUBSCRIPTION_ACTIVE);
    assert_int_equal(rules_take_jobs(op, JOB_PROVISION, &payload), 1);
    assert_str(payload, a.text);
    assert_none(number_allocate(op, &a, NULL));
    op->now_us += MINUTES;
    rules_sql(op, "DELETE FROM job");
    set(op, SUBSCRIPTION_PAST_DUE, NULL);
    set(op, SUBSCRIPTION_ACTIVE, "yearly");
    assert_str(account(op).plan, "yearly");
    assert_int_equal(rules_take_jobs(op, JOB_PROVISION, &payload), 0);
}

static void test_past_due_keeps_the_plan(struct op *op)
{
    set(op, SUBSCRIPTION_ACTIVE, "yearly");
    set(op, SUBSCRIPTION_PAST_DUE, NULL);
    assert_str(account(op).plan, "yearly");
    assert_int_equal(account(op).status, SUBSCRIPTION_PAST_DUE);
}

static void test_an_unknown_plan_or_account_is_refused(struct op *op)
{
    struct account a = account(op);
    assert_error(subscription_set(op, &a.id, SUBSCRIPTION_ACTIVE, STR("daily")), ERR_INVALID_PLAN);
    assert_error(subscription_set(op, &(struct id){"ffffffffffffffffffffffff"}, SUBSCRIPTION_NONE, STR_NONE),
                 ERR_ACCOUNT_NOT_FOUND);
}

static void test_numbers_are_released_30_days_after_the_end(struct op *op)
{
    struct id a = home(op, OWNER);
    struct account owner = account(op);
    set(op, SUBSCRIPTION_ACTIVE, NULL);
    assert_none(number_allocate(op, &a, NULL));
    set(op, SUBSCRIPTION_NONE, NULL);
    assert_null(account(op).plan.p);
    assert_int_equal(rules_take_jobs(op, JOB_RELEASE_NUMBERS, NULL), 0);
    op->now_us += 30 * DAYS - 1;
    assert_none(subscription_release_numbers(op, &owner.id));
    assert_non_null(number_of(op, &a).p);
    op->now_us += 1;
    assert_int_equal(rules_take_jobs(op, JOB_RELEASE_NUMBERS, NULL), 1);
    assert_none(subscription_release_numbers(op, &owner.id));
    assert_null(number_of(op, &a).p);
}

static void test_a_renewal_keeps_the_number_and_a_second_end_counts_anew(struct op *op)
{
    struct id a = home(op, OWNER);
    struct account owner = account(op);
    set(op, SUBSCRIPTION_ACTIVE, NULL);
    assert_none(number_allocate(op, &a, NULL));
    set(op, SUBSCRIPTION_NONE, NULL);
    op->now_us += 20 * DAYS;
    set(op, SUBSCRIPTION_ACTIVE, NULL);
    op->now_us += 10 * DAYS;
    assert_none(subscription_release_numbers(op, &owner.id));
    assert_non_null(number_of(op, &a).p);
    set(op, SUBSCRIPTION_NONE, NULL);
    set(op, SUBSCRIPTION_NONE, NULL); /* said twice, it ended once */
    assert_none(subscription_release_numbers(op, &owner.id));
    assert_non_null(number_of(op, &a).p);
    op->now_us += 30 * DAYS;
    assert_none(subscription_release_numbers(op, &owner.id));
    assert_null(number_of(op, &a).p);
}

static void test_statuses_are_read_as_billing_providers_say_them(struct op *op)
{
    (void)op;
    enum subscription_status s;
    assert_true(subscription_status_parse(STR("canceled"), &s));
    assert_int_equal(s, SUBSCRIPTION_NONE);
    assert_true(subscription_status_parse(STR("past_due"), &s));
    assert_int_equal(s, SUBSCRIPTION_PAST_DUE);
    assert_false(subscription_status_parse(STR("none"), &s));
    assert_false(subscription_status_parse(STR_NONE, &s));
}

#define TESTS(x)                                                                                                       \
    x(test_the_sandbox_mints_numbers_from_its_ranges) x(test_a_building_keeps_the_number_it_has)                       \
        x(test_a_released_number_is_reused_last) x(test_a_used_up_range_reuses_what_was_given_back_longest_ago)        \
            x(test_production_has_only_what_the_operator_added)                                                        \
                x(test_activation_asks_for_a_number_for_every_building_without_one) x(test_past_due_keeps_the_plan)    \
                    x(test_an_unknown_plan_or_account_is_refused) x(test_numbers_are_released_30_days_after_the_end)   \
                        x(test_a_renewal_keeps_the_number_and_a_second_end_counts_anew)                                \
                            x(test_statuses_are_read_as_billing_providers_say_them)
RULES_RUN(TESTS)
