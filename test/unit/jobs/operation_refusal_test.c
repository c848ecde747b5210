/* Building operations that a provider refuses, whose subscription ends, or that the operator undoes. */
#include "jobs/operation_fixture.h"

static void test_a_declined_payment_changes_nothing(void **state)
{
    struct fixture *d = *state;
    d->outside->mishap = REFUSES;
    d->outside->mishap_at = 0;
    d->outside->mishaps_left = 1;
    struct operation o = run(d, OPERATION_ADD);
    expect_status(&o, OPERATION_FAILED, "declined");
    assert_int_equal(o.error, ERR_PAYMENT_FAILED);
    consistent(d, 1, "declined");
    assert_int_equal(d->outside->calls, 1);
}

/* BUILDING-19 */
static void test_a_refused_number_undoes_the_rest(void **state)
{
    struct fixture *d = *state;
    d->outside->mishap = REFUSES;
    d->outside->mishap_at = 1;
    for (int refused = 1; refused <= 3; refused++) { /* the rollback, too */
        d->outside->calls = 0;
        d->outside->mishaps_left = refused;
        struct operation o = run(d, OPERATION_ADD);
        expect_status(&o, OPERATION_FAILED, "refused");
        assert_int_equal(o.error, ERR_BUILDING_ADD_FAILED);
        consistent(d, 1, "refused");
    }
}

/* BUILDING-19 */
static void test_a_refused_removal_is_repeated_with_other_keys(void **state)
{
    struct fixture *d = *state;
    for (int at = 0; at < 2; at++) {
        d->outside->mishap_at = -1;
        add_building(d);
        d->outside->mishap = REFUSES;
        d->outside->mishap_at = at;
        d->outside->mishaps_left = 2;
        struct operation o = run(d, OPERATION_REMOVE);
        expect_status(&o, OPERATION_SUCCEEDED, "refused");
        consistent(d, 1, "refused");
    }
}

static void test_the_operator_cannot_complete_a_refused_operation(void **state)
{
    struct fixture *d = *state;
    d->outside->mishap = SILENT;
    d->outside->mishap_at = 1;
    d->outside->mishaps_left = 1000000;
    struct operation o = begin(d, OPERATION_ADD);
    advance(d, OPERATION_STALLED_S + 1);
    d->outside->mishap = REFUSES;
    d->outside->calls = 0;
    d->outside->mishap_at = 1; /* find answers, acquire refuses */
    d->outside->mishaps_left = 1;
    assert_int_equal(resolve(d, &o.id, DECIDE_SUCCEEDED, &o), ERR_NUMBER_NOT_PROVISIONED);
    o = look(d, &o.id);
    expect_status(&o, OPERATION_RECONCILIATION_REQUIRED, "refused");
    assert_int_equal(resolve(d, &o.id, DECIDE_SUCCEEDED, &o), ERR_NONE);
    consistent(d, 2, "in the end");
}

/* BUILDING-22 */
static void test_a_decision_uses_a_new_key(void **state)
{
    struct fixture *d = *state;
    d->outside->stubborn = true;
    struct operation o = begin(d, OPERATION_ADD);
    advance(d, OPERATION_STALLED_S + 1);
    assert_int_equal(resolve(d, &o.id, DECIDE_SUCCEEDED, &o), ERR_NONE);
    expect_status(&o, OPERATION_SUCCEEDED, "stubborn");
    consistent(d, 2, "stubborn");
}

/* A cancellation in the middle must not leave an operation that waits for ever. */
/* BUILDING-19 */
static void test_an_operation_ends_although_its_subscription_is_canceled(void **state)
{
    struct fixture *d = *state;
    add_building(d);
    d->outside->mishap = SILENT;
    d->outside->mishap_at = 1; /* the quantity, after the number */
    d->outside->mishaps_left = 1000000;
    struct operation o = begin(d, OPERATION_REMOVE);
    assert_int_equal(o.step, STEP_REMOVE_QUANTITY);
    d->outside->canceled = true;
    advance(d, 6);
    o = look(d, &o.id);
    expect_status(&o, OPERATION_SUCCEEDED, "canceled");
    d->outside->quantity = 1;
    o = begin(d, OPERATION_ADD);
    expect_status(&o, OPERATION_FAILED, "canceled");
    assert_int_equal(o.error, ERR_PAYMENT_FAILED);
}

/* The provider has released the number, but did not answer. The building gets another one. */
/* BUILDING-23 */
static void test_an_undone_removal_gets_a_new_number_if_the_old_one_is_gone(void **state)
{
    struct fixture *d = *state;
    struct inventory i = {.account = d->account};
    add_building(d);
    d->outside->mishap = LOST;
    d->outside->mishap_at = 0;
    d->outside->mishaps_left = 1000000;
    struct operation o = begin(d, OPERATION_REMOVE);
    advance(d, OPERATION_STALLED_S + 1);
    d->outside->mishap_at = -1;
    assert_int_equal(resolve(d, &o.id, DECIDE_FAILED, &o), ERR_NONE);
    consistent(d, 2, "undone");
    transact(d, STORE_READ, inventory_run, &i);
    assert_string_equal(i.list[1].number.p, "+12025550101");
}

static enum err pool_run(struct tx *tx, void *arg)
{
    const struct fixture *d = arg;
    return number_add_for(tx, STR("+12025550190"), STR("US"), &d->building);
}

/* The operator has given the building a number of the pool meanwhile. The old number is still released. */
static void test_an_undone_removal_keeps_no_number_without_a_building(void **state)
{
    struct fixture *d = *state;
    struct inventory i = {.account = d->account};
    add_building(d);
    d->outside->mishap = SILENT;
    d->outside->mishap_at = 0;
    d->outside->mishaps_left = 1000000;
    struct operation o = begin(d, OPERATION_REMOVE);
    transact(d, STORE_WRITE, pool_run, d);
    advance(d, OPERATION_STALLED_S + 1);
    d->outside->mishap_at = -1;
    assert_int_equal(resolve(d, &o.id, DECIDE_FAILED, &o), ERR_NONE);
    jobs_drain(d->jobs);
    transact(d, STORE_READ, inventory_run, &i);
    assert_string_equal(i.list[1].number.p, "+12025550190");
    assert_null(held_by(d->outside, id_str(&d->building)));
    assert_int_equal(i.numbers, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_declined_payment_changes_nothing),
        TEST(test_a_refused_number_undoes_the_rest),
        TEST(test_a_refused_removal_is_repeated_with_other_keys),
        TEST(test_the_operator_cannot_complete_a_refused_operation),
        TEST(test_a_decision_uses_a_new_key),
        TEST(test_an_operation_ends_although_its_subscription_is_canceled),
        TEST(test_an_undone_removal_gets_a_new_number_if_the_old_one_is_gone),
        TEST(test_an_undone_removal_keeps_no_number_without_a_building),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
