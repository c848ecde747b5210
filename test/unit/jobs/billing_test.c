/* The sync with the billing provider: events in any order, lost, repeated or during a read; checkouts without events.
 * Uses the built-in provider and its faults. */
#include "jobs/billing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>

#include "base/crypto.h"
#include "billing/billing_account.h"
#include "billing/subscription.h"
#include "domain/work.h"
#include "jobs/checkout_session.h"
#include "providers/builtin_billing.h"
#include "providers/fault.h"
#include "store/fixture.h"

struct fixture {
    struct store_fixture *fixture;
    struct billing *billing;
    struct jobs *jobs;
    struct job_kind kinds[2];
    struct arena arena;
    struct work work;
    struct id account;
};

static enum err transact(struct fixture *d, enum store_mode mode, enum err (*run)(struct tx *tx, void *arg), void *arg)
{
    return work_run(&d->work, mode, run, arg);
}

static enum err account_run(struct tx *tx, void *arg)
{
    return account_ensure(tx, STR("a@example.com"), arg);
}

static int set_up(void **state)
{
    struct fixture *d = calloc(1, sizeof *d);
    void *fixture;
    char *why = NULL;
    if (!d || store_fixture_open(&fixture))
        return -1;
    crypto_set_master((const unsigned char[SHA256_LEN]){1}, NULL);
    d->fixture = fixture;
    struct config *c = &d->fixture->config;
    c->billing_provider = "sandbox";
    c->plans[0] = (struct config_plan){.id = "weekly",
                                       .amount_minor = 499,
                                       .currency = "usd",
                                       .interval = "week",
                                       .interval_count = 1,
                                       .available = true};
    c->plans[1] = (struct config_plan){.id = "yearly",
                                       .amount_minor = 19900,
                                       .currency = "usd",
                                       .interval = "year",
                                       .interval_count = 1,
                                       .available = true};
    arena_init(&d->arena, NULL, 0);
    d->work = (struct work){.store = d->fixture->store, .config = &d->fixture->config, .arena = &d->arena};
    *state = d;
    if (billing_new(c, d->fixture->store, &d->billing, &why) || transact(d, STORE_WRITE, account_run, &d->account))
        return -1;
    d->kinds[0] = jobs_kind_billing_sync(d->billing);
    d->kinds[1] = jobs_kind_billing_reconcile(d->billing);
    const struct jobs_options options = {.config = c, .store = d->fixture->store, .kinds = d->kinds, .kind_count = 2};
    d->jobs = jobs_new(&options);
    return jobs_start(d->jobs, NULL) ? -1 : 0;
}

static int tear_down(void **state)
{
    struct fixture *d = *state;
    void *fixture = d->fixture;
    fault_order(STR("billing"), STR_NONE, FAULT_NONE, 0);
    jobs_free(d->jobs);
    billing_free(d->billing);
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

static void fault(const char *operation, enum fault fault, int64_t count)
{
    assert_true(fault_order(STR("billing"), str_z(operation), fault, count));
}

/* ---- buying ---- */

struct purchase {
    struct fixture *fixture;
    const char *key;
    struct checkout checkout;
};

static enum err begin_run(struct tx *tx, void *arg)
{
    static const unsigned char hash[SHA256_LEN] = {1};
    struct purchase *p = arg;
    const struct checkout_request request = {
        .account = p->fixture->account,
        .request_id = str_z(p->key),
        .hash = hash,
        .plan = STR("weekly"),
        .sale = CHECKOUT_SALE_ON,
        .return_url = STR("https://door.example/account"),
    };
    enum checkout_step step;
    bool made;
    enum err e = checkout_begin(tx, &request, &p->checkout, &step, &made);
    return e || step == CHECKOUT_ASK ? e : ERR_INTERNAL_ERROR;
}

static struct checkout_context checkout_context(struct fixture *d)
{
    return (struct checkout_context){d->billing, &d->work};
}

static struct checkout begin(struct fixture *d, const char *key)
{
    struct purchase p = {.fixture = d, .key = key};
    assert_int_equal(transact(d, STORE_WRITE, begin_run, &p), ERR_NONE);
    return p.checkout;
}

static struct checkout buy(struct fixture *d, const char *key)
{
    struct checkout c = begin(d, key);
    const struct checkout_context cd = checkout_context(d);
    assert_int_equal(checkout_session_open(&cd, &c), ERR_NONE);
    assert_int_equal(c.status, CHECKOUT_OPEN);
    return c;
}

struct payment {
    struct str id;
    struct builtin_session session;
};

static enum err pay_run(struct tx *tx, void *arg)
{
    struct payment *p = arg;
    return builtin_session_pay(tx->db, p->id, tx->now_us, tx->arena, &p->session);
}

/* The subscription that was bought. */
static struct str pay(struct fixture *d, struct str session_id)
{
    struct payment p = {.id = session_id};
    assert_int_equal(transact(d, STORE_WRITE, pay_run, &p), ERR_NONE);
    return p.session.session.subscription_id;
}

struct change {
    struct str id;
    enum billing_status status;
};

static enum err change_run(struct tx *tx, void *arg)
{
    const struct change *c = arg;
    return builtin_subscription_put(tx->db,
                                    &(struct billing_subscription){.id = c->id, .status = c->status, .quantity = 1});
}

static void change(struct fixture *d, struct str id, enum billing_status status)
{
    assert_int_equal(transact(d, STORE_WRITE, change_run, &(struct change){id, status}), ERR_NONE);
}

/* ---- receiving events ---- */

static void tell(struct fixture *d, const char *event, enum billing_object object, struct str id)
{
    struct billing_event e = {.id = str_z(event), .object = object, .object_id = id};
    assert_int_equal(jobs_billing_event_receive(&d->work, &e), ERR_NONE);
}

/* ---- results ---- */

struct state {
    struct id account;
    struct billing_account known;
    struct checkout checkout;
    enum err none;
};

static enum err state_run(struct tx *tx, void *arg)
{
    struct state *s = arg;
    s->none = checkout_current(tx, &s->account, &s->checkout);
    return billing_account_get(tx, &s->account, &s->known);
}

static void expect(struct fixture *d, const char *checkout, enum subscription_status subscription)
{
    struct state s = {.account = d->account};
    assert_int_equal(transact(d, STORE_READ, state_run, &s), ERR_NONE);
    assert_string_equal(s.none ? "none" : checkout_status_text(s.checkout.status), checkout);
    assert_int_equal(s.known.status, subscription);
}

static enum err schedule_run(struct tx *tx, void *arg)
{
    (void)arg;
    return jobs_schedule_billing(tx);
}

static void reconcile_from_now_on(struct fixture *d)
{
    assert_int_equal(transact(d, STORE_WRITE, schedule_run, NULL), ERR_NONE);
    jobs_drain(d->jobs);
}

/* ---- events ---- */

static void test_a_payment_is_applied_once(void **state)
{
    struct fixture *d = *state;
    struct checkout c = buy(d, "key-1");
    pay(d, c.session_id);
    expect(d, "open", SUBSCRIPTION_NONE);
    tell(d, "evt_1", BILLING_OBJECT_SESSION, c.session_id);
    jobs_drain(d->jobs);
    expect(d, "complete", SUBSCRIPTION_ACTIVE);
}

/* BILLING-23 */
static void test_the_order_of_events_does_not_matter(void **state)
{
    struct fixture *d = *state;
    struct checkout c = buy(d, "key-1");
    struct str sub = pay(d, c.session_id);
    tell(d, "evt_2", BILLING_OBJECT_SUBSCRIPTION, sub);
    jobs_drain(d->jobs);
    expect(d, "open", SUBSCRIPTION_ACTIVE);
    tell(d, "evt_1", BILLING_OBJECT_SESSION, c.session_id);
    jobs_drain(d->jobs);
    expect(d, "complete", SUBSCRIPTION_ACTIVE);
    change(d, sub, BILLING_CANCELED);
    tell(d, "evt_4", BILLING_OBJECT_SUBSCRIPTION, sub);
    jobs_drain(d->jobs);
    expect(d, "none", SUBSCRIPTION_NONE);
    tell(d, "evt_3", BILLING_OBJECT_SUBSCRIPTION, sub); /* the older event, past due */
    tell(d, "evt_5", BILLING_OBJECT_SESSION, c.session_id);
    jobs_drain(d->jobs);
    expect(d, "none", SUBSCRIPTION_NONE);
}

static void test_an_event_seen_before_has_no_effect(void **state)
{
    struct fixture *d = *state;
    struct str sub = pay(d, buy(d, "key-1").session_id);
    tell(d, "evt_1", BILLING_OBJECT_SUBSCRIPTION, sub);
    jobs_drain(d->jobs);
    change(d, sub, BILLING_PAST_DUE);
    tell(d, "evt_1", BILLING_OBJECT_SUBSCRIPTION, sub);
    jobs_drain(d->jobs);
    expect(d, "open", SUBSCRIPTION_ACTIVE);
    tell(d, "evt_2", BILLING_OBJECT_SUBSCRIPTION, sub);
    jobs_drain(d->jobs);
    expect(d, "open", SUBSCRIPTION_PAST_DUE);
}

/* BILLING-25 */
static void test_events_of_unknown_objects_have_no_effect(void **state)
{
    struct fixture *d = *state;
    tell(d, "evt_1", BILLING_OBJECT_NONE, STR_NONE);
    tell(d, "evt_2", BILLING_OBJECT_SESSION, STR("cs_unknown"));
    tell(d, "evt_3", BILLING_OBJECT_SUBSCRIPTION, STR("sub_unknown"));
    jobs_drain(d->jobs);
    advance(d, 3600);
    expect(d, "none", SUBSCRIPTION_NONE);
}

static void test_a_provider_that_does_not_answer_is_called_again(void **state)
{
    struct fixture *d = *state;
    struct checkout c = buy(d, "key-1");
    pay(d, c.session_id);
    fault("session_get", FAULT_TIMEOUT, 1);
    fault("subscription_get", FAULT_ERROR, 1);
    tell(d, "evt_1", BILLING_OBJECT_SESSION, c.session_id);
    jobs_drain(d->jobs);
    expect(d, "open", SUBSCRIPTION_NONE);
    advance(d, 6);
    expect(d, "complete", SUBSCRIPTION_NONE);
    advance(d, 6);
    expect(d, "complete", SUBSCRIPTION_ACTIVE);
}

/* BILLING-24 */
static void test_a_subscription_without_events_is_read_again_the_next_day(void **state)
{
    struct fixture *d = *state;
    struct checkout c = buy(d, "key-1");
    struct str sub = pay(d, c.session_id);
    tell(d, "evt_1", BILLING_OBJECT_SESSION, c.session_id);
    jobs_drain(d->jobs);
    change(d, sub, BILLING_PAST_DUE);
    advance(d, 86300);
    expect(d, "complete", SUBSCRIPTION_ACTIVE);
    advance(d, 200);
    expect(d, "complete", SUBSCRIPTION_PAST_DUE);
    change(d, sub, BILLING_CANCELED);
    advance(d, 86500);
    expect(d, "none", SUBSCRIPTION_NONE);
}

struct second {
    struct id account;
    struct str id;
};

static enum err second_run(struct tx *tx, void *arg)
{
    struct second *s = arg;
    const struct billing_subscription bought = {
        .account_id = id_str(&s->account), .status = BILLING_ACTIVE, .plan = STR("weekly"), .quantity = 1};
    return builtin_subscription_create(tx->db, &bought, STR("owner@example.com"), tx->arena, &s->id);
}

/* It is paid for, but no event follows when the first one ends. */
/* BILLING-26 */
static void test_a_second_subscription_replaces_one_that_has_ended(void **state)
{
    struct fixture *d = *state;
    struct checkout c = buy(d, "key-1");
    struct str first = pay(d, c.session_id);
    tell(d, "evt_1", BILLING_OBJECT_SESSION, c.session_id);
    jobs_drain(d->jobs);
    struct second s = {.account = d->account};
    assert_int_equal(transact(d, STORE_WRITE, second_run, &s), ERR_NONE);
    tell(d, "evt_2", BILLING_OBJECT_SUBSCRIPTION, s.id);
    jobs_drain(d->jobs);
    change(d, first, BILLING_CANCELED);
    tell(d, "evt_3", BILLING_OBJECT_SUBSCRIPTION, first);
    jobs_drain(d->jobs);
    expect(d, "none", SUBSCRIPTION_NONE);
    advance(d, 86500);
    expect(d, "none", SUBSCRIPTION_ACTIVE);
}

/* ---- an event while the object is being read ---- */

struct slow {
    struct billing billing; /* wraps the built-in provider */
    struct billing_ops ops;
    struct fixture *fixture;
    struct str subscription_id;
    atomic_int reads;
};

/* The state changes, with an event, between the provider's answer and the end of the job. */
static enum outcome read_then_change(struct billing *b, struct str id, struct arena *a,
                                     struct billing_subscription *ret)
{
    struct slow *s = (struct slow *)b;
    struct fixture *d = s->fixture;
    enum outcome o = d->billing->ops->subscription_get(d->billing, id, a, ret);
    if (s->reads++ == 0) {
        change(d, s->subscription_id, BILLING_PAST_DUE);
        tell(d, "evt_late", BILLING_OBJECT_SUBSCRIPTION, s->subscription_id);
    }
    return o;
}

/* BILLING-23 */
static void test_an_object_that_changes_while_it_is_read_is_read_again(void **state)
{
    struct fixture *d = *state;
    struct slow slow = {.fixture = d, .ops = {.subscription_get = read_then_change}};
    slow.billing.ops = &slow.ops;
    slow.subscription_id = pay(d, buy(d, "key-1").session_id);
    jobs_free(d->jobs);
    d->kinds[0] = jobs_kind_billing_sync(&slow.billing);
    const struct jobs_options options = {
        .config = &d->fixture->config, .store = d->fixture->store, .kinds = d->kinds, .kind_count = 1};
    d->jobs = jobs_new(&options);
    assert_int_equal(jobs_start(d->jobs, NULL), ERR_NONE);
    tell(d, "evt_1", BILLING_OBJECT_SUBSCRIPTION, slow.subscription_id);
    jobs_drain(d->jobs);
    assert_int_equal(slow.reads, 2);
    expect(d, "open", SUBSCRIPTION_PAST_DUE);
    jobs_free(d->jobs);
    d->jobs = NULL;
}

/* ---- reconciliation ---- */

/* BILLING-17 */
static void test_a_checkout_without_an_answer_is_repeated_with_its_key(void **state)
{
    struct fixture *d = *state;
    struct checkout c = begin(d, "key-1");
    reconcile_from_now_on(d);
    expect(d, "preparing", SUBSCRIPTION_NONE); /* the request may still be in progress */
    advance(d, 601);
    expect(d, "open", SUBSCRIPTION_NONE);
    struct billing_session s;
    const struct billing_session_request same = {.key = id_str(&c.id),
                                                 .account_id = STR(""),
                                                 .email = STR(""),
                                                 .plan = STR("weekly"),
                                                 .success_url = STR(""),
                                                 .cancel_url = STR("")};
    assert_int_equal(d->billing->ops->session_create(d->billing, &same, &d->arena, &s), OUTCOME_DONE);
    struct state found = {.account = d->account};
    assert_int_equal(transact(d, STORE_READ, state_run, &found), ERR_NONE);
    assert_true(str_eq(s.id, found.checkout.session_id));
}

static void test_a_payment_without_an_event_is_found(void **state)
{
    struct fixture *d = *state;
    reconcile_from_now_on(d);
    pay(d, buy(d, "key-1").session_id);
    advance(d, 601);
    expect(d, "complete", SUBSCRIPTION_ACTIVE);
}

/* A session that support created in the provider's dashboard. */
static struct str create_elsewhere(struct fixture *d)
{
    const struct billing_session_request request = {.key = STR("elsewhere"),
                                                    .account_id = id_str(&d->account),
                                                    .email = STR("a@example.com"),
                                                    .plan = STR("weekly"),
                                                    .quantity = 1,
                                                    .success_url = STR("https://door.example/account"),
                                                    .cancel_url = STR("https://door.example/account")};
    struct billing_session s;
    assert_int_equal(d->billing->ops->session_create(d->billing, &request, &d->arena, &s), OUTCOME_DONE);
    return s.id;
}

/* BILLING-17 */
static void test_an_open_checkout_of_a_subscriber_is_expired(void **state)
{
    struct fixture *d = *state;
    reconcile_from_now_on(d);
    struct checkout c = buy(d, "key-1");
    struct str other = pay(d, create_elsewhere(d));
    tell(d, "evt_1", BILLING_OBJECT_SUBSCRIPTION, other);
    jobs_drain(d->jobs);
    advance(d, 601);
    expect(d, "expired", SUBSCRIPTION_ACTIVE);
    assert_null(pay(d, c.session_id).p);
}

static void test_a_run_ends_after_some_calls_without_an_answer(void **state)
{
    struct fixture *d = *state;
    begin(d, "key-1");
    reconcile_from_now_on(d);
    fault("session_create", FAULT_TIMEOUT, 2);
    for (int i = 0; i < 2; i++) {
        advance(d, 601);
        expect(d, "preparing", SUBSCRIPTION_NONE);
    }
    advance(d, 601);
    expect(d, "open", SUBSCRIPTION_NONE);
}

static void test_after_23_hours_a_checkout_is_not_repeated(void **state)
{
    struct fixture *d = *state;
    begin(d, "key-1");
    clock_set_offset_s(CHECKOUT_RESOLVE_S + 1);
    reconcile_from_now_on(d);
    advance(d, 601);
    expect(d, "preparing", SUBSCRIPTION_NONE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_payment_is_applied_once),
        TEST(test_the_order_of_events_does_not_matter),
        TEST(test_an_event_seen_before_has_no_effect),
        TEST(test_events_of_unknown_objects_have_no_effect),
        TEST(test_a_provider_that_does_not_answer_is_called_again),
        TEST(test_a_second_subscription_replaces_one_that_has_ended),
        TEST(test_a_subscription_without_events_is_read_again_the_next_day),
        TEST(test_an_object_that_changes_while_it_is_read_is_read_again),
        TEST(test_a_checkout_without_an_answer_is_repeated_with_its_key),
        TEST(test_a_payment_without_an_event_is_found),
        TEST(test_an_open_checkout_of_a_subscriber_is_expired),
        TEST(test_a_run_ends_after_some_calls_without_an_answer),
        TEST(test_after_23_hours_a_checkout_is_not_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
