#include "tx_fixture.h"

#include "domain/number.h"

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

static const struct id nobody = {"ffffffffffffffffffffffff"};

/* The number that the building gets from the inventory; STR_NONE: the provider must be asked. */
static struct str claimed(struct tx *tx, const struct id *building)
{
    struct number_claim claim;
    assert_none(number_claim(tx, building, &claim));
    return claim.number;
}

static struct str taken_in(struct tx *tx, const struct id *building, const char *number)
{
    struct str held;
    assert_none(number_add_provided(tx, building, str_z(number), &held));
    return held;
}

static bool leaving(struct tx *tx, const char *number)
{
    bool is;
    assert_none(number_leaving(tx, str_z(number), &is));
    return is;
}

static size_t inventory(struct tx *tx, const struct number **ret)
{
    size_t count;
    assert_none(number_list(tx, ret, &count));
    return count;
}

static void test_a_building_gets_a_number_of_the_pool_and_keeps_it(struct tx *tx)
{
    struct id a = home(tx, OWNER);
    const struct number *list;
    assert_none(number_add(tx, STR("+12125550000"), STR("US")));
    assert_none(number_add(tx, STR("+12125550000"), STR("US")));
    assert_str(claimed(tx, &a), "+12125550000");
    assert_str(claimed(tx, &a), "+12125550000");
    assert_str(number_of(tx, &a), "+12125550000");
    assert_int_equal(inventory(tx, &list), 1);
    assert_id(list[0].building_id, a);
    assert_true(list[0].pooled);
    assert_true(str_eq(list[0].email, OWNER));
    assert_int_equal(list[0].held_since_us, TX_NOW);
}

/* BUILDING-25 */
static void test_the_provider_is_asked_if_the_pool_has_no_number_of_the_country(struct tx *tx)
{
    struct id a = home(tx, OWNER);
    struct number_claim claim;
    assert_none(number_add(tx, STR("+14165550000"), STR("CA")));
    assert_none(number_claim(tx, &a, &claim));
    assert_null(claim.number.p);
    assert_str(claim.country, "US");
    tx_sql(tx, "UPDATE building SET country = 'CA'");
    assert_str(claimed(tx, &a), "+14165550000");
    assert_error(number_claim(tx, &nobody, &claim), ERR_BUILDING_NOT_FOUND);
}

/* BUILDING-25 */
static void test_the_pool_gives_unused_numbers_first_and_then_the_least_recently_used(struct tx *tx)
{
    struct id a = home(tx, OWNER), b = home(tx, STR("b@example.com"));
    tx_sql(tx, "INSERT INTO number (number, country, released_at) VALUES "
               "('+12125550001', 'US', 20), ('+12125550002', 'US', 10), ('+12125550003', 'US', 0)");
    assert_str(claimed(tx, &a), "+12125550003");
    assert_str(claimed(tx, &b), "+12125550002");
}

/* BUILDING-26 */
static void test_a_number_of_the_pool_returns_to_it(struct tx *tx)
{
    struct id a = home(tx, OWNER), b = home(tx, STR("b@example.com"));
    assert_none(number_add(tx, STR("+12125550000"), STR("US")));
    assert_str(claimed(tx, &a), "+12125550000");
    assert_none(number_release(tx, STR("+12125550000")));
    assert_null(number_of(tx, &a).p);
    assert_false(leaving(tx, "+12125550000"));
    assert_int_equal(take_jobs(tx, JOB_RELEASE_NUMBER, NULL), 0);
    assert_error(number_release(tx, STR("+12125550000")), ERR_NUMBER_NOT_FOUND);
    assert_str(claimed(tx, &b), "+12125550000");
}

static void test_a_provided_number_is_added_once_however_often_it_is_reported(struct tx *tx)
{
    struct id a = home(tx, OWNER);
    const struct number *list;
    assert_str(taken_in(tx, &a, "+12125550000"), "+12125550000");
    assert_str(taken_in(tx, &a, "+12125550000"), "+12125550000");
    assert_str(number_of(tx, &a), "+12125550000");
    assert_int_equal(inventory(tx, &list), 1);
    assert_false(list[0].pooled);
}

static void test_a_provided_number_leaves_with_its_building(struct tx *tx)
{
    struct id a = home(tx, OWNER), b = home(tx, STR("b@example.com"));
    struct str payload, held;
    assert_str(taken_in(tx, &a, "+12125550000"), "+12125550000");
    assert_none(number_release(tx, STR("+12125550000")));
    assert_true(leaving(tx, "+12125550000"));
    assert_null(claimed(tx, &b).p);
    assert_int_equal(take_jobs(tx, JOB_RELEASE_NUMBER, &payload), 1);
    assert_str(payload, "+12125550000");
    assert_error(number_add_provided(tx, &b, STR("+12125550000"), &held), ERR_NUMBER_NOT_PROVISIONED);
    assert_none(number_forget(tx, STR("+12125550000")));
    assert_false(leaving(tx, "+12125550000"));
    assert_str(taken_in(tx, &b, "+12125550000"), "+12125550000");
    assert_none(number_forget(tx, STR("+12125550000")));
    assert_str(number_of(tx, &b), "+12125550000");
    assert_int_equal(inventory(tx, &(const struct number *){NULL}), 1);
}

static void test_a_number_for_a_deleted_or_provisioned_building_leaves_at_once(struct tx *tx)
{
    struct id a = home(tx, OWNER);
    assert_null(taken_in(tx, &nobody, "+12125550009").p);
    assert_true(leaving(tx, "+12125550009"));
    assert_none(number_add(tx, STR("+12125550000"), STR("US")));
    assert_str(claimed(tx, &a), "+12125550000");
    assert_str(taken_in(tx, &a, "+12125550001"), "+12125550000");
    assert_true(leaving(tx, "+12125550001"));
    assert_str(number_of(tx, &a), "+12125550000");
    assert_int_equal(take_jobs(tx, JOB_RELEASE_NUMBER, NULL), 2);
}

static void test_a_detached_number_can_be_attached_again_unless_another_building_has_it(struct tx *tx)
{
    struct id a = home(tx, OWNER), b = home(tx, STR("b@example.com"));
    struct str number;
    bool has;
    assert_str(taken_in(tx, &a, "+12125550000"), "+12125550000");
    assert_none(number_detach(tx, &a, &number, &has));
    assert_str(number, "+12125550000");
    assert_true(has);
    assert_none(number_detach(tx, &a, &number, &has));
    assert_null(number.p);
    assert_false(has);
    assert_none(number_detach(tx, &nobody, &number, &has));
    assert_null(number.p);
    assert_int_equal(take_jobs(tx, JOB_RELEASE_NUMBER, NULL), 0);
    assert_none(number_reattach(tx, &a, STR("+12125550000"), &has));
    assert_true(has);
    assert_str(number_of(tx, &a), "+12125550000");
    assert_none(number_reattach(tx, &b, STR("+12125550000"), &has));
    assert_false(has);
    assert_null(number_of(tx, &b).p);
}

#define TESTS(x)                                                                                                       \
    x(test_a_building_gets_a_number_of_the_pool_and_keeps_it)                                                          \
        x(test_the_provider_is_asked_if_the_pool_has_no_number_of_the_country)                                         \
            x(test_the_pool_gives_unused_numbers_first_and_then_the_least_recently_used)                               \
                x(test_a_number_of_the_pool_returns_to_it)                                                             \
                    x(test_a_provided_number_is_added_once_however_often_it_is_reported)                               \
                        x(test_a_provided_number_leaves_with_its_building)                                             \
                            x(test_a_number_for_a_deleted_or_provisioned_building_leaves_at_once)                      \
                                x(test_a_detached_number_can_be_attached_again_unless_another_building_has_it)
TX_RUN(TESTS)
