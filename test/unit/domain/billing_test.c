/* What the billing provider says, in any order and more than once, and what the account becomes of it. */
#include "domain/billing.h"
#include "domain/billing_sync.h"

#include "domain/checkout.h"
#include "domain/house.h"

#define STATE "SELECT plan, subscription_status, customer_id, subscription_id FROM account"

static void prepare(struct house *h)
{
    h->fixture->config.plans[0].id = "weekly";
    h->fixture->config.plans[1].id = "yearly";
    house_sql(h, "UPDATE account SET plan = NULL, subscription_status = 'none'");
}

struct apply {
    struct billing_facts facts;
    bool live;
};

static enum err apply_run(struct tx *tx, void *arg)
{
    struct apply *a = arg;
    return billing_apply(tx, &a->facts, &a->live);
}

/* Whether it lives on. */
static bool apply(struct house *h, const char *id, enum subscription_status status, const char *plan)
{
    struct apply a = {.facts = {.id = str_z(id),
                                .customer_id = STR("cus_1"),
                                .account_id = id_str(&h->account),
                                .status = status,
                                .plan = str_z(plan)}};
    assert_int_equal(house_run(h, STORE_WRITE, apply_run, &a), ERR_NONE);
    return a.live;
}

static void test_a_subscription_is_given_followed_and_taken(void **state)
{
    struct house *h = *state;
    prepare(h);
    assert_true(apply(h, "sub_1", SUBSCRIPTION_ACTIVE, "yearly"));
    house_expect(h, STATE, "yearly|active|cus_1|sub_1\n");
    assert_true(apply(h, "sub_1", SUBSCRIPTION_PAST_DUE, "yearly"));
    house_expect(h, STATE, "yearly|past_due|cus_1|sub_1\n");
    assert_true(apply(h, "sub_1", SUBSCRIPTION_ACTIVE, "weekly"));
    house_expect(h, STATE, "weekly|active|cus_1|sub_1\n");
    for (int i = 0; i < 2; i++) {
        assert_false(apply(h, "sub_1", SUBSCRIPTION_NONE, "weekly"));
        house_expect(h, STATE, "|none|cus_1|\n");
    }
}

static void test_activation_provisions_again_but_a_look_from_time_to_time_does_not(void **state)
{
    struct house *h = *state;
    prepare(h);
    apply(h, "sub_1", SUBSCRIPTION_ACTIVE, "yearly");
    house_sql(h, "UPDATE building SET virtual_number = NULL");
    struct apply look = {.facts = {.id = STR("sub_1"),
                                   .customer_id = STR("cus_1"),
                                   .account_id = id_str(&h->account),
                                   .status = SUBSCRIPTION_ACTIVE,
                                   .plan = STR("yearly"),
                                   .untold = true}};
    assert_int_equal(house_run(h, STORE_WRITE, apply_run, &look), ERR_NONE);
    assert_true(look.live);
    house_expect(h, "SELECT count(*) FROM job", "0\n");
    look.facts.plan = STR("weekly");
    assert_int_equal(house_run(h, STORE_WRITE, apply_run, &look), ERR_NONE);
    house_expect(h, STATE, "weekly|active|cus_1|sub_1\n");
    house_sql(h, "DELETE FROM job");
    apply(h, "sub_1", SUBSCRIPTION_ACTIVE, "weekly");
    house_expect(h, "SELECT kind FROM job", "provision\n");
}

static void test_a_price_that_is_no_plan_of_ours_changes_no_plan(void **state)
{
    struct house *h = *state;
    prepare(h);
    apply(h, "sub_1", SUBSCRIPTION_ACTIVE, "yearly");
    apply(h, "sub_1", SUBSCRIPTION_ACTIVE, NULL);
    house_expect(h, STATE, "yearly|active|cus_1|sub_1\n");
}

static void test_a_second_subscription_takes_nothing_from_the_first(void **state)
{
    struct house *h = *state;
    prepare(h);
    apply(h, "sub_1", SUBSCRIPTION_ACTIVE, "yearly");
    assert_true(apply(h, "sub_2", SUBSCRIPTION_ACTIVE, "weekly"));
    assert_false(apply(h, "sub_2", SUBSCRIPTION_NONE, "weekly"));
    house_expect(h, STATE, "yearly|active|cus_1|sub_1\n");
    apply(h, "sub_1", SUBSCRIPTION_NONE, "yearly");
    assert_true(apply(h, "sub_3", SUBSCRIPTION_ACTIVE, "weekly"));
    assert_false(apply(h, "sub_1", SUBSCRIPTION_NONE, "yearly"));
    house_expect(h, STATE, "weekly|active|cus_1|sub_3\n");
}

static void test_a_subscription_of_nobody_here_changes_nothing(void **state)
{
    struct house *h = *state;
    prepare(h);
    struct id stranger = id_new(h->now_us);
    const struct str owners[] = {id_str(&stranger), STR("not an id"), STR_NONE};
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        struct apply a = {
            .facts = {
                .id = STR("sub_9"), .account_id = owners[i], .status = SUBSCRIPTION_ACTIVE, .plan = STR("weekly")}};
        assert_int_equal(house_run(h, STORE_WRITE, apply_run, &a), ERR_NONE);
        assert_false(a.live);
    }
    house_expect(h, STATE, "|none||\n");
}

static void test_one_that_the_account_has_is_its_own_whatever_it_says_of_its_owner(void **state)
{
    struct house *h = *state;
    prepare(h);
    apply(h, "sub_1", SUBSCRIPTION_ACTIVE, "yearly");
    struct apply a = {
        .facts = {
            .id = STR("sub_1"), .customer_id = STR("cus_1"), .account_id = STR_NONE, .status = SUBSCRIPTION_PAST_DUE}};
    assert_int_equal(house_run(h, STORE_WRITE, apply_run, &a), ERR_NONE);
    house_expect(h, STATE, "yearly|past_due|cus_1|sub_1\n");
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

static bool fresh(struct house *h, const char *id)
{
    struct note n = {.id = id};
    assert_int_equal(house_run(h, STORE_WRITE, note_run, &n), ERR_NONE);
    return n.fresh;
}

static enum err purge_run(struct tx *tx, void *arg)
{
    return billing_event_purge(tx, tx->now_us - 30 * DAYS, 100, arg);
}

static void test_an_event_is_new_once_and_forgotten_after_a_month(void **state)
{
    struct house *h = *state;
    int64_t count;
    assert_true(fresh(h, "evt_1"));
    assert_false(fresh(h, "evt_1"));
    assert_true(fresh(h, "evt_2"));
    h->now_us += 29 * DAYS;
    assert_int_equal(house_run(h, STORE_WRITE, purge_run, &count), ERR_NONE);
    assert_int_equal(count, 0);
    h->now_us += DAYS;
    assert_int_equal(house_run(h, STORE_WRITE, purge_run, &count), ERR_NONE);
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

static void test_an_object_has_one_job_however_often_it_is_queued(void **state)
{
    struct house *h = *state;
    assert_int_equal(house_run(h, STORE_WRITE, queue_run, NULL), ERR_NONE);
    house_expect(h, "SELECT id FROM job ORDER BY id", "billing session cs_1\nbilling subscription sub_1\n");
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
    x(test_a_subscription_is_given_followed_and_taken),                                                                \
        x(test_activation_provisions_again_but_a_look_from_time_to_time_does_not),                                     \
        x(test_a_price_that_is_no_plan_of_ours_changes_no_plan),                                                       \
        x(test_a_second_subscription_takes_nothing_from_the_first),                                                    \
        x(test_a_subscription_of_nobody_here_changes_nothing),                                                         \
        x(test_one_that_the_account_has_is_its_own_whatever_it_says_of_its_owner),                                     \
        x(test_an_event_is_new_once_and_forgotten_after_a_month),                                                      \
        x(test_an_object_has_one_job_however_often_it_is_queued), x(test_a_payload_names_one_object)

HOUSE_RUN(TESTS)
