/* Subscriptions of the billing provider, applied to accounts in any order and more than once. */
#include "billing/billing.h"
#include "billing/billing_sync.h"

#include "billing/checkout.h"
#include "domain/building_fixture.h"

#define STATE "SELECT plan, subscription_status, customer_id, subscription_id FROM account"

struct apply {
    struct billing_facts facts;
    bool live;
};

static enum err apply_run(struct tx *tx, void *arg)
{
    struct apply *a = arg;
    return billing_apply(tx, &a->facts, &a->live);
}

/* Returns true if the subscription has not ended. */
static bool apply(struct building_fixture *fx, const char *id, enum subscription_status status, const char *plan)
{
    struct apply a = {.facts = {.id = str_z(id),
                                .customer_id = STR("cus_1"),
                                .account_id = id_str(&fx->account),
                                .status = status,
                                .plan = str_z(plan)}};
    assert_int_equal(fixture_run(fx, STORE_WRITE, apply_run, &a), ERR_NONE);
    return a.live;
}

static void test_a_subscription_is_set_changed_and_ended(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    assert_true(apply(fx, "sub_1", SUBSCRIPTION_ACTIVE, "yearly"));
    fixture_expect(fx, STATE, "yearly|active|cus_1|sub_1\n");
    assert_true(apply(fx, "sub_1", SUBSCRIPTION_PAST_DUE, "yearly"));
    fixture_expect(fx, STATE, "yearly|past_due|cus_1|sub_1\n");
    assert_true(apply(fx, "sub_1", SUBSCRIPTION_ACTIVE, "weekly"));
    fixture_expect(fx, STATE, "weekly|active|cus_1|sub_1\n");
    for (int i = 0; i < 2; i++) {
        assert_false(apply(fx, "sub_1", SUBSCRIPTION_NONE, "weekly"));
        fixture_expect(fx, STATE, "|none|cus_1|\n");
    }
}

static void test_activation_provisions_again_but_a_routine_reading_does_not(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    apply(fx, "sub_1", SUBSCRIPTION_ACTIVE, "yearly");
    fixture_sql(fx, "UPDATE building SET virtual_number = NULL");
    struct apply look = {.facts = {.id = STR("sub_1"),
                                   .customer_id = STR("cus_1"),
                                   .account_id = id_str(&fx->account),
                                   .status = SUBSCRIPTION_ACTIVE,
                                   .plan = STR("yearly"),
                                   .untold = true}};
    assert_int_equal(fixture_run(fx, STORE_WRITE, apply_run, &look), ERR_NONE);
    assert_true(look.live);
    fixture_expect(fx, "SELECT count(*) FROM job", "0\n");
    look.facts.plan = STR("weekly");
    assert_int_equal(fixture_run(fx, STORE_WRITE, apply_run, &look), ERR_NONE);
    fixture_expect(fx, STATE, "weekly|active|cus_1|sub_1\n");
    fixture_sql(fx, "DELETE FROM job");
    apply(fx, "sub_1", SUBSCRIPTION_ACTIVE, "weekly");
    fixture_expect(fx, "SELECT kind FROM job", "provision\n");
}

/* BILLING-27 */
static void test_an_unknown_price_changes_no_plan(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    apply(fx, "sub_1", SUBSCRIPTION_ACTIVE, "yearly");
    apply(fx, "sub_1", SUBSCRIPTION_ACTIVE, NULL);
    fixture_expect(fx, STATE, "yearly|active|cus_1|sub_1\n");
}

/* BILLING-26 */
static void test_a_second_subscription_takes_nothing_from_the_first(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    apply(fx, "sub_1", SUBSCRIPTION_ACTIVE, "yearly");
    assert_true(apply(fx, "sub_2", SUBSCRIPTION_ACTIVE, "weekly"));
    assert_false(apply(fx, "sub_2", SUBSCRIPTION_NONE, "weekly"));
    fixture_expect(fx, STATE, "yearly|active|cus_1|sub_1\n");
    apply(fx, "sub_1", SUBSCRIPTION_NONE, "yearly");
    assert_true(apply(fx, "sub_3", SUBSCRIPTION_ACTIVE, "weekly"));
    assert_false(apply(fx, "sub_1", SUBSCRIPTION_NONE, "yearly"));
    fixture_expect(fx, STATE, "weekly|active|cus_1|sub_3\n");
}

static void test_a_subscription_without_an_account_changes_nothing(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    struct id stranger = id_new(fx->now_us);
    const struct str owners[] = {id_str(&stranger), STR("not an id"), STR_NONE};
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        struct apply a = {
            .facts = {
                .id = STR("sub_9"), .account_id = owners[i], .status = SUBSCRIPTION_ACTIVE, .plan = STR("weekly")}};
        assert_int_equal(fixture_run(fx, STORE_WRITE, apply_run, &a), ERR_NONE);
        assert_false(a.live);
    }
    fixture_expect(fx, STATE, "|none||\n");
}

static void test_a_known_subscription_keeps_its_account_whatever_it_names(void **state)
{
    struct building_fixture *fx = *state;
    fixture_unsubscribe(fx);
    apply(fx, "sub_1", SUBSCRIPTION_ACTIVE, "yearly");
    struct apply a = {
        .facts = {
            .id = STR("sub_1"), .customer_id = STR("cus_1"), .account_id = STR_NONE, .status = SUBSCRIPTION_PAST_DUE}};
    assert_int_equal(fixture_run(fx, STORE_WRITE, apply_run, &a), ERR_NONE);
    fixture_expect(fx, STATE, "yearly|past_due|cus_1|sub_1\n");
}

/* ---- events ---- */

struct note {
    const char *id;
    bool fresh;
};

static enum err note_run(struct tx *tx, void *arg)
{
    struct note *n = arg;
    return billing_event_note(tx, str_z(n->id), &n->fresh);
}

static bool fresh(struct building_fixture *fx, const char *id)
{
    struct note n = {.id = id};
    assert_int_equal(fixture_run(fx, STORE_WRITE, note_run, &n), ERR_NONE);
    return n.fresh;
}

static enum err purge_run(struct tx *tx, void *arg)
{
    return billing_event_purge(tx, tx->now_us - 30 * DAYS, 100, arg);
}

/* BILLING-24 */
static void test_an_event_is_recorded_once_and_purged_after_a_month(void **state)
{
    struct building_fixture *fx = *state;
    int64_t count;
    assert_true(fresh(fx, "evt_1"));
    assert_false(fresh(fx, "evt_1"));
    assert_true(fresh(fx, "evt_2"));
    fx->now_us += 29 * DAYS;
    assert_int_equal(fixture_run(fx, STORE_WRITE, purge_run, &count), ERR_NONE);
    assert_int_equal(count, 0);
    fx->now_us += DAYS;
    assert_int_equal(fixture_run(fx, STORE_WRITE, purge_run, &count), ERR_NONE);
    assert_int_equal(count, 2);
}

static enum err queue_run(struct tx *tx, void *arg)
{
    (void)arg;
    enum err e = billing_sync_queue(tx, BILLING_SUBJECT_SESSION, STR("cs_1"));
    if (!e)
        e = billing_sync_queue(tx, BILLING_SUBJECT_SESSION, STR("cs_1"));
    return e ? e : billing_sync_queue(tx, BILLING_SUBJECT_SUBSCRIPTION, STR("sub_1"));
}

/* BILLING-23 */
static void test_an_object_has_one_job_however_often_it_is_queued(void **state)
{
    struct building_fixture *fx = *state;
    assert_int_equal(fixture_run(fx, STORE_WRITE, queue_run, NULL), ERR_NONE);
    fixture_expect(fx, "SELECT id FROM job ORDER BY id", "billing session cs_1\nbilling subscription sub_1\n");
}

static void test_a_payload_names_one_object(void **state)
{
    (void)state;
    enum billing_subject subject;
    struct str object;
    assert_true(billing_sync_parse(STR("session cs_1"), &subject, &object));
    assert_int_equal(subject, BILLING_SUBJECT_SESSION);
    assert_true(str_eq(object, STR("cs_1")));
    assert_true(billing_sync_parse(STR("subscription sub_1"), &subject, &object));
    assert_int_equal(subject, BILLING_SUBJECT_SUBSCRIPTION);
    const struct str wrong[] = {STR(""), STR("session"), STR("session "), STR("invoice in_1"), STR(" cs_1")};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(billing_sync_parse(wrong[i], &subject, &object));
}

#define TESTS(x)                                                                                                       \
    x(test_a_subscription_is_set_changed_and_ended),                                                                   \
        x(test_activation_provisions_again_but_a_routine_reading_does_not), x(test_an_unknown_price_changes_no_plan),  \
        x(test_a_second_subscription_takes_nothing_from_the_first),                                                    \
        x(test_a_subscription_without_an_account_changes_nothing),                                                     \
        x(test_a_known_subscription_keeps_its_account_whatever_it_names),                                              \
        x(test_an_event_is_recorded_once_and_purged_after_a_month),                                                    \
        x(test_an_object_has_one_job_however_often_it_is_queued), x(test_a_payload_names_one_object)

FIXTURE_RUN(TESTS)
