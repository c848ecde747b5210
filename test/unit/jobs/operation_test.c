/* Building operations with providers that fail at every single call, in every way: an answer that is lost though the
 * provider has acted, no answer at all, a refusal. However one ends, there are as many units as buildings, and the
 * provider holds no number that no building has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/crypto.h"
#include "domain/account.h"
#include "domain/job.h"
#include "domain/number.h"
#include "domain/row.h"
#include "domain/transact.h"
#include "jobs/number.h"
#include "jobs/operation.h"
#include "store/fixture.h"

#define EMAIL   STR("owner@example.com")
#define KEYS    32
#define NUMBERS 8

/* ---- providers that do as they are told ---- */

enum mishap { FINE, LOST /* acts, and the answer is lost */, SILENT /* does not act */, REFUSES };

/* Both providers: what they hold, and what the calls to come shall be. */
struct outside {
    struct billing billing;
    struct number_source numbers;
    int64_t quantity;
    bool canceled; /* the subscription: its quantity cannot be set */
    bool stubborn; /* the first key that a quantity is set under fails for ever, as Stripe repeats what it answered */
    char spoiled[100];
    struct {
        char key[100];
        int64_t quantity;
    } asked[KEYS]; /* idempotency keys that were acted on */
    size_t asked_count;
    struct {
        char number[20], reference[ID_LEN + 1];
    } held[NUMBERS];
    size_t given;     /* numbers, ever */
    int calls;        /* so far */
    int mishap_at;    /* the call from which on there are mishaps, from 0; -1: none */
    int mishaps_left; /* how many */
    enum mishap mishap;
};

/* What this call shall be. */
static enum mishap fate(struct outside *o)
{
    int call = o->calls++;
    if (o->mishap_at < 0 || call < o->mishap_at || o->mishaps_left == 0)
        return FINE;
    o->mishaps_left--;
    return o->mishap;
}

static enum outcome told(enum mishap m)
{
    return m == FINE ? OUTCOME_DONE : m == REFUSES ? OUTCOME_REFUSED : OUTCOME_UNKNOWN;
}

static bool acts(enum mishap m)
{
    return m == FINE || m == LOST;
}

static enum outcome set_quantity(struct billing *b, struct str key, struct str subscription_id, int64_t quantity,
                                 int64_t proration_s, struct arena *a)
{
    struct outside *o = (struct outside *)b;
    (void)a;
    assert_true(str_eq(subscription_id, STR("sub_1")));
    assert_int_equal(proration_s, 77);
    enum mishap m = fate(o);
    if (o->canceled)
        return OUTCOME_REFUSED;
    if (o->stubborn && !o->spoiled[0])
        snprintf(o->spoiled, sizeof o->spoiled, "%.*s", STR_ARG(key));
    if (str_eq(str_z(o->spoiled), key))
        return OUTCOME_UNKNOWN;
    if (!acts(m))
        return told(m);
    for (size_t i = 0; i < o->asked_count; i++)
        if (str_eq(str_z(o->asked[i].key), key)) {
            assert_int_equal(o->asked[i].quantity, quantity); /* a key never asks for two things */
            return told(m);
        }
    assert_true(o->asked_count < KEYS && key.n < sizeof o->asked->key);
    memcpy(o->asked[o->asked_count].key, key.p, key.n);
    o->asked[o->asked_count++].quantity = quantity;
    o->quantity = quantity;
    return told(m);
}

static enum outcome subscription_get(struct billing *b, struct str id, struct arena *a,
                                     struct billing_subscription *ret)
{
    const struct outside *o = (struct outside *)b;
    (void)a;
    *ret = (struct billing_subscription){.id = id, .status = o->canceled ? BILLING_CANCELED : BILLING_ACTIVE};
    return OUTCOME_DONE;
}

static struct outside *of_numbers(struct number_source *s)
{
    return (struct outside *)(void *)((char *)s - offsetof(struct outside, numbers));
}

static const char *held_by(const struct outside *o, struct str reference)
{
    for (size_t i = 0; i < o->given; i++)
        if (str_eq(str_z(o->held[i].reference), reference))
            return o->held[i].number;
    return NULL;
}

static enum outcome find(struct number_source *s, struct str reference, struct arena *a, struct str *ret)
{
    struct outside *o = of_numbers(s);
    enum mishap m = fate(o);
    if (m == FINE)
        *ret = arena_str(a, str_z(held_by(o, reference)));
    return told(m);
}

static enum outcome acquire(struct number_source *s, struct str reference, struct str country, struct arena *a,
                            struct str *ret)
{
    struct outside *o = of_numbers(s);
    enum mishap m = fate(o);
    assert_true(str_eq(country, STR("US")));
    if (acts(m) && !held_by(o, reference)) {
        assert_true(o->given < NUMBERS);
        snprintf(o->held[o->given].number, sizeof o->held->number, "+1202555010%zu", o->given);
        snprintf(o->held[o->given++].reference, sizeof o->held->reference, "%.*s", STR_ARG(reference));
    }
    if (m == FINE)
        *ret = arena_str(a, str_z(held_by(o, reference)));
    return told(m);
}

static enum outcome release(struct number_source *s, struct str number)
{
    struct outside *o = of_numbers(s);
    enum mishap m = fate(o);
    for (size_t i = 0; acts(m) && i < o->given; i++)
        if (str_eq(str_z(o->held[i].number), number))
            o->held[i].reference[0] = '\0';
    return told(m);
}

static const struct billing_ops billing_ops = {.set_quantity = set_quantity, .subscription_get = subscription_get};
static const struct number_source_ops number_ops = {.acquire = acquire, .find = find, .release = release};

/* ---- the desk ---- */

struct desk {
    struct store_fixture *fixture;
    struct outside outside;
    struct providers providers;
    struct jobs *jobs;
    struct job_kind kinds[3];
    struct arena arena;
    struct id account, building; /* the building: the linked one, of a removal */
};

static void transact(struct desk *d, enum store_mode mode, enum err (*run)(struct op *op, void *arg), void *arg)
{
    enum err e = op_transact(d->fixture->store, &d->fixture->config, mode, &d->arena, run, arg, NULL);
    if (e)
        fail_msg("%s", err_info(e)->code);
}

static enum err owner_run(struct op *op, void *arg)
{
    struct desk *d = arg;
    enum err e = account_ensure(op, EMAIL, &d->account);
    return e ? e
             : db_exec(op->db, SQL_BILLING_ACCOUNT_SET_SUBSCRIPTION,
                       DB_ARGS(v_str(id_str(&d->account)), v_str(STR("sub_1"))), NULL);
}

static int open_desk(void **state)
{
    struct desk *d = calloc(1, sizeof *d);
    void *fixture;
    if (!d || store_fixture_open(&fixture))
        return -1;
    crypto_set_master((const unsigned char[SHA256_LEN]){1});
    d->fixture = fixture;
    d->outside =
        (struct outside){.billing.ops = &billing_ops, .numbers.ops = &number_ops, .quantity = 1, .mishap_at = -1};
    d->providers = (struct providers){.billing = &d->outside.billing, .numbers = &d->outside.numbers};
    d->kinds[0] = operation_job_kind(&d->providers);
    d->kinds[1] = provision_job(d->providers.numbers);
    d->kinds[2] = release_number_job(d->providers.numbers);
    arena_init(&d->arena, NULL, 0);
    *state = d;
    const struct jobs_options options = {
        .config = &d->fixture->config, .store = d->fixture->store, .kinds = d->kinds, .kind_count = 3, .threads = 1};
    if (jobs_new(&options, &d->jobs) || jobs_start(d->jobs))
        return -1;
    transact(d, STORE_WRITE, owner_run, d);
    return 0;
}

static int close_desk(void **state)
{
    struct desk *d = *state;
    void *fixture = d->fixture;
    jobs_free(d->jobs);
    arena_done(&d->arena);
    clock_set_offset_s(0);
    free(d);
    return store_fixture_close(&fixture);
}

static void advance(struct desk *d, int64_t seconds)
{
    clock_set_offset_s(clock_offset_s() + seconds);
    jobs_drain(d->jobs);
}

/* ---- operations ---- */

struct begin {
    struct desk *d;
    enum operation_action action;
    struct operation o;
};

static enum err begin_run(struct op *op, void *arg)
{
    struct begin *b = arg;
    static const unsigned char hash[SHA256_LEN];
    const struct id *account = &b->d->account;
    enum err e = db_exec(op->db, SQL_ACCOUNT_SUBSCRIBE,
                         DB_ARGS(v_str(id_str(account)), v_str(STR("weekly")), v_str(STR("active"))), NULL);
    if (e)
        return e;
    const struct operation_facts facts = {.active = true,
                                          .price_id = STR("price"),
                                          .currency = STR("usd"),
                                          .amount_minor = 499,
                                          .quantity = b->d->outside.quantity};
    const struct operation_offer offer = {.facts = &facts, .proration_s = 77};
    struct operation_input in = {
        .action = b->action,
        .building_id = b->d->building,
        .label = STR("Cabin"),
        .address = {.city = STR("Portland"), .state = STR("OR"), .zip = STR("97201"), .country = STR("US")},
        .unlock_tone = STR("9"),
        .phone_number = STR_NONE};
    bool replayed;
    e = db_exec(op->db, SQL_PHONE_SET, DB_ARGS(v_str(id_str(account)), v_str(STR("+12025550199")), v_int(op->now_us)),
                NULL);
    if (!e)
        e = operation_quote(op, account, &in, &offer, &b->o);
    if (e)
        return e;
    struct id key = id_new(op->now_us);
    const struct operation_request request = {.account_id = *account,
                                              .quote_id = b->o.id,
                                              .action = b->action,
                                              .building_id =
                                                  b->action == OPERATION_ADD ? (struct id){{0}} : b->d->building,
                                              .key = arena_str(op->arena, id_str(&key)),
                                              .hash = hash};
    return operation_start(op, &request, &facts, &b->o, &replayed);
}

struct find {
    struct id id;
    struct operation o;
};

static enum err find_run(struct op *op, void *arg)
{
    struct find *f = arg;
    return operation_find(op, &f->id, &f->o);
}

static struct operation look(struct desk *d, const struct id *id)
{
    struct find f = {.id = *id};
    transact(d, STORE_WRITE, find_run, &f);
    return f.o;
}

static struct operation begin(struct desk *d, enum operation_action action)
{
    struct begin b = {.d = d, .action = action};
    transact(d, STORE_WRITE, begin_run, &b);
    jobs_drain(d->jobs);
    return look(d, &b.o.id);
}

/* Runs an operation until it ends. */
static struct operation run(struct desk *d, enum operation_action action)
{
    struct operation o = begin(d, action);
    for (int pause_s = 6; o.status == OPERATION_RUNNING; pause_s *= 2) {
        advance(d, pause_s);
        o = look(d, &o.id);
    }
    return o;
}

/* A linked building with a number, for a removal; the count of calls begins after it. */
static void add_building(struct desk *d)
{
    struct operation o = run(d, OPERATION_ADD);
    assert_int_equal(o.status, OPERATION_SUCCEEDED);
    d->building = o.building_id;
    d->outside.calls = 0;
}

/* ---- what must hold ---- */

struct inventory {
    size_t buildings, numbers, jobs;
    const struct building *list;
    const struct number *number_list;
    struct id account;
};

static enum err inventory_run(struct op *op, void *arg)
{
    struct inventory *i = arg;
    enum err e = building_list(op, &i->account, &i->list, &i->buildings);
    return e ? e : number_list(op, &i->number_list, &i->numbers);
}

/* Every building that should have a number has the one that the provider holds for it, and nobody else has any. */
static void consistent(struct desk *d, size_t buildings, const char *what)
{
    struct inventory i = {.account = d->account};
    size_t held = 0, with_number = 0;
    advance(d, 1000); /* what is left to be given back */
    transact(d, STORE_READ, inventory_run, &i);
    if (i.buildings != buildings || d->outside.quantity != (int64_t)buildings)
        fail_msg("%s: %zu buildings, %lld units, wanted %zu", what, i.buildings, (long long)d->outside.quantity,
                 buildings);
    for (size_t n = 0; n < i.buildings; n++) {
        if (!i.list[n].number.p)
            continue;
        with_number++;
        const char *number = held_by(&d->outside, id_str(&i.list[n].id));
        if (!number || strcmp(number, i.list[n].number.p) != 0)
            fail_msg("%s: the provider holds %s for a building that has %s", what, number ? number : "nothing",
                     i.list[n].number.p);
    }
    for (size_t n = 0; n < d->outside.given; n++)
        held += d->outside.held[n].reference[0] != '\0';
    if (held != with_number || i.numbers != with_number)
        fail_msg("%s: %zu numbers bought, %zu known, %zu in use", what, held, i.numbers, with_number);
}

static void expect_status(const struct operation *o, enum operation_status wanted, const char *what)
{
    if (o->status != wanted)
        fail_msg("%s: %s", what, operation_status_text(o->status));
}

/* ---- every call, every mishap ---- */

#define CALLS_MAX 8

struct mishap_case {
    enum mishap mishap;
    int count; /* 3 are one question that is not answered, with its repetitions */
    const char *name;
};
static const struct mishap_case passing[] = {
    {LOST, 1, "lost once"},     {LOST, 3, "lost"},     {LOST, 6, "lost twice"},
    {SILENT, 1, "silent once"}, {SILENT, 3, "silent"}, {SILENT, 6, "silent twice"},
};

/* Runs one case on a desk of its own: a mishap that passes must not be noticed but for the time it takes. */
static void passing_case(enum operation_action action, const struct mishap_case *c, int at, bool *ret_reached)
{
    void *state;
    assert_int_equal(open_desk(&state), 0);
    struct desk *d = state;
    char what[80];
    snprintf(what, sizeof what, "%s, call %d, %s", operation_action_text(action), at, c->name);
    if (action == OPERATION_REMOVE)
        add_building(d);
    d->outside.mishap = c->mishap;
    d->outside.mishap_at = at;
    d->outside.mishaps_left = c->count;
    struct operation o = run(d, action);
    expect_status(&o, OPERATION_SUCCEEDED, what);
    consistent(d, action == OPERATION_ADD ? 2 : 1, what);
    *ret_reached = d->outside.mishaps_left < c->count;
    assert_int_equal(close_desk(&state), 0);
}

static void every_passing_case(enum operation_action action)
{
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        bool reached = true;
        int at = 0;
        for (; reached && at < CALLS_MAX; at++)
            passing_case(action, &passing[i], at, &reached);
        assert_true(at >= 3); /* two calls there are at least */
    }
}

static void test_an_addition_survives_what_passes(void **state)
{
    (void)state;
    every_passing_case(OPERATION_ADD);
}

static void test_a_removal_survives_what_passes(void **state)
{
    (void)state;
    every_passing_case(OPERATION_REMOVE);
}

/* ---- what does not pass ---- */

static enum err resolve(struct desk *d, const struct id *id, enum operation_decision decision, struct operation *ret)
{
    struct str why;
    return operation_resolve(d->fixture->store, &d->fixture->config, &d->providers, id, decision, &d->arena, ret, &why);
}

/* From the call `at` on nobody answers, having acted or not; then the operator decides, and everybody answers again.
 * False: there is no such call. */
static bool stuck_case(enum operation_action action, enum mishap mishap, int at, enum operation_decision decision)
{
    void *state;
    assert_int_equal(open_desk(&state), 0);
    struct desk *d = state;
    char what[80];
    snprintf(what, sizeof what, "%s, call %d, %s for ever, %s", operation_action_text(action), at,
             mishap == LOST ? "lost" : "silent", decision == DECIDE_SUCCEEDED ? "succeeded" : "failed");
    if (action == OPERATION_REMOVE)
        add_building(d);
    d->outside.mishap = mishap;
    d->outside.mishap_at = at;
    d->outside.mishaps_left = 1000000;
    struct operation o = begin(d, action);
    bool reached = o.status != OPERATION_SUCCEEDED;
    if (reached) {
        advance(d, OPERATION_STALLED_S + 1);
        o = look(d, &o.id);
        expect_status(&o, OPERATION_RECONCILIATION_REQUIRED, what);
        if (o.step == STEP_REMOVE_QUANTITY && decision == DECIDE_FAILED) {
            assert_int_equal(resolve(d, &o.id, decision, &o), ERR_BAD_REQUEST);
            decision = DECIDE_SUCCEEDED;
        }
        assert_int_equal(resolve(d, &o.id, decision, &o), ERR_PROVIDER_UNAVAILABLE);
        o = look(d, &o.id);
        expect_status(&o, OPERATION_RECONCILIATION_REQUIRED, what);
        d->outside.mishap_at = -1;
        assert_int_equal(resolve(d, &o.id, decision, &o), ERR_NONE);
        bool done = decision == DECIDE_SUCCEEDED;
        expect_status(&o, done ? OPERATION_SUCCEEDED : OPERATION_FAILED, what);
        consistent(d, (action == OPERATION_ADD) == done ? 2 : 1, what);
    }
    assert_int_equal(close_desk(&state), 0);
    return reached;
}

static void every_stuck_case(enum operation_action action)
{
    for (enum mishap m = LOST; m <= SILENT; m++)
        for (enum operation_decision way = DECIDE_SUCCEEDED; way <= DECIDE_FAILED; way++) {
            int at = 0;
            while (stuck_case(action, m, at, way))
                at++;
            assert_true(at >= 2);
        }
}

static void test_an_addition_that_is_stuck_ends_as_the_operator_decides(void **state)
{
    (void)state;
    every_stuck_case(OPERATION_ADD);
}

static void test_a_removal_that_is_stuck_ends_as_the_operator_decides(void **state)
{
    (void)state;
    every_stuck_case(OPERATION_REMOVE);
}

/* ---- refusals ---- */

static void test_a_declined_payment_leaves_everything_as_it_was(void **state)
{
    struct desk *d = *state;
    d->outside.mishap = REFUSES;
    d->outside.mishap_at = 0;
    d->outside.mishaps_left = 1;
    struct operation o = run(d, OPERATION_ADD);
    expect_status(&o, OPERATION_FAILED, "declined");
    assert_int_equal(o.error, ERR_PAYMENT_FAILED);
    consistent(d, 1, "declined");
    assert_int_equal(d->outside.calls, 1);
}

static void test_a_refused_number_undoes_the_rest(void **state)
{
    struct desk *d = *state;
    d->outside.mishap = REFUSES;
    d->outside.mishap_at = 1;
    for (int refused = 1; refused <= 3; refused++) { /* the roll-back itself as well */
        d->outside.calls = 0;
        d->outside.mishaps_left = refused;
        struct operation o = run(d, OPERATION_ADD);
        expect_status(&o, OPERATION_FAILED, "refused");
        assert_int_equal(o.error, ERR_BUILDING_ADD_FAILED);
        consistent(d, 1, "refused");
    }
}

static void test_a_removal_that_is_refused_is_asked_again_with_other_keys(void **state)
{
    struct desk *d = *state;
    for (int at = 0; at < 2; at++) {
        d->outside.mishap_at = -1;
        add_building(d);
        d->outside.mishap = REFUSES;
        d->outside.mishap_at = at;
        d->outside.mishaps_left = 2;
        struct operation o = run(d, OPERATION_REMOVE);
        expect_status(&o, OPERATION_SUCCEEDED, "refused");
        consistent(d, 1, "refused");
    }
}

static void test_the_operator_cannot_carry_on_what_is_refused(void **state)
{
    struct desk *d = *state;
    d->outside.mishap = SILENT;
    d->outside.mishap_at = 1;
    d->outside.mishaps_left = 1000000;
    struct operation o = begin(d, OPERATION_ADD);
    advance(d, OPERATION_STALLED_S + 1);
    d->outside.mishap = REFUSES;
    d->outside.calls = 0;
    d->outside.mishap_at = 1; /* find answers, acquire refuses */
    d->outside.mishaps_left = 1;
    assert_int_equal(resolve(d, &o.id, DECIDE_SUCCEEDED, &o), ERR_NUMBER_NOT_PROVISIONED);
    o = look(d, &o.id);
    expect_status(&o, OPERATION_RECONCILIATION_REQUIRED, "refused");
    assert_int_equal(resolve(d, &o.id, DECIDE_SUCCEEDED, &o), ERR_NONE);
    consistent(d, 2, "in the end");
}

static void test_the_operator_gets_around_a_failure_that_its_key_repeats(void **state)
{
    struct desk *d = *state;
    d->outside.stubborn = true;
    struct operation o = begin(d, OPERATION_ADD);
    advance(d, OPERATION_STALLED_S + 1);
    assert_int_equal(resolve(d, &o.id, DECIDE_SUCCEEDED, &o), ERR_NONE);
    expect_status(&o, OPERATION_SUCCEEDED, "stubborn");
    consistent(d, 2, "stubborn");
}

/* Whoever cancels in the middle leaves nothing that waits for ever. */
static void test_a_subscription_that_is_canceled_meanwhile_holds_nothing_up(void **state)
{
    struct desk *d = *state;
    add_building(d);
    d->outside.mishap = SILENT;
    d->outside.mishap_at = 1; /* the quantity, after the number */
    d->outside.mishaps_left = 1000000;
    struct operation o = begin(d, OPERATION_REMOVE);
    assert_int_equal(o.step, STEP_REMOVE_QUANTITY);
    d->outside.canceled = true;
    advance(d, 6);
    o = look(d, &o.id);
    expect_status(&o, OPERATION_SUCCEEDED, "canceled");
    d->outside.quantity = 1;
    o = begin(d, OPERATION_ADD);
    expect_status(&o, OPERATION_FAILED, "canceled");
    assert_int_equal(o.error, ERR_PAYMENT_FAILED);
}

/* The provider has taken the number back without saying so: the building gets another one. */
static void test_an_undone_removal_whose_number_is_gone_brings_a_new_one(void **state)
{
    struct desk *d = *state;
    struct inventory i = {.account = d->account};
    add_building(d);
    d->outside.mishap = LOST;
    d->outside.mishap_at = 0;
    d->outside.mishaps_left = 1000000;
    struct operation o = begin(d, OPERATION_REMOVE);
    advance(d, OPERATION_STALLED_S + 1);
    d->outside.mishap_at = -1;
    assert_int_equal(resolve(d, &o.id, DECIDE_FAILED, &o), ERR_NONE);
    consistent(d, 2, "undone");
    transact(d, STORE_READ, inventory_run, &i);
    assert_string_equal(i.list[1].number.p, "+12025550101");
}

static enum err pool_run(struct op *op, void *arg)
{
    const struct desk *d = arg;
    enum err e = number_add(op, STR("+12025550190"), STR("US"));
    return e ? e : job_add(op, JOB_PROVISION, op->now_us, id_str(&d->building));
}

/* The building has got a number of the pool meanwhile: its own one still goes back. */
static void test_an_undone_removal_leaves_no_number_that_nobody_has(void **state)
{
    struct desk *d = *state;
    struct inventory i = {.account = d->account};
    add_building(d);
    d->outside.mishap = SILENT;
    d->outside.mishap_at = 0;
    d->outside.mishaps_left = 1000000;
    struct operation o = begin(d, OPERATION_REMOVE);
    transact(d, STORE_WRITE, pool_run, d);
    advance(d, OPERATION_STALLED_S + 1);
    d->outside.mishap_at = -1;
    assert_int_equal(resolve(d, &o.id, DECIDE_FAILED, &o), ERR_NONE);
    jobs_drain(d->jobs);
    transact(d, STORE_READ, inventory_run, &i);
    assert_string_equal(i.list[1].number.p, "+12025550190");
    assert_null(held_by(&d->outside, id_str(&d->building)));
    assert_int_equal(i.numbers, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_desk, close_desk)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_addition_survives_what_passes),
        cmocka_unit_test(test_a_removal_survives_what_passes),
        cmocka_unit_test(test_an_addition_that_is_stuck_ends_as_the_operator_decides),
        cmocka_unit_test(test_a_removal_that_is_stuck_ends_as_the_operator_decides),
        TEST(test_a_declined_payment_leaves_everything_as_it_was),
        TEST(test_a_refused_number_undoes_the_rest),
        TEST(test_a_removal_that_is_refused_is_asked_again_with_other_keys),
        TEST(test_the_operator_cannot_carry_on_what_is_refused),
        TEST(test_the_operator_gets_around_a_failure_that_its_key_repeats),
        TEST(test_a_subscription_that_is_canceled_meanwhile_holds_nothing_up),
        TEST(test_an_undone_removal_whose_number_is_gone_brings_a_new_one),
        TEST(test_an_undone_removal_leaves_no_number_that_nobody_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
