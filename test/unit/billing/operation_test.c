/* Building operations in the store: quotes, execution, steps, and removal. */
#include "domain/tx_fixture.h"

#include "billing/operation_row.h"
#include "billing/operation_step.h"
#include "domain/number.h"
#include "domain/removal.h"

#define KEY  STR("operation-test-key-1")
#define KEY2 STR("operation-test-key-2")

static const unsigned char hash[SHA256_LEN] = {7};

static const struct operation_facts facts = {
    .active = true,
    .price_id = {"price_1", 7},
    .currency = {"usd", 3},
    .interval = {"week", 4},
    .amount_minor = 499,
    .quantity = 1,
};

static struct id subscriber(struct tx *tx)
{
    struct id id;
    assert_none(account_ensure(tx, OWNER, &id));
    tx_sql(tx, "UPDATE account SET subscription_status = 'active', plan = 'weekly', subscription_id = 'sub_1', "
               "phone = '+12025550100'");
    return id;
}

static struct operation_input addition(void)
{
    return (struct operation_input){
        .action = OPERATION_ADD,
        .label = STR("Cabin"),
        .address = {.city = STR("Portland"), .state = STR("OR"), .zip = STR("97201"), .country = STR("US")},
        .unlock_tone = STR("9"),
    };
}

static enum err quote_as(struct tx *tx, const struct id *account, struct operation_input in,
                         const struct operation_facts *f, struct operation *ret)
{
    const struct operation_offer offer = {.facts = f, .next_invoice_minor = 998, .proration_s = 1};
    return operation_quote(tx, account, &in, &offer, ret);
}

static struct operation quote(struct tx *tx, const struct id *account)
{
    struct operation o;
    assert_none(quote_as(tx, account, addition(), &facts, &o));
    return o;
}

static struct operation_request request_for(const struct operation *o, struct str key)
{
    return (struct operation_request){.account_id = o->account_id,
                                      .quote_id = o->id,
                                      .action = o->action,
                                      .building_id = o->action == OPERATION_REMOVE ? o->building_id : (struct id){{0}},
                                      .key = key,
                                      .hash = hash};
}

static enum err start_as(struct tx *tx, const struct operation *o, struct str key, const struct operation_facts *f,
                         struct operation *ret)
{
    struct operation_request r = request_for(o, key);
    bool replayed;
    return operation_start(tx, &r, f, ret, &replayed);
}

static struct operation start(struct tx *tx, const struct operation *o)
{
    struct operation running;
    assert_none(start_as(tx, o, KEY, &facts, &running));
    return running;
}

static struct operation find(struct tx *tx, const struct operation *o)
{
    struct operation found;
    assert_none(operation_find(tx, &o->id, &found));
    return found;
}

static void to(struct tx *tx, struct operation *o, enum operation_step next)
{
    assert_none(operation_record(tx, o, next));
}

/* ---- quotes and their execution ---- */

static void test_a_quote_is_read_as_it_was_made(struct tx *tx)
{
    struct id account = subscriber(tx);
    struct operation made = quote(tx, &account), o = find(tx, &made);
    assert_int_equal(o.status, OPERATION_QUOTED);
    assert_int_equal(o.expires_us, TX_NOW + 15 * MINUTES);
    assert_str(o.label, "Cabin");
    assert_null(o.address.street.p);
    assert_str(o.address.zip, "97201");
    assert_str(o.phone_number, "+12025550100");
    assert_str(o.billing.price_id, "price_1");
    assert_int_equal(o.billing.current_quantity, 1);
    assert_int_equal(o.billing.new_quantity, 2);
    assert_int_equal(o.billing.next_invoice_minor, 998);
    assert_int_equal(o.building_count, 1);
    assert_false(id_given(&o.building_id));
    tx->now_us += 15 * MINUTES;
    assert_int_equal(find(tx, &made).status, OPERATION_EXPIRED);
    struct id other = {"ffffffffffffffffffffffff"};
    assert_error(operation_get(tx, &other, &made.id, &o), ERR_NOT_FOUND);
}

static void test_tiered_prices_have_no_price_per_building(struct tx *tx)
{
    struct id account = subscriber(tx);
    struct operation_facts tiered = facts;
    struct operation o;
    tiered.amount_minor = -1;
    tiered.interval = STR_NONE;
    assert_none(quote_as(tx, &account, addition(), &tiered, &o));
    o = find(tx, &o);
    assert_int_equal(o.billing.per_building_minor, -1);
    assert_null(o.billing.interval.p);
    assert_none(start_as(tx, &o, KEY, &tiered, &o));
}

static void test_no_quote_without_a_matching_subscription(struct tx *tx)
{
    struct id account = subscriber(tx);
    struct operation_facts f = facts;
    struct operation o;
    f.quantity = 2;
    assert_error(quote_as(tx, &account, addition(), &f, &o), ERR_BUILDING_BILLING_MISMATCH);
    assert_error(quote_as(tx, &account, addition(), NULL, &o), ERR_BUILDING_BILLING_MISMATCH);
    f.active = false;
    assert_error(quote_as(tx, &account, addition(), &f, &o), ERR_MULTI_BUILDING_REQUIRED);
    tx_sql(tx, "UPDATE account SET subscription_id = NULL");
    assert_error(quote_as(tx, &account, addition(), &facts, &o), ERR_BUILDING_BILLING_MISMATCH);
    tx_sql(tx, "UPDATE account SET subscription_status = 'past_due'");
    assert_error(quote_as(tx, &account, addition(), &facts, &o), ERR_MULTI_BUILDING_REQUIRED);
}

/* BUILDING-8 */
static void test_any_difference_from_the_quote_makes_it_stale(struct tx *tx)
{
    struct id account = subscriber(tx);
    struct operation o = quote(tx, &account), x;
    struct operation_facts changed[] = {facts, facts, facts, facts, facts, facts};
    changed[0].active = false;
    changed[1].price_id = STR("price_2");
    changed[2].currency = STR("cad");
    changed[3].interval = STR("year");
    changed[4].amount_minor = 500;
    changed[5].quantity = 2;
    for (size_t i = 0; i < sizeof changed / sizeof *changed; i++)
        assert_error(start_as(tx, &o, KEY, &changed[i], &x), ERR_QUOTE_STALE);
    assert_error(start_as(tx, &o, KEY, NULL, &x), ERR_QUOTE_STALE);
    tx_sql(tx, "UPDATE account SET subscription_id = 'sub_2'");
    assert_error(start_as(tx, &o, KEY, &facts, &x), ERR_QUOTE_STALE);
    tx_sql(tx, "UPDATE account SET subscription_id = 'sub_1', subscription_status = 'past_due'");
    assert_error(start_as(tx, &o, KEY, &facts, &x), ERR_QUOTE_STALE);
    tx_sql(tx, "UPDATE account SET subscription_status = 'active'");
    assert_none(start_as(tx, &o, KEY, &facts, &x));
}

/* BUILDING-16 */
static void test_a_started_operation_has_a_job_and_a_building_and_blocks_others(struct tx *tx)
{
    struct id account = subscriber(tx);
    struct operation first = quote(tx, &account), second = quote(tx, &account), x;
    struct str payload;
    struct operation o = start(tx, &first);
    assert_int_equal(o.status, OPERATION_RUNNING);
    assert_int_equal(o.step, STEP_ADD_QUANTITY);
    assert_true(id_given(&o.building_id));
    assert_int_equal(take_jobs(tx, JOB_OPERATION, &payload), 1);
    assert_str(payload, o.id.text);
    assert_error(start_as(tx, &second, KEY2, &facts, &x), ERR_BUILDING_BUSY);
    assert_error(start_as(tx, &first, KEY2, &facts, &x), ERR_INVALID_QUOTE);
    struct operation_request again = request_for(&first, KEY);
    bool replayed;
    assert_none(operation_check(tx, &again, &x, &replayed));
    assert_true(replayed);
    assert_id(x.building_id, o.building_id);
    again.hash = (const unsigned char[SHA256_LEN]){8};
    assert_error(operation_check(tx, &again, &x, &replayed), ERR_IDEMPOTENCY_CONFLICT);
}

static void test_a_quote_given_while_an_operation_is_stuck_waits_for_its_end(struct tx *tx)
{
    struct id account = subscriber(tx);
    struct operation first = quote(tx, &account);
    struct operation o = start(tx, &first), during, x;
    struct operation_facts f = facts;
    f.quantity = 2; /* during an addition */
    assert_none(quote_as(tx, &account, addition(), &f, &during));
    assert_error(start_as(tx, &during, KEY2, &f, &x), ERR_BUILDING_BUSY);
    f.quantity = 3;
    assert_error(quote_as(tx, &account, addition(), &f, &x), ERR_BUILDING_BILLING_MISMATCH);
    to(tx, &o, STEP_PAYMENT_FAILED);
    f.quantity = 2; /* there is still one building */
    assert_error(start_as(tx, &during, KEY2, &f, &x), ERR_BUILDING_BILLING_MISMATCH);
}

/* ---- steps ---- */

static void test_an_addition_takes_its_steps_and_ends(struct tx *tx)
{
    struct id account = subscriber(tx);
    struct operation quoted = quote(tx, &account), o = start(tx, &quoted), stale = o;
    tx->now_us += MINUTES;
    to(tx, &o, operation_next(o.step, STEP_DID));
    assert_int_equal(o.step, STEP_ADD_BUILDING);
    assert_int_equal(find(tx, &o).progressed_us, tx->now_us);
    assert_error(operation_record(tx, &stale, STEP_ADD_BUILDING), ERR_NOT_FOUND);
    assert_none(operation_insert_building(tx, &o));
    assert_none(operation_insert_building(tx, &o));
    struct building b;
    assert_none(building_get(tx, &account, &o.building_id, &b));
    assert_str(b.label, "Cabin");
    assert_str(b.unlock_tone, "9");
    assert_false(b.primary);
    to(tx, &o, operation_next(o.step, STEP_DID));
    assert_none(operation_set_number(tx, &o, STR("+12025550101")));
    to(tx, &o, operation_next(o.step, STEP_DID));
    o = find(tx, &o);
    assert_int_equal(o.status, OPERATION_SUCCEEDED);
    assert_int_equal(o.step, STEP_NONE);
    assert_str(o.result_number, "+12025550101");
}

static void test_a_declined_payment_ends_it_and_a_refused_number_undoes_it(struct tx *tx)
{
    struct id account = subscriber(tx);
    struct operation quoted = quote(tx, &account), o = start(tx, &quoted);
    to(tx, &o, operation_next(o.step, STEP_REFUSED));
    o = find(tx, &o);
    assert_int_equal(o.status, OPERATION_FAILED);
    assert_int_equal(o.error, ERR_PAYMENT_FAILED);
    assert_int_equal(operation_next(STEP_ADD_NUMBER, STEP_REFUSED), STEP_ADD_UNDO_BUILDING);
    assert_int_equal(operation_next(STEP_ADD_UNDO_BUILDING, STEP_DID), STEP_ADD_UNDO_QUANTITY);
    assert_int_equal(operation_next(STEP_ADD_UNDO_QUANTITY, STEP_DID), STEP_ADD_FAILED);
}

static void test_a_step_that_must_succeed_is_asked_again_with_another_key(struct tx *tx)
{
    struct id account = subscriber(tx);
    struct operation quoted = quote(tx, &account), o = start(tx, &quoted);
    to(tx, &o, STEP_ADD_UNDO_QUANTITY);
    int64_t progressed_us = o.progressed_us;
    tx->now_us += MINUTES;
    to(tx, &o, operation_next(o.step, STEP_REFUSED));
    o = find(tx, &o);
    assert_int_equal(o.step, STEP_ADD_UNDO_QUANTITY);
    assert_int_equal(o.attempt, 1);
    assert_int_equal(o.progressed_us, progressed_us);
}

static void test_every_sequence_of_steps_ends_and_every_decision_has_a_next_step(struct tx *tx)
{
    (void)tx;
    for (enum operation_step s = STEP_NONE + 1; !operation_step_is_end(s); s++) {
        int steps = 0;
        assert_non_null(operation_step_text(s));
        for (enum operation_step at = s; !operation_step_is_end(at); at = operation_next(at, STEP_DID))
            assert_true(++steps < STEP_COUNT);
        assert_int_equal(operation_step_is_end(operation_next(s, STEP_REFUSED)), s == STEP_ADD_QUANTITY);
        enum operation_step end = operation_forward(s);
        while (!operation_step_is_end(end))
            end = operation_next(end, STEP_DID);
        assert_int_equal(end, STEP_SUCCEEDED);
        end = operation_backward(s);
        bool deleted = s == STEP_REMOVE_DELETE || s == STEP_REMOVE_QUANTITY;
        assert_int_equal(end == STEP_NONE, deleted);
        while (!deleted && !operation_step_is_end(end))
            end = operation_next(end, STEP_DID);
        assert_true(deleted || end == STEP_ADD_FAILED || end == STEP_REMOVE_UNDONE);
    }
}

/* BUILDING-21 */
static void test_five_minutes_without_progress_require_reconciliation_for_good(struct tx *tx)
{
    struct id account = subscriber(tx);
    struct operation quoted = quote(tx, &account), o = start(tx, &quoted);
    const struct operation *list;
    const struct str *emails;
    size_t count;
    tx->now_us += 5 * MINUTES - 1;
    assert_int_equal(find(tx, &o).status, OPERATION_RUNNING);
    assert_none(operation_progress(tx, &o));
    tx->now_us += 5 * MINUTES;
    assert_none(operation_list_current(tx, &list, &emails, &count));
    assert_int_equal(count, 1);
    assert_int_equal(list[0].status, OPERATION_RECONCILIATION_REQUIRED);
    assert_true(str_eq(emails[0], OWNER));
    assert_error(operation_record(tx, &o, STEP_ADD_BUILDING), ERR_NOT_FOUND); /* `o` has the status running */
    o = find(tx, &o);
    assert_none(operation_turn(tx, &o, operation_backward(o.step)));
    to(tx, &o, STEP_ADD_FAILED);
    o = find(tx, &o);
    assert_int_equal(o.status, OPERATION_FAILED);
    assert_int_equal(o.error, ERR_BUILDING_ADD_FAILED);
    assert_none(operation_list_current(tx, &list, &emails, &count));
    assert_int_equal(count, 0);
}

/* ---- removal ---- */

static struct id child(struct tx *tx, const struct id *account)
{
    struct operation quoted = quote(tx, account), o = start(tx, &quoted);
    struct str held;
    to(tx, &o, STEP_ADD_BUILDING);
    assert_none(operation_insert_building(tx, &o));
    assert_none(number_add_provided(tx, &o.building_id, STR("+12025550101"), &held));
    to(tx, &o, STEP_ADD_NUMBER);
    to(tx, &o, STEP_SUCCEEDED);
    return o.building_id;
}

static int64_t numbers_of(struct tx *tx, const struct id *building)
{
    int64_t n = 0;
    bool more;
    CURSOR c;
    assert_none(db_query(tx->db, SQL(number_list), &c));
    while (!db_next(&c, &more) && more) {
        const struct row_number_list row = row_number_list(&c, NULL);
        n += id_equal(&row.building_id, building);
    }
    return n;
}

static void test_a_removal_deletes_everything_in_parts(struct tx *tx)
{
    struct id account = subscriber(tx), building = child(tx, &account);
    struct building b;
    struct str payload;
    bool more = true;
    int parts = 0;
    tx_sql(tx, arena_printf(tx->arena,
                            "INSERT INTO activity (building_id, created_at, id, kind) "
                            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500) "
                            "SELECT '%s', i, 'e' || i, 1 FROM n",
                            building.text)
                   .p);
    for (; more; parts++)
        assert_none(removal_sweep(tx, &building, &more));
    assert_int_equal(parts, 3);
    assert_int_equal(numbers_of(tx, &building), 1);
    assert_none(removal_finish(tx, &account, &building));
    assert_error(building_get(tx, &account, &building, &b), ERR_BUILDING_NOT_FOUND);
    assert_int_equal(numbers_of(tx, &building), 0);
    assert_int_equal(take_jobs(tx, JOB_RELEASE_NUMBER, &payload), 1);
    assert_str(payload, "+12025550101");
    assert_none(removal_finish(tx, &account, &building));
}

static void test_the_primary_building_is_never_deleted(struct tx *tx)
{
    struct id account = subscriber(tx);
    const struct building *list;
    size_t count;
    assert_none(building_list(tx, &account, &list, &count));
    struct operation_input in = {.action = OPERATION_REMOVE, .building_id = list[0].id};
    struct operation o;
    assert_error(quote_as(tx, &account, in, &facts, &o), ERR_INVALID_BUILDING_INPUT);
    assert_none(removal_finish(tx, &account, &list[0].id));
    assert_none(building_list(tx, &account, &list, &count));
    assert_int_equal(count, 1);
}

/* BUILDING-10 */
static void test_a_removal_of_a_building_deleted_meanwhile_is_refused(struct tx *tx)
{
    struct id account = subscriber(tx), building = child(tx, &account);
    struct operation_facts f = facts;
    struct operation o, x;
    f.quantity = 2;
    assert_none(
        quote_as(tx, &account, (struct operation_input){.action = OPERATION_REMOVE, .building_id = building}, &f, &o));
    assert_int_equal(o.billing.new_quantity, 1);
    assert_str(o.virtual_number, "+12025550101");
    tx_sql(tx,
           arena_printf(tx->arena, "UPDATE building SET id = 'ffffffffffffffffffffffff' WHERE id = '%s'", building.text)
               .p);
    assert_error(start_as(tx, &o, KEY2, &f, &x), ERR_BUILDING_NOT_FOUND);
}

#define TESTS(x)                                                                                                       \
    x(test_a_quote_is_read_as_it_was_made) x(test_tiered_prices_have_no_price_per_building)                            \
        x(test_no_quote_without_a_matching_subscription) x(test_any_difference_from_the_quote_makes_it_stale)          \
            x(test_a_started_operation_has_a_job_and_a_building_and_blocks_others)                                     \
                x(test_a_quote_given_while_an_operation_is_stuck_waits_for_its_end)                                    \
                    x(test_an_addition_takes_its_steps_and_ends)                                                       \
                        x(test_a_declined_payment_ends_it_and_a_refused_number_undoes_it)                              \
                            x(test_a_step_that_must_succeed_is_asked_again_with_another_key)                           \
                                x(test_every_sequence_of_steps_ends_and_every_decision_has_a_next_step)                \
                                    x(test_five_minutes_without_progress_require_reconciliation_for_good)              \
                                        x(test_a_removal_deletes_everything_in_parts)                                  \
                                            x(test_the_primary_building_is_never_deleted)                              \
                                                x(test_a_removal_of_a_building_deleted_meanwhile_is_refused)
TX_RUN(TESTS)
