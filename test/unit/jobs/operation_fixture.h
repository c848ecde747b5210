/* The fixture for building operations: a store, scripted providers, and the invariants at the end of an operation: as
 * many units as buildings, and no number at the provider without a building. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/crypto.h"
#include "domain/account.h"
#include "domain/job.h"
#include "domain/number.h"
#include "domain/work.h"
#include "jobs/number.h"
#include "jobs/operation.h"
#include "jobs/operation_outside.h"
#include "store/fixture.h"

/* ---- the fixture ---- */

struct fixture {
    struct store_fixture *fixture;
    struct outside *outside;
    struct providers providers;
    struct jobs *jobs;
    struct job_kind kinds[3];
    struct arena arena;
    struct work work;
    struct str email;
    struct id account, building; /* building: the linked one, for a removal */
};

static inline void transact(struct fixture *d, enum store_mode mode, enum err (*run)(struct tx *tx, void *arg),
                            void *arg)
{
    enum err e = work_run(&d->work, mode, run, arg);
    if (e)
        fail_msg("%s", err_info(e)->code);
}

static inline enum err owner_run(struct tx *tx, void *arg)
{
    struct fixture *d = arg;
    enum err e = account_ensure(tx, d->email, &d->account);
    return e ? e
             : db_exec(tx->db,
                       SQL(billing_account_set_subscription, .id = &d->account, .subscription_id = STR("sub_1")), NULL);
}

/* The job threads, on the store of d->fixture. */
static inline int start_jobs(struct fixture *d, unsigned threads)
{
    d->providers = (struct providers){.billing = &d->outside->billing, .numbers = &d->outside->numbers};
    d->kinds[0] = jobs_kind_operation(&d->providers);
    d->kinds[1] = jobs_kind_provision(d->providers.numbers);
    d->kinds[2] = jobs_kind_release_number(d->providers.numbers);
    const struct jobs_options options = {.config = &d->fixture->config,
                                         .store = d->fixture->store,
                                         .kinds = d->kinds,
                                         .kind_count = 3,
                                         .threads = threads};
    d->jobs = jobs_new(&options);
    return jobs_start(d->jobs, NULL) ? -1 : 0;
}

static inline int set_up_on(void **state, int (*open_store)(void **state), unsigned threads)
{
    struct fixture *d = calloc(1, sizeof *d);
    struct outside *outside = calloc(1, sizeof *outside);
    void *fixture;
    if (!d || !outside || open_store(&fixture))
        return -1;
    crypto_set_master((const unsigned char[SHA256_LEN]){1}, NULL);
    d->fixture = fixture;
    d->email = STR("owner@example.com");
    d->fixture->config.plans[0].id = "weekly";
    outside_init(outside);
    d->outside = outside;
    arena_init(&d->arena, NULL, 0);
    d->work = (struct work){.store = d->fixture->store, .config = &d->fixture->config, .arena = &d->arena};
    *state = d;
    if (start_jobs(d, threads))
        return -1;
    transact(d, STORE_WRITE, owner_run, d);
    return 0;
}

static inline int set_up(void **state)
{
    return set_up_on(state, store_fixture_open, 1);
}

static inline int tear_down(void **state)
{
    struct fixture *d = *state;
    void *fixture = d->fixture;
    jobs_free(d->jobs);
    arena_done(&d->arena);
    clock_set_offset_s(0);
    free(d->outside);
    free(d);
    return store_fixture_close(&fixture);
}

static inline void advance(struct fixture *d, int64_t seconds)
{
    clock_set_offset_s(clock_offset_s() + seconds);
    jobs_drain(d->jobs);
}

/* ---- operations ---- */

struct begin {
    struct fixture *d;
    enum operation_action action;
    struct operation o;
};

static inline struct operation_facts facts_of(const struct fixture *d)
{
    return (struct operation_facts){.active = true,
                                    .price_id = STR("price"),
                                    .currency = STR("usd"),
                                    .amount_minor = 499,
                                    .quantity = d->outside->quantity};
}

/* A quote for an account with a subscription. */
static inline enum err quote_run(struct tx *tx, void *arg)
{
    struct begin *b = arg;
    const struct id *account = &b->d->account;
    const struct operation_facts facts = facts_of(b->d);
    const struct operation_offer offer = {.facts = &facts, .proration_s = 77};
    const struct operation_input in = {
        .action = b->action,
        .building_id = b->d->building,
        .label = STR("Cabin"),
        .address = {.city = STR("Portland"), .state = STR("OR"), .zip = STR("97201"), .country = STR("US")},
        .unlock_tone = STR("9")};
    enum err e = db_exec(
        tx->db, SQL(account_subscribe, .id = account, .plan = STR("weekly"), .subscription_status = STR("active")),
        NULL);
    if (!e)
        e = db_exec(tx->db,
                    SQL(phone_set, .id = account, .phone = STR("+12025550199"), .phone_verified_at = tx->now_us), NULL);
    return e ? e : operation_quote(tx, account, &in, &offer, &b->o);
}

/* Starts it with the quote's ID as key, so that a repetition is a replay. */
static inline enum err start_run(struct tx *tx, void *arg)
{
    struct begin *b = arg;
    static const unsigned char hash[SHA256_LEN];
    const struct operation_facts facts = facts_of(b->d);
    const struct id quote = b->o.id;
    const struct operation_request request = {.account_id = b->d->account,
                                              .quote_id = quote,
                                              .action = b->action,
                                              .building_id =
                                                  b->action == OPERATION_ADD ? (struct id){{0}} : b->d->building,
                                              .key = id_str(&quote),
                                              .hash = hash};
    bool replayed;
    return operation_start(tx, &request, &facts, &b->o, &replayed);
}

struct find {
    struct id id;
    struct operation o;
};

static inline enum err find_run(struct tx *tx, void *arg)
{
    struct find *f = arg;
    return operation_find(tx, &f->id, &f->o);
}

static inline struct operation look(struct fixture *d, const struct id *id)
{
    struct find f = {.id = *id};
    transact(d, STORE_WRITE, find_run, &f);
    return f.o;
}

static inline struct operation begin(struct fixture *d, enum operation_action action)
{
    struct begin b = {.d = d, .action = action};
    transact(d, STORE_WRITE, quote_run, &b);
    transact(d, STORE_WRITE, start_run, &b);
    jobs_drain(d->jobs);
    return look(d, &b.o.id);
}

/* Runs an operation until it ends. */
static inline struct operation run(struct fixture *d, enum operation_action action)
{
    struct operation o = begin(d, action);
    for (int pause_s = 6; o.status == OPERATION_RUNNING; pause_s *= 2) {
        advance(d, pause_s);
        o = look(d, &o.id);
    }
    return o;
}

/* A linked building with a number, for a removal; the count of calls begins after it. */
static inline void add_building(struct fixture *d)
{
    struct operation o = run(d, OPERATION_ADD);
    assert_int_equal(o.status, OPERATION_SUCCEEDED);
    d->building = o.building_id;
    d->outside->calls = 0;
}

/* ---- invariants ---- */

struct inventory {
    size_t buildings, numbers, jobs;
    const struct building *list;
    const struct number *number_list;
    struct id account;
};

/* The numbers of the account's buildings, and those without a building. */
static inline size_t own_numbers(const struct inventory *i)
{
    size_t own = 0;
    for (size_t n = 0; n < i->numbers; n++)
        own += !id_given(&i->number_list[n].account_id) ||
               str_eq(id_str(&i->number_list[n].account_id), id_str(&i->account));
    return own;
}

static inline enum err inventory_run(struct tx *tx, void *arg)
{
    struct inventory *i = arg;
    enum err e = building_list(tx, &i->account, &i->list, &i->buildings);
    return e ? e : number_list(tx, &i->number_list, &i->numbers);
}

/* Every building that should have a number has the one that the provider holds for it, and nobody else has any. */
static inline void consistent(struct fixture *d, size_t buildings, const char *what)
{
    struct inventory i = {.account = d->account};
    size_t held = 0, with_number = 0;
    advance(d, 1000); /* runs the releases that are still queued */
    transact(d, STORE_READ, inventory_run, &i);
    if (i.buildings != buildings || d->outside->quantity != (int64_t)buildings)
        fail_msg("%s: %zu buildings, %lld units, wanted %zu", what, i.buildings, (long long)d->outside->quantity,
                 buildings);
    for (size_t n = 0; n < i.buildings; n++) {
        if (!i.list[n].number.p)
            continue;
        with_number++;
        const char *number = held_by(d->outside, id_str(&i.list[n].id));
        if (!number || strcmp(number, i.list[n].number.p) != 0)
            fail_msg("%s: the provider holds %s for a building that has %s", what, number ? number : "nothing",
                     i.list[n].number.p);
    }
    for (size_t n = 0; n < d->outside->given; n++)
        held += d->outside->held[n].reference[0] != '\0';
    if (held != with_number || own_numbers(&i) != with_number)
        fail_msg("%s: %zu numbers bought, %zu known, %zu in use", what, held, own_numbers(&i), with_number);
}

static inline void expect_status(const struct operation *o, enum operation_status wanted, const char *what)
{
    if (o->status != wanted)
        fail_msg("%s: %s", what, operation_status_text(o->status));
}

static inline enum err resolve(struct fixture *d, const struct id *id, enum operation_decision decision,
                               struct operation *ret)
{
    return jobs_operation_resolve(&d->work, &d->providers, &(struct tenure){0}, id, decision, ret);
}
