/* Checkouts: every row of the contract's state table and its rules, as far as they are decided in one transaction. */
#include "domain/checkout.h"

#include "domain/house.h"

static const unsigned char hash_weekly[SHA256_LEN] = {1};
static const unsigned char hash_yearly[SHA256_LEN] = {2};

struct shop {
    struct checkout_request request;
    struct checkout checkout;
    enum checkout_step step;
    bool made;
};

static void prepare(struct house *h)
{
    h->fixture->config.plans[0].id = "weekly";
    h->fixture->config.plans[1].id = "yearly";
    house_sql(h, "UPDATE account SET plan = NULL, subscription_status = 'none'");
}

static enum err begin_run(struct tx *tx, void *arg)
{
    struct shop *s = arg;
    return checkout_begin(tx, &s->request, &s->checkout, &s->step, &s->made);
}

static struct shop wish(struct house *h, const char *key, const char *plan)
{
    return (struct shop){.request = {
                             .account = h->account,
                             .request_id = str_z(key),
                             .hash = strcmp(plan, "weekly") == 0 ? hash_weekly : hash_yearly,
                             .plan = str_z(plan),
                             .sale = CHECKOUT_SALE_ON,
                             .return_url = STR("https://example.com/account"),
                         }};
}

static enum err try(struct house *h, struct shop *s)
{
    return house_run(h, STORE_WRITE, begin_run, s);
}

static struct shop begin(struct house *h, const char *key, const char *plan, enum checkout_step step)
{
    struct shop s = wish(h, key, plan);
    enum err e = try(h, &s);
    if (e)
        fail_msg("%s", err_info(e)->code);
    assert_int_equal(s.step, step);
    return s;
}

static void refused(struct house *h, const char *key, const char *plan, enum err wanted)
{
    struct shop s = wish(h, key, plan);
    enum err e = try(h, &s);
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

static void say(struct house *h, struct checkout *c, enum checkout_status status)
{
    struct said s = {c,
                     {.id = STR("cs_1"),
                      .url = status == CHECKOUT_OPEN ? STR("https://pay.example/cs_1") : STR_NONE,
                      .status = status}};
    if (status == CHECKOUT_COMPLETE) {
        s.session.customer_id = STR("cus_1");
        s.session.subscription_id = STR("sub_1");
    }
    assert_int_equal(house_run(h, STORE_WRITE, settle_run, &s), ERR_NONE);
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

static struct shop opened(struct house *h, const char *key, const char *plan)
{
    struct shop s = begin(h, key, plan, CHECKOUT_ASK);
    say(h, &s.checkout, CHECKOUT_OPEN);
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

/* NULL: there is none. */
static const char *current(struct house *h)
{
    struct current c = {.account = &h->account};
    enum err e = house_run(h, STORE_READ, current_run, &c);
    if (e == ERR_NOT_FOUND)
        return NULL;
    assert_int_equal(e, ERR_NONE);
    return checkout_status_text(c.checkout.status);
}

/* An addition that began while there was a subscription. */
static void put_operation(struct house *h, const char *status)
{
    char sql[700];
    snprintf(sql, sizeof sql,
             "INSERT INTO building_operation (account_id, id, action, status, created_at, expires_at, label, "
             "building_count, subscription_id, price_id, current_quantity, new_quantity, currency, next_invoice_minor, "
             "proration_s, step, progressed_at) VALUES ('%s', 'f00000000000000000000001', 'add', '%s', 1, 1, 'Cabin', "
             "1, 'sub_0', 'price_0', 1, 2, 'usd', 998, 1, 'add_number', 1)",
             h->account.text, status);
    house_sql(h, sql);
}

/* ---- the state table ---- */

static void test_the_first_request_makes_one_that_is_to_be_asked_for(void **state)
{
    struct house *h = *state;
    prepare(h);
    assert_null(current(h));
    struct shop s = begin(h, "key-1", "weekly", CHECKOUT_ASK);
    assert_true(s.made);
    assert_string_equal(current(h), "preparing");
    assert_int_equal(s.checkout.quantity, 1);
    assert_string_equal(s.checkout.email.p, "owner@example.com");
    assert_null(s.checkout.customer_id.p);
    assert_null(s.checkout.session_id.p);
}

static void test_the_providers_answer_opens_it_and_a_refusal_fails_it(void **state)
{
    struct house *h = *state;
    prepare(h);
    struct shop s = begin(h, "key-1", "weekly", CHECKOUT_ASK);
    assert_int_equal(house_run(h, STORE_WRITE, refuse_run, &s.checkout), ERR_NONE);
    assert_string_equal(current(h), "failed");
    s = begin(h, "key-1", "weekly", CHECKOUT_ANSWER);
    assert_false(s.made);
    assert_int_equal(s.checkout.status, CHECKOUT_FAILED);
    s = opened(h, "key-2", "weekly");
    assert_string_equal(current(h), "open");
    assert_int_equal(house_run(h, STORE_WRITE, refuse_run, &s.checkout), ERR_NONE);
    assert_string_equal(current(h), "open");
}

static void test_payment_completes_it_and_queues_a_look_at_the_subscription(void **state)
{
    struct house *h = *state;
    prepare(h);
    struct shop s = opened(h, "key-1", "weekly");
    say(h, &s.checkout, CHECKOUT_COMPLETE);
    assert_string_equal(current(h), "complete");
    house_expect(h, "SELECT customer_id FROM account", "cus_1\n");
    house_expect(h, "SELECT kind, id FROM job", "billing_sync|billing subscription sub_1\n");
    say(h, &s.checkout, CHECKOUT_EXPIRED);
    assert_string_equal(current(h), "complete");
}

static void test_an_expired_one_leaves_room_and_is_complete_if_it_was_paid_after_all(void **state)
{
    struct house *h = *state;
    prepare(h);
    struct shop s = opened(h, "key-1", "weekly");
    say(h, &s.checkout, CHECKOUT_EXPIRED);
    assert_string_equal(current(h), "expired");
    say(h, &s.checkout, CHECKOUT_OPEN);
    assert_string_equal(current(h), "expired");
    begin(h, "key-1", "weekly", CHECKOUT_ANSWER);
    say(h, &s.checkout, CHECKOUT_COMPLETE);
    assert_string_equal(current(h), "complete");
}

static void test_a_session_the_provider_does_not_know_ends_an_open_one_alone(void **state)
{
    struct house *h = *state;
    prepare(h);
    struct shop s = begin(h, "key-1", "weekly", CHECKOUT_ASK);
    assert_int_equal(house_run(h, STORE_WRITE, vanish_run, &s.checkout), ERR_NONE);
    assert_string_equal(current(h), "preparing");
    say(h, &s.checkout, CHECKOUT_OPEN);
    assert_int_equal(house_run(h, STORE_WRITE, vanish_run, &s.checkout), ERR_NONE);
    assert_string_equal(current(h), "expired");
}

/* ---- the rules ---- */

static void test_rule_1_a_subscription_allows_no_other(void **state)
{
    struct house *h = *state;
    prepare(h);
    for (int i = 0; i < 2; i++) {
        house_sql(h, i ? "UPDATE account SET subscription_status = 'past_due'"
                       : "UPDATE account SET subscription_status = 'active'");
        refused(h, "key-1", "weekly", ERR_SUBSCRIPTION_EXISTS);
    }
    assert_null(current(h));
}

static void test_rule_3_the_same_plan_gets_the_open_one_once_it_was_read(void **state)
{
    struct house *h = *state;
    prepare(h);
    struct shop first = opened(h, "key-1", "weekly");
    struct shop s = begin(h, "key-2", "weekly", CHECKOUT_REREAD);
    s.request.reread = true;
    assert_int_equal(try(h, &s), ERR_NONE);
    assert_int_equal(s.step, CHECKOUT_ANSWER);
    assert_false(s.made);
    assert_string_equal(s.checkout.request_id.p, "key-1");
    assert_string_equal(s.checkout.id.text, first.checkout.id.text);
    refused(h, "key-2", "yearly", ERR_IDEMPOTENCY_CONFLICT);
    say(h, &first.checkout, CHECKOUT_EXPIRED);
    s = begin(h, "key-2", "weekly", CHECKOUT_ANSWER);
    assert_int_equal(s.checkout.status, CHECKOUT_EXPIRED);
}

static void test_rule_4_another_plan_ends_the_open_one_first(void **state)
{
    struct house *h = *state;
    prepare(h);
    struct shop first = opened(h, "key-1", "weekly");
    struct shop s = begin(h, "key-2", "yearly", CHECKOUT_END);
    assert_string_equal(s.checkout.id.text, first.checkout.id.text);
    say(h, &s.checkout, CHECKOUT_EXPIRED);
    s = begin(h, "key-2", "yearly", CHECKOUT_ASK);
    assert_true(s.made);
    refused(h, "key-3", "weekly", ERR_CHECKOUT_EXISTS);
    refused(h, "key-3", "yearly", ERR_CHECKOUT_PENDING);
}

static void test_rule_4_a_plan_that_is_not_on_sale_ends_nothing(void **state)
{
    struct house *h = *state;
    prepare(h);
    opened(h, "key-1", "weekly");
    struct shop s = wish(h, "key-2", "yearly");
    s.request.sale = CHECKOUT_SALE_OFF;
    assert_int_equal(try(h, &s), ERR_PLAN_UNAVAILABLE);
    s.request.sale = CHECKOUT_SALE_UNKNOWN;
    assert_int_equal(try(h, &s), ERR_CHECKOUT_UNAVAILABLE);
    assert_string_equal(current(h), "open");
    s = wish(h, "key-1", "weekly");
    s.request.sale = CHECKOUT_SALE_OFF;
    assert_int_equal(try(h, &s), ERR_NONE);
}

static void test_rule_5_a_paid_one_blocks_until_its_subscription_ended(void **state)
{
    struct house *h = *state;
    prepare(h);
    struct shop s = opened(h, "key-1", "weekly");
    say(h, &s.checkout, CHECKOUT_COMPLETE);
    refused(h, "key-2", "weekly", ERR_CHECKOUT_EXISTS);
    refused(h, "key-2", "yearly", ERR_CHECKOUT_EXISTS);
    assert_int_equal(house_run(h, STORE_WRITE, ended_run, &h->account), ERR_NONE);
    assert_null(current(h));
    s = begin(h, "key-1", "weekly", CHECKOUT_ANSWER);
    assert_true(s.checkout.canceled);
    h->now_us += US_PER_S;
    s = begin(h, "key-2", "yearly", CHECKOUT_ASK);
    assert_string_equal(s.checkout.customer_id.p, "cus_1");
    assert_string_equal(current(h), "preparing");
}

static void test_rule_6_a_key_stands_for_one_body(void **state)
{
    struct house *h = *state;
    prepare(h);
    opened(h, "key-1", "weekly");
    refused(h, "key-1", "yearly", ERR_IDEMPOTENCY_CONFLICT);
}

static void test_rule_7_what_nobody_knows_for_23_hours_is_left_to_support(void **state)
{
    struct house *h = *state;
    prepare(h);
    struct shop s = begin(h, "key-1", "weekly", CHECKOUT_ASK);
    h->now_us += CHECKOUT_RESOLVE_S * US_PER_S - 1;
    begin(h, "key-1", "weekly", CHECKOUT_ASK);
    refused(h, "key-2", "weekly", ERR_CHECKOUT_PENDING);
    h->now_us += 1;
    assert_true(checkout_overdue(&s.checkout, h->now_us));
    refused(h, "key-1", "weekly", ERR_CHECKOUT_RECONCILIATION_REQUIRED);
    refused(h, "key-2", "weekly", ERR_CHECKOUT_RECONCILIATION_REQUIRED);
    refused(h, "key-2", "yearly", ERR_CHECKOUT_RECONCILIATION_REQUIRED);
    refused(h, "key-1", "yearly", ERR_IDEMPOTENCY_CONFLICT);
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

/* An account whose subscription ended in the midst of an operation: it would pay for a building it may not have. */
static void test_how_many_units_to_sell_is_known_once_no_building_comes_or_goes(void **state)
{
    struct house *h = *state;
    prepare(h);
    put_operation(h, "running");
    refused(h, "key-1", "weekly", ERR_CHECKOUT_PENDING);
    house_sql(h, "UPDATE building_operation SET status = 'reconciliation_required'");
    refused(h, "key-1", "weekly", ERR_CHECKOUT_RECONCILIATION_REQUIRED);
    assert_null(current(h));
    house_sql(h, "UPDATE building_operation SET status = 'failed'");
    begin(h, "key-1", "weekly", CHECKOUT_ASK);
}

static void test_a_session_is_found_by_its_own_account_alone(void **state)
{
    struct house *h = *state;
    prepare(h);
    struct shop s = opened(h, "key-1", "weekly");
    struct id stranger = id_new(h->now_us);
    struct lookup own = {.account = &h->account}, other = {.account = &stranger};
    assert_int_equal(house_run(h, STORE_READ, lookup_run, &own), ERR_NONE);
    assert_string_equal(own.found.id.text, s.checkout.id.text);
    assert_int_equal(house_run(h, STORE_READ, lookup_run, &other), ERR_NOT_FOUND);
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

static size_t unsettled(struct house *h)
{
    struct unsettled u = {.before_us = h->now_us - MINUTES};
    assert_int_equal(house_run(h, STORE_WRITE, unsettled_run, &u), ERR_NONE);
    return u.count;
}

static void test_what_is_not_settled_is_asked_about_from_time_to_time(void **state)
{
    struct house *h = *state;
    prepare(h);
    struct shop s = begin(h, "key-1", "weekly", CHECKOUT_ASK);
    assert_int_equal(unsettled(h), 0);
    h->now_us += 2 * MINUTES;
    assert_int_equal(unsettled(h), 1);
    assert_int_equal(unsettled(h), 0);
    h->now_us += CHECKOUT_RESOLVE_S * US_PER_S;
    assert_int_equal(unsettled(h), 0);
    say(h, &s.checkout, CHECKOUT_OPEN);
    assert_int_equal(unsettled(h), 0);
    h->now_us += 2 * MINUTES;
    assert_int_equal(unsettled(h), 1);
    say(h, &s.checkout, CHECKOUT_COMPLETE);
    h->now_us += 2 * MINUTES;
    assert_int_equal(unsettled(h), 0);
}

#define TESTS(x)                                                                                                       \
    x(test_the_first_request_makes_one_that_is_to_be_asked_for),                                                       \
        x(test_the_providers_answer_opens_it_and_a_refusal_fails_it),                                                  \
        x(test_payment_completes_it_and_queues_a_look_at_the_subscription),                                            \
        x(test_an_expired_one_leaves_room_and_is_complete_if_it_was_paid_after_all),                                   \
        x(test_a_session_the_provider_does_not_know_ends_an_open_one_alone),                                           \
        x(test_rule_1_a_subscription_allows_no_other),                                                                 \
        x(test_rule_3_the_same_plan_gets_the_open_one_once_it_was_read),                                               \
        x(test_rule_4_another_plan_ends_the_open_one_first), x(test_rule_4_a_plan_that_is_not_on_sale_ends_nothing),   \
        x(test_rule_5_a_paid_one_blocks_until_its_subscription_ended), x(test_rule_6_a_key_stands_for_one_body),       \
        x(test_rule_7_what_nobody_knows_for_23_hours_is_left_to_support),                                              \
        x(test_how_many_units_to_sell_is_known_once_no_building_comes_or_goes),                                        \
        x(test_a_session_is_found_by_its_own_account_alone),                                                           \
        x(test_what_is_not_settled_is_asked_about_from_time_to_time)

HOUSE_RUN(TESTS)
