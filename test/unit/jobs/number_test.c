/* Numbers between the built-in provider and the inventory, with faults at every step: no number stays bought without an
 * owner. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/crypto.h"
#include "billing/subscription.h"
#include "domain/job.h"
#include "domain/number.h"
#include "domain/work.h"
#include "jobs/number.h"
#include "jobs/subscription.h"
#include "providers/fault.h"
#include "store/fixture.h"

#define EMAIL STR("a@example.com")
#define FIRST "+15550100000"

struct fixture {
    struct number_source source; /* the numbers, where a release may end just after a request was answered */
    bool release_ends;
    struct store_fixture *fixture;
    struct number_source *numbers;
    struct jobs *jobs;
    struct job_kind kinds[4];
    struct arena arena;
    struct work work;
};

static void transact(struct fixture *d, enum store_mode mode, enum err (*run)(struct tx *tx, void *arg), void *arg)
{
    assert_int_equal(work_run(&d->work, mode, run, arg), ERR_NONE);
}

static enum err forget_number_run(struct tx *tx, void *number)
{
    return number_forget(tx, str_z(number));
}

static enum outcome acquire(struct number_source *s, struct str reference, struct str country, int64_t until_us,
                            struct arena *a, struct str *ret)
{
    struct fixture *d = (struct fixture *)s;
    enum outcome o = d->numbers->ops->acquire(d->numbers, reference, country, until_us, a, ret);
    if (d->release_ends) {
        assert_int_equal(d->numbers->ops->release(d->numbers, *ret), OUTCOME_DONE);
        transact(d, STORE_WRITE, forget_number_run, FIRST);
    }
    d->release_ends = false;
    return o;
}

static enum outcome find(struct number_source *s, struct str reference, struct arena *a, struct str *ret)
{
    const struct fixture *d = (struct fixture *)s;
    return d->numbers->ops->find(d->numbers, reference, a, ret);
}

static const struct number_source_ops ops = {.acquire = acquire, .find = find};

static int set_up(void **state)
{
    struct fixture *d = calloc(1, sizeof *d);
    void *fixture;
    if (!d || store_fixture_open(&fixture))
        return -1;
    crypto_set_master((const unsigned char[SHA256_LEN]){1}, NULL);
    d->fixture = fixture;
    d->fixture->config.plans[0].id = "weekly";
    d->fixture->config.plans[1].id = "yearly";
    arena_init(&d->arena, NULL, 0);
    d->work = (struct work){.store = d->fixture->store, .config = &d->fixture->config, .arena = &d->arena};
    *state = d;
    d->numbers = builtin_numbers_new(d->fixture->store);
    d->source.ops = &ops;
    d->kinds[0] = jobs_kind_provision(&d->source);
    d->kinds[1] = jobs_kind_release_number(d->numbers);
    d->kinds[2] = jobs_kind_release_all_numbers();
    d->kinds[3] = jobs_kind_numbers();
    const struct jobs_options options = {
        .config = &d->fixture->config, .store = d->fixture->store, .kinds = d->kinds, .kind_count = 4};
    d->jobs = jobs_new(&options);
    return jobs_start(d->jobs, NULL) ? -1 : 0;
}

static int tear_down(void **state)
{
    struct fixture *d = *state;
    void *fixture = d->fixture;
    fault_order(STR("numbers"), STR_NONE, FAULT_NONE, 0);
    jobs_free(d->jobs);
    number_source_free(d->numbers);
    arena_done(&d->arena);
    clock_set_offset_s(0);
    free(d);
    return store_fixture_close(&fixture);
}

static void advance(struct fixture *d, int64_t seconds)
{
    clock_set_offset_s(clock_offset_s() + seconds);
    jobs_drain(d->jobs);
}

static void order(enum fault fault, const char *operation, int64_t count)
{
    assert_true(fault_order(STR("numbers"), str_z(operation), fault, count));
}

/* ---- actions ---- */

static enum err subscribe_run(struct tx *tx, void *arg)
{
    struct id account;
    enum err e = account_ensure(tx, EMAIL, &account);
    return e ? e : subscription_set(tx, &account, *(enum subscription_status *)arg, STR_NONE);
}

static void subscribe(struct fixture *d, enum subscription_status status)
{
    transact(d, STORE_WRITE, subscribe_run, &status);
    jobs_drain(d->jobs);
}

static enum err home_run(struct tx *tx, void *arg)
{
    struct id account;
    const struct building *list;
    size_t count;
    enum err e = account_find(tx, EMAIL, &account);
    if (!e)
        e = building_list(tx, &account, &list, &count);
    if (!e)
        *(struct building *)arg = list[0];
    return e;
}

static struct building home(struct fixture *d)
{
    struct building b;
    transact(d, STORE_READ, home_run, &b);
    return b;
}

static const char *number(struct fixture *d)
{
    return home(d).number.p;
}

static enum err release_run(struct tx *tx, void *arg)
{
    return number_release(tx, str_z(arg));
}

static enum err remove_run(struct tx *tx, void *arg)
{
    const struct building *b = arg;
    return db_exec(tx->db, SQL(building_delete, .account_id = &b->account_id, .id = &b->id), NULL);
}

static enum err add_run(struct tx *tx, void *arg)
{
    return number_add(tx, str_z(arg), STR("US"));
}

/* Expects the number that the provider has for the building, and whether the inventory has one. */
static const char *bought(struct fixture *d, const struct id *building)
{
    struct str n;
    assert_int_equal(d->numbers->ops->find(d->numbers, id_str(building), &d->arena, &n), OUTCOME_DONE);
    return n.p;
}

static enum err count_run(struct tx *tx, void *arg)
{
    const struct number *list;
    return number_list(tx, &list, arg);
}

static size_t inventory(struct fixture *d)
{
    size_t count;
    transact(d, STORE_READ, count_run, &count);
    return count;
}

/* ---- tests ---- */

/* BILLING-20 */
static void test_a_number_comes_with_a_subscription_and_is_released_after_its_end(void **state)
{
    struct fixture *d = *state;
    subscribe(d, SUBSCRIPTION_ACTIVE);
    struct building b = home(d);
    assert_string_equal(number(d), FIRST);
    assert_string_equal(bought(d, &b.id), FIRST);
    subscribe(d, SUBSCRIPTION_NONE);
    advance(d, 29 * 86400);
    assert_string_equal(number(d), FIRST);
    advance(d, 86401);
    assert_null(number(d));
    assert_null(bought(d, &b.id));
    assert_int_equal(inventory(d), 0);
}

static void test_a_call_without_an_answer_is_repeated(void **state)
{
    struct fixture *d = *state;
    order(FAULT_TIMEOUT, "acquire", 1);
    order(FAULT_ERROR, "find", 1);
    order(FAULT_DECLINE, "acquire", 1);
    subscribe(d, SUBSCRIPTION_ACTIVE);
    assert_null(number(d));
    advance(d, 6); /* find fails */
    assert_null(number(d));
    advance(d, 11); /* refused */
    assert_null(number(d));
    advance(d, 21);
    assert_string_equal(number(d), FIRST);
}

static void test_a_number_bought_without_an_answer_is_used_before_the_pool(void **state)
{
    struct fixture *d = *state;
    struct str n;
    order(FAULT_TIMEOUT, "acquire", 1);
    subscribe(d, SUBSCRIPTION_ACTIVE);
    struct building b = home(d);
    /* The provider had acted. Then the pool has a number, too. */
    assert_int_equal(d->numbers->ops->acquire(d->numbers, id_str(&b.id), STR("US"), INT64_MAX, &d->arena, &n),
                     OUTCOME_DONE);
    transact(d, STORE_WRITE, add_run, "+12125550000");
    subscribe(d, SUBSCRIPTION_ACTIVE);
    assert_string_equal(number(d), FIRST);
    assert_string_equal(bought(d, &b.id), FIRST);
    assert_int_equal(inventory(d), 2);
}

/* BUILDING-25 */
static void test_the_pool_is_used_before_the_provider(void **state)
{
    struct fixture *d = *state;
    transact(d, STORE_WRITE, add_run, "+12125550000");
    subscribe(d, SUBSCRIPTION_ACTIVE);
    struct building b = home(d);
    assert_string_equal(number(d), "+12125550000");
    assert_null(bought(d, &b.id));
}

static void test_a_building_deleted_during_the_purchase_keeps_no_number(void **state)
{
    struct fixture *d = *state;
    struct str n;
    order(FAULT_TIMEOUT, "acquire", 1);
    subscribe(d, SUBSCRIPTION_ACTIVE);
    struct building b = home(d);
    assert_int_equal(d->numbers->ops->acquire(d->numbers, id_str(&b.id), STR("US"), INT64_MAX, &d->arena, &n),
                     OUTCOME_DONE);
    transact(d, STORE_WRITE, remove_run, &b);
    advance(d, 6);
    assert_null(bought(d, &b.id));
    assert_int_equal(inventory(d), 0);
}

static void test_a_subscription_that_ended_before_the_job_gets_no_number(void **state)
{
    struct fixture *d = *state;
    order(FAULT_DECLINE, "acquire", 1);
    subscribe(d, SUBSCRIPTION_ACTIVE);
    subscribe(d, SUBSCRIPTION_NONE);
    advance(d, 1000);
    assert_null(number(d));
    assert_int_equal(inventory(d), 0);
}

/* BUILDING-26 */
static void test_a_release_is_repeated_until_the_provider_confirms_it(void **state)
{
    struct fixture *d = *state;
    subscribe(d, SUBSCRIPTION_ACTIVE);
    struct building b = home(d);
    subscribe(d, SUBSCRIPTION_NONE);
    order(FAULT_TIMEOUT, "release", 1);
    order(FAULT_DECLINE, "release", 1);
    transact(d, STORE_WRITE, release_run, FIRST);
    jobs_drain(d->jobs);
    assert_null(number(d));
    assert_string_equal(bought(d, &b.id), FIRST);
    advance(d, 6);
    assert_string_equal(bought(d, &b.id), FIRST);
    advance(d, 11);
    assert_null(bought(d, &b.id));
    assert_int_equal(inventory(d), 0);
}

static void test_a_renewal_waits_for_the_release_of_the_old_number(void **state)
{
    struct fixture *d = *state;
    subscribe(d, SUBSCRIPTION_ACTIVE);
    order(FAULT_TIMEOUT, "release", 1);
    transact(d, STORE_WRITE, release_run, FIRST);
    jobs_drain(d->jobs);
    subscribe(d, SUBSCRIPTION_ACTIVE); /* the provider would give the same number again */
    assert_null(number(d));
    advance(d, 6);
    advance(d, 11);
    assert_string_equal(number(d), "+15550100001");
    assert_int_equal(inventory(d), 1);
}

/* Another node releases the number. */
static void test_a_number_that_was_released_while_it_was_given_again_is_not_used(void **state)
{
    struct fixture *d = *state;
    subscribe(d, SUBSCRIPTION_ACTIVE);
    order(FAULT_TIMEOUT, "release", 1);
    transact(d, STORE_WRITE, release_run, FIRST);
    d->release_ends = true;
    jobs_drain(d->jobs);
    struct building b = home(d);
    assert_false(d->release_ends);
    assert_null(b.number.p);
    advance(d, 30);
    assert_string_equal(number(d), bought(d, &b.id));
    assert_int_equal(inventory(d), 1);
}

static void test_a_building_whose_number_was_released_gets_another_one(void **state)
{
    struct fixture *d = *state;
    subscribe(d, SUBSCRIPTION_ACTIVE);
    transact(d, STORE_WRITE, add_run, "+12125550000");
    transact(d, STORE_WRITE, release_run, FIRST);
    jobs_drain(d->jobs);
    assert_string_equal(number(d), "+12125550000");
}

static enum err forget_run(struct tx *tx, void *unused)
{
    struct id account;
    const struct building *list;
    size_t count;
    (void)unused;
    enum err e = account_find(tx, EMAIL, &account);
    if (!e)
        e = building_list(tx, &account, &list, &count);
    return e ? e : job_done(tx, arena_printf(tx->arena, JOB_PROVISION "-%s", list[0].id.text));
}

static enum err look_run(struct tx *tx, void *unused)
{
    (void)unused;
    return number_look(tx);
}

static void test_a_building_that_was_forgotten_is_looked_at_again_every_hour(void **state)
{
    struct fixture *d = *state;
    transact(d, STORE_WRITE, look_run, NULL);
    order(FAULT_DECLINE, "acquire", 1);
    subscribe(d, SUBSCRIPTION_ACTIVE);
    transact(d, STORE_WRITE, forget_run, NULL);
    assert_null(number(d));
    advance(d, 3601);
    assert_string_equal(number(d), FIRST);
}

static void test_without_a_provider_of_billing_the_operator_assigns_the_numbers_of_the_pool(void **state)
{
    struct fixture *d = *state;
    d->fixture->config.unbilled = d->fixture->config.assigned = true;
    transact(d, STORE_WRITE, add_run, "+12125550000");
    subscribe(d, SUBSCRIPTION_ACTIVE);
    advance(d, 3601);
    assert_null(number(d));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_number_comes_with_a_subscription_and_is_released_after_its_end),
        TEST(test_a_call_without_an_answer_is_repeated),
        TEST(test_a_number_bought_without_an_answer_is_used_before_the_pool),
        TEST(test_the_pool_is_used_before_the_provider),
        TEST(test_a_building_deleted_during_the_purchase_keeps_no_number),
        TEST(test_a_subscription_that_ended_before_the_job_gets_no_number),
        TEST(test_a_release_is_repeated_until_the_provider_confirms_it),
        TEST(test_a_renewal_waits_for_the_release_of_the_old_number),
        TEST(test_a_number_that_was_released_while_it_was_given_again_is_not_used),
        TEST(test_a_building_whose_number_was_released_gets_another_one),
        TEST(test_a_building_that_was_forgotten_is_looked_at_again_every_hour),
        TEST(test_without_a_provider_of_billing_the_operator_assigns_the_numbers_of_the_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
