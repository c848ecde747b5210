/* Prices are cached and refreshed, and stay available while the provider does not answer. */
#include "providers/catalog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>
#include <unistd.h>

struct fake {
    struct billing billing;
    atomic_int asked;
    atomic_int outcome, amount_minor;
};

static enum outcome prices(struct billing *b, struct arena *a, struct billing_prices *ret)
{
    struct fake *f = (struct fake *)b;
    f->asked++;
    if (f->outcome != OUTCOME_DONE)
        return (enum outcome)f->outcome;
    *ret = (struct billing_prices){.count = 1};
    ret->items[0] = (struct billing_price){.plan = arena_str(a, STR("weekly")),
                                           .available = true,
                                           .amount_minor = f->amount_minor,
                                           .currency = arena_str(a, STR("usd")),
                                           .interval = arena_str(a, STR("week")),
                                           .interval_count = 1};
    return OUTCOME_DONE;
}

static const struct billing_ops ops = {.prices = prices};

/* BILLING-2 */
static void test_prices_are_cached(void **state)
{
    (void)state;
    struct fake f = {.billing.ops = &ops, .outcome = OUTCOME_DONE, .amount_minor = 499};
    struct catalog *c;
    struct billing_prices p;
    struct arena a;
    arena_init(&a, NULL, 0);
    c = catalog_new(&f.billing, CATALOG_GOOD_FOR_S);
    for (int i = 0; i < 100; i++)
        assert_true(catalog_get(c, &a, &p));
    catalog_free(c);
    assert_int_equal(f.asked, 1);
    const struct billing_price *weekly = billing_price_of(&p, STR("weekly"));
    assert_non_null(weekly); /* a copy that outlives the catalogue */
    assert_int_equal(weekly->amount_minor, 499);
    assert_true(str_eq(weekly->currency, STR("usd")) && str_eq(weekly->interval, STR("week")));
    assert_null(billing_price_of(&p, STR("yearly")));
    arena_done(&a);
}

/* BILLING-2 */
static void test_without_an_answer_there_are_no_prices(void **state)
{
    (void)state;
    const int outcomes[] = {OUTCOME_UNKNOWN, OUTCOME_REFUSED};
    for (size_t i = 0; i < 2; i++) {
        struct fake f = {.billing.ops = &ops, .outcome = outcomes[i]};
        struct catalog *c;
        struct billing_prices p;
        struct arena a;
        arena_init(&a, NULL, 0);
        c = catalog_new(&f.billing, CATALOG_GOOD_FOR_S);
        assert_false(catalog_get(c, &a, &p));
        assert_int_equal(f.asked, 1);
        catalog_free(c);
        arena_done(&a);
    }
}

/* Waits until the price has that amount. */
static bool becomes(struct catalog *c, int64_t amount_minor)
{
    struct billing_prices p;
    struct arena a;
    bool found = false;
    arena_init(&a, NULL, 0);
    for (int i = 0; i < 10000 && !found; i++) {
        found = catalog_get(c, &a, &p) && p.items[0].amount_minor == amount_minor;
        if (!found)
            usleep(1000);
    }
    arena_done(&a);
    return found;
}

/* BILLING-2 */
static void test_stale_prices_are_returned_until_new_ones_arrive(void **state)
{
    (void)state;
    struct fake f = {.billing.ops = &ops, .outcome = OUTCOME_DONE, .amount_minor = 499};
    struct catalog *c;
    c = catalog_new(&f.billing, 0);
    f.outcome = OUTCOME_UNKNOWN;
    f.amount_minor = 599;
    for (int asked = f.asked; f.asked < asked + 3;)
        assert_true(becomes(c, 499));
    f.outcome = OUTCOME_DONE;
    assert_true(becomes(c, 599));
    catalog_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prices_are_cached),
        cmocka_unit_test(test_stale_prices_are_returned_until_new_ones_arrive),
        cmocka_unit_test(test_without_an_answer_there_are_no_prices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
