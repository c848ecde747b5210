/* Checkouts: the contract's state table and its rules, as far as one transaction decides them. */
#include "billing/checkout.h"

#include "domain/building_fixture.h"

static const unsigned char hash_weekly[SHA256_LEN] = {1};
static const unsigned char hash_yearly[SHA256_LEN] = {2};

struct shop {
    struct checkout_request request;
    struct checkout checkout;
    enum checkout_step step;
    bool made;
};

static enum err begin_run(struct tx *tx, void *arg)
{
    struct shop *s = arg;
    return checkout_begin(tx, &s->request, &s->checkout, &s->step, &s->made);
}

static struct shop wish(struct building_fixture *fx, const char *key, const char *plan)
{
    return (struct shop){.request = {
                             .account = fx->account,
                             .request_id = str_z(key),
                             .hash = strcmp(plan, "weekly") == 0 ? hash_weekly : hash_yearly,
                             .plan = str_z(plan),
                             .sale = CHECKOUT_SALE_ON,
                             .return_url = STR("https://example.com/account"),
                         }};
}

static enum err try(struct building_fixture *fx, struct shop *s)
{
    return fixture_run(fx, STORE_WRITE, begin_run, s);
}

static struct shop begin(struct building_fixture *fx, const char *key, const char *plan, enum checkout_step step)
{
    struct shop s = wish(fx, key, plan);
    enum err e = try(fx, &s);
    if (e)
        fail_msg("%s", err_info(e)->code);
    assert_int_equal(s.step, step);
    return s;
}

static void refused(struct building_fixture *fx, const char *key, const char *plan, enum err wanted)
{
    struct shop s = wish(fx, key, plan);
    enum err e = try(fx, &s);
    if (e != wanted)
        fail_msg("%s in place of %s", err_info(e)->code, err_info(wanted)->code);
}

struct said {
    struct checkout *checkout;
    struct checkout_session session;
};

static enum err settle_run(struct tx *tx, void *arg)
{
    struct said *s = arg;
    return checkout_settle(tx, s->checkout, &s->session);
}

static void say(struct building_fixture *fx, struct checkout *c, enum checkout_status status)
{
    struct said s = {c,
                     {.id = STR("cs_1"),
                      .url = status == CHECKOUT_OPEN ? STR("https://pay.example/cs_1") : STR_NONE,
                      .status = status}};
    if (status == CHECKOUT_COMPLETE) {
        s.session.customer_id = STR("cus_1");
        s.session.subscription_id = STR("sub_1");
    }
    assert_int_equal(fixture_run(fx, STORE_WRITE, settle_run, &s), ERR_NONE);
}

static enum err refuse_run(struct tx *tx, void *arg)
{
    return checkout_refuse(tx, arg);
}

static enum err vanish_run(struct tx *tx, void *arg)
{
    return checkout_vanish(tx, arg);
}

static enum err ended_run(struct tx *tx, void *arg)
{
    return checkout_subscription_ended(tx, arg, STR("sub_1"));
}

static struct shop opened(struct building_fixture *fx, const char *key, const char *plan)
{
    struct shop s = begin(fx, key, plan, CHECKOUT_ASK);
    say(fx, &s.checkout, CHECKOUT_OPEN);
    return s;
}

struct current {
    const struct id *account;
    struct checkout checkout;
};

static enum err current_run(struct tx *tx, void *arg)
{
    struct current *c = arg;
    return checkout_current(tx, c->account, &c->checkout);
}

/* NULL if there is no checkout. */
static const char *current(struct building_fixture *fx)
{
    struct current c = {.account = &fx->account};
    enum err e = fixture_run(fx, STORE_READ, current_run, &c);
    if (e == ERR_NOT_FOUND)
        return NULL;
    assert_int_equal(e, ERR_NONE);
    return checkout_status_text(c.checkout.status);
}

/* An addition that began while there was a subscription. */
static void put_operation(struct building_fixture *fx, const char *status)
{
    char sql[700];
    snprintf(sql, sizeof sql,
             "INSERT INTO building_operation (account_id, id, action, status, created_at, expires_at, label, "
             "building_count, subscription_id, price_id, current_quantity, new_quantity, currency, next_invoice_minor, "
             "proration_s, step, progressed_at) VALUES ('%s', 'f00000000000000000000001', 'add', '%s', 1, 1, 'Cabin', "
             "1, 'sub_0', 'price_0', 1, 2, 'usd', 998, 1, 'add_number', 1)",
             fx->account.text, status);
    fixture_sql(fx, sql);
}

/* ---- the state table ---- */

/* BILLING-5 */
static void test_the_first_request_creates_a_checkout_and_asks_the_provider(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    assert_null(current(fx));
    struct shop s = begin(fx, "key-1", "weekly", CHECKOUT_ASK);
    assert_true(s.made);
    assert_string_equal(current(fx), "preparing");
    assert_int_equal(s.checkout.quantity, 1);
    assert_string_equal(s.checkout.email.p, "owner@example.com");
    assert_null(s.checkout.customer_id.p);
    assert_null(s.checkout.session_id.p);
}

/* BILLING-5 */
static void test_the_providers_answer_opens_a_checkout_and_a_refusal_fails_it(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    struct shop s = begin(fx, "key-1", "weekly", CHECKOUT_ASK);
    assert_int_equal(fixture_run(fx, STORE_WRITE, refuse_run, &s.checkout), ERR_NONE);
    assert_string_equal(current(fx), "failed");
    s = begin(fx, "key-1", "weekly", CHECKOUT_ANSWER);
    assert_false(s.made);
    assert_int_equal(s.checkout.status, CHECKOUT_FAILED);
    s = opened(fx, "key-2", "weekly");
    assert_string_equal(current(fx), "open");
    assert_int_equal(fixture_run(fx, STORE_WRITE, refuse_run, &s.checkout), ERR_NONE);
    assert_string_equal(current(fx), "open");
}

static void test_payment_completes_a_checkout_and_queues_a_reading_of_the_subscription(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    struct shop s = opened(fx, "key-1", "weekly");
    say(fx, &s.checkout, CHECKOUT_COMPLETE);
    assert_string_equal(current(fx), "complete");
    fixture_expect(fx, "SELECT customer_id FROM account", "cus_1\n");
    fixture_expect(fx, "SELECT kind, id FROM job", "billing_sync|billing subscription sub_1\n");
    say(fx, &s.checkout, CHECKOUT_EXPIRED);
    assert_string_equal(current(fx), "complete");
}

static void test_an_expired_checkout_allows_another_and_completes_if_it_was_paid(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    struct shop s = opened(fx, "key-1", "weekly");
    say(fx, &s.checkout, CHECKOUT_EXPIRED);
    assert_string_equal(current(fx), "expired");
    say(fx, &s.checkout, CHECKOUT_OPEN);
    assert_string_equal(current(fx), "expired");
    begin(fx, "key-1", "weekly", CHECKOUT_ANSWER);
    say(fx, &s.checkout, CHECKOUT_COMPLETE);
    assert_string_equal(current(fx), "complete");
}

static void test_an_unknown_session_expires_only_an_open_checkout(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    struct shop s = begin(fx, "key-1", "weekly", CHECKOUT_ASK);
    assert_int_equal(fixture_run(fx, STORE_WRITE, vanish_run, &s.checkout), ERR_NONE);
    assert_string_equal(current(fx), "preparing");
    say(fx, &s.checkout, CHECKOUT_OPEN);
    assert_int_equal(fixture_run(fx, STORE_WRITE, vanish_run, &s.checkout), ERR_NONE);
    assert_string_equal(current(fx), "expired");
}

/* ---- the rules ---- */

static void test_rule_1_a_subscription_blocks_a_checkout(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    for (int i = 0; i < 2; i++) {
        fixture_sql(fx, i ? "UPDATE account SET subscription_status = 'past_due'"
                          : "UPDATE account SET subscription_status = 'active'");
        refused(fx, "key-1", "weekly", ERR_SUBSCRIPTION_EXISTS);
    }
    assert_null(current(fx));
}

/* BILLING-12 */
static void test_rule_3_the_same_plan_answers_with_the_open_checkout_after_a_reading(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    struct shop first = opened(fx, "key-1", "weekly");
    struct shop s = begin(fx, "key-2", "weekly", CHECKOUT_REREAD);
    s.request.reread = true;
    assert_int_equal(try(fx, &s), ERR_NONE);
    assert_int_equal(s.step, CHECKOUT_ANSWER);
    assert_false(s.made);
    assert_string_equal(s.checkout.request_id.p, "key-1");
    assert_string_equal(s.checkout.id.text, first.checkout.id.text);
    refused(fx, "key-2", "yearly", ERR_IDEMPOTENCY_CONFLICT);
    say(fx, &first.checkout, CHECKOUT_EXPIRED);
    s = begin(fx, "key-2", "weekly", CHECKOUT_ANSWER);
    assert_int_equal(s.checkout.status, CHECKOUT_EXPIRED);
}

/* BILLING-7, BILLING-13 */
static void test_rule_4_another_plan_expires_the_open_checkout_first(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    struct shop first = opened(fx, "key-1", "weekly");
    struct shop s = begin(fx, "key-2", "yearly", CHECKOUT_END);
    assert_string_equal(s.checkout.id.text, first.checkout.id.text);
    say(fx, &s.checkout, CHECKOUT_EXPIRED);
    s = begin(fx, "key-2", "yearly", CHECKOUT_ASK);
    assert_true(s.made);
    refused(fx, "key-3", "weekly", ERR_CHECKOUT_EXISTS);
    refused(fx, "key-3", "yearly", ERR_CHECKOUT_PENDING);
}

/* BILLING-13 */
static void test_rule_4_a_plan_that_is_not_on_sale_expires_nothing(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    opened(fx, "key-1", "weekly");
    struct shop s = wish(fx, "key-2", "yearly");
    s.request.sale = CHECKOUT_SALE_OFF;
    assert_int_equal(try(fx, &s), ERR_PLAN_UNAVAILABLE);
    s.request.sale = CHECKOUT_SALE_UNKNOWN;
    assert_int_equal(try(fx, &s), ERR_CHECKOUT_UNAVAILABLE);
    assert_string_equal(current(fx), "open");
    s = wish(fx, "key-1", "weekly");
    s.request.sale = CHECKOUT_SALE_OFF;
    assert_int_equal(try(fx, &s), ERR_NONE);
}

/* BILLING-14 */
static void test_rule_5_a_paid_checkout_blocks_until_its_subscription_ends(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    struct shop s = opened(fx, "key-1", "weekly");
    say(fx, &s.checkout, CHECKOUT_COMPLETE);
    refused(fx, "key-2", "weekly", ERR_CHECKOUT_EXISTS);
    refused(fx, "key-2", "yearly", ERR_CHECKOUT_EXISTS);
    assert_int_equal(fixture_run(fx, STORE_WRITE, ended_run, &fx->account), ERR_NONE);
    assert_null(current(fx));
    s = begin(fx, "key-1", "weekly", CHECKOUT_ANSWER);
    assert_true(s.checkout.canceled);
    fx->now_us += US_PER_S;
    s = begin(fx, "key-2", "yearly", CHECKOUT_ASK);
    assert_string_equal(s.checkout.customer_id.p, "cus_1");
    assert_string_equal(current(fx), "preparing");
}

/* BILLING-11 */
static void test_rule_6_a_key_belongs_to_one_body(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    opened(fx, "key-1", "weekly");
    refused(fx, "key-1", "yearly", ERR_IDEMPOTENCY_CONFLICT);
}

/* BILLING-6 */
static void test_rule_7_a_checkout_unknown_for_23_hours_is_left_to_support(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    struct shop s = begin(fx, "key-1", "weekly", CHECKOUT_ASK);
    fx->now_us += CHECKOUT_RESOLVE_S * US_PER_S - 1;
    begin(fx, "key-1", "weekly", CHECKOUT_ASK);
    refused(fx, "key-2", "weekly", ERR_CHECKOUT_PENDING);
    fx->now_us += 1;
    assert_true(checkout_overdue(&s.checkout, fx->now_us));
    refused(fx, "key-1", "weekly", ERR_CHECKOUT_RECONCILIATION_REQUIRED);
    refused(fx, "key-2", "weekly", ERR_CHECKOUT_RECONCILIATION_REQUIRED);
    refused(fx, "key-2", "yearly", ERR_CHECKOUT_RECONCILIATION_REQUIRED);
    refused(fx, "key-1", "yearly", ERR_IDEMPOTENCY_CONFLICT);
}

/* ---- others ---- */

struct lookup {
    const struct id *account;
    struct checkout found;
};

static enum err lookup_run(struct tx *tx, void *arg)
{
    struct lookup *l = arg;
    return checkout_of_session(tx, l->account, STR("cs_1"), &l->found);
}

/* The subscription of the account ended during an operation: it might pay for a building that it does not get. */
/* BILLING-15 */
static void test_a_building_operation_blocks_a_checkout(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    put_operation(fx, "running");
    refused(fx, "key-1", "weekly", ERR_CHECKOUT_PENDING);
    fixture_sql(fx, "UPDATE building_operation SET status = 'reconciliation_required'");
    refused(fx, "key-1", "weekly", ERR_CHECKOUT_RECONCILIATION_REQUIRED);
    assert_null(current(fx));
    fixture_sql(fx, "UPDATE building_operation SET status = 'failed'");
    begin(fx, "key-1", "weekly", CHECKOUT_ASK);
}

static void test_a_session_is_found_only_by_its_own_account(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    struct shop s = opened(fx, "key-1", "weekly");
    struct id stranger = id_new(fx->now_us);
    struct lookup own = {.account = &fx->account}, other = {.account = &stranger};
    assert_int_equal(fixture_run(fx, STORE_READ, lookup_run, &own), ERR_NONE);
    assert_string_equal(own.found.id.text, s.checkout.id.text);
    assert_int_equal(fixture_run(fx, STORE_READ, lookup_run, &other), ERR_NOT_FOUND);
}

struct unsettled {
    int64_t before_us;
    const struct checkout *list;
    size_t count;
};

static enum err unsettled_run(struct tx *tx, void *arg)
{
    struct unsettled *u = arg;
    enum err e = checkout_unsettled(tx, u->before_us, 10, &u->list, &u->count);
    return e ? e : checkout_asked(tx, u->list, u->count);
}

static size_t unsettled(struct building_fixture *fx)
{
    struct unsettled u = {.before_us = fx->now_us - MINUTES};
    assert_int_equal(fixture_run(fx, STORE_WRITE, unsettled_run, &u), ERR_NONE);
    return u.count;
}

/* BILLING-17 */
static void test_unsettled_checkouts_are_checked_from_time_to_time(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    struct shop s = begin(fx, "key-1", "weekly", CHECKOUT_ASK);
    assert_int_equal(unsettled(fx), 0);
    fx->now_us += 2 * MINUTES;
    assert_int_equal(unsettled(fx), 1);
    assert_int_equal(unsettled(fx), 0);
    fx->now_us += CHECKOUT_RESOLVE_S * US_PER_S;
    assert_int_equal(unsettled(fx), 0);
    say(fx, &s.checkout, CHECKOUT_OPEN);
    assert_int_equal(unsettled(fx), 0);
    fx->now_us += 2 * MINUTES;
    assert_int_equal(unsettled(fx), 1);
    say(fx, &s.checkout, CHECKOUT_COMPLETE);
    fx->now_us += 2 * MINUTES;
    assert_int_equal(unsettled(fx), 0);
}

#define TESTS(x)                                                                                                       \
    x(test_the_first_request_creates_a_checkout_and_asks_the_provider),                                                \
        x(test_the_providers_answer_opens_a_checkout_and_a_refusal_fails_it),                                          \
        x(test_payment_completes_a_checkout_and_queues_a_reading_of_the_subscription),                                 \
        x(test_an_expired_checkout_allows_another_and_completes_if_it_was_paid),                                       \
        x(test_an_unknown_session_expires_only_an_open_checkout), x(test_rule_1_a_subscription_blocks_a_checkout),     \
        x(test_rule_3_the_same_plan_answers_with_the_open_checkout_after_a_reading),                                   \
        x(test_rule_4_another_plan_expires_the_open_checkout_first),                                                   \
        x(test_rule_4_a_plan_that_is_not_on_sale_expires_nothing),                                                     \
        x(test_rule_5_a_paid_checkout_blocks_until_its_subscription_ends), x(test_rule_6_a_key_belongs_to_one_body),   \
        x(test_rule_7_a_checkout_unknown_for_23_hours_is_left_to_support),                                             \
        x(test_a_building_operation_blocks_a_checkout), x(test_a_session_is_found_only_by_its_own_account),            \
        x(test_unsettled_checkouts_are_checked_from_time_to_time)

FIXTURE_RUN(TESTS)
