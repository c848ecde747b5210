/* Scripted providers for tests of building operations. As with Twilio, acquiring a number is a search and then a
 * purchase, and a caller in between also buys. */
#pragma once
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/container_of.h"
#include "jobs/operation.h"

#define KEYS    32
#define NUMBERS 8

/* ---- scripted providers ---- */

enum mishap { FINE, LOST /* acts, and the answer is lost */, SILENT /* does not act */, REFUSES };

/* Both providers: their records, and the results of the next calls. */
struct outside {
    struct billing billing;
    struct number_source numbers;
    _Atomic int64_t
        quantity;  /* store threads read it, and the order that the database gives them is not visible here */
    bool canceled; /* the subscription: its quantity cannot be set */
    bool no_numbers;
    bool stubborn; /* the first key of a quantity fails for ever, as Stripe repeats its answers */
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
    int series;       /* part of them */
    int calls;        /* so far */
    int mishap_at;    /* the first call with a mishap, from 0; -1: no mishaps */
    int mishaps_left; /* how many */
    enum mishap mishap;
    pthread_mutex_t lock;
    /* Called before and after a call acts, with its name, without the lock; or NULL. */
    void (*point)(const char *call, void *context);
    void *context;
};

static inline void point(struct outside *o, const char *operation)
{
    if (o->point)
        o->point(operation, o->context);
}

/* The result of this call. */
static inline enum mishap fate(struct outside *o)
{
    pthread_mutex_lock(&o->lock);
    int call = o->calls++;
    bool fine = o->mishap_at < 0 || call < o->mishap_at || o->mishaps_left == 0;
    o->mishaps_left -= !fine;
    pthread_mutex_unlock(&o->lock);
    return fine ? FINE : o->mishap;
}

static inline enum outcome told(enum mishap m)
{
    return m == FINE ? OUTCOME_DONE : m == REFUSES ? OUTCOME_REFUSED : OUTCOME_UNKNOWN;
}

static inline bool acts(enum mishap m)
{
    return m == FINE || m == LOST;
}

/* A key must not be used for two quantities, and has one effect. */
static inline void act_on_quantity(struct outside *o, struct str key, int64_t quantity)
{
    for (size_t i = 0; i < o->asked_count; i++)
        if (str_eq(str_z(o->asked[i].key), key)) {
            assert_int_equal(o->asked[i].quantity, quantity);
            return;
        }
    assert_true(o->asked_count < KEYS && key.n < sizeof o->asked->key);
    memcpy(o->asked[o->asked_count].key, key.p, key.n);
    o->asked[o->asked_count++].quantity = quantity;
    o->quantity = quantity;
}

static inline enum outcome set_quantity(struct billing *b, struct str key, struct str subscription_id, int64_t quantity,
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
    point(o, "set_quantity");
    if (acts(m))
        act_on_quantity(o, key, quantity);
    point(o, "set_quantity");
    return told(m);
}

static inline enum outcome subscription_get(struct billing *b, struct str id, struct arena *a,
                                            struct billing_subscription *ret)
{
    const struct outside *o = (struct outside *)b;
    (void)a;
    *ret = (struct billing_subscription){.id = id, .status = o->canceled ? BILLING_CANCELED : BILLING_ACTIVE};
    return OUTCOME_DONE;
}

static inline struct outside *of_numbers(struct number_source *s)
{
    return container_of(s, struct outside, numbers);
}

static inline const char *held_by(const struct outside *o, struct str reference)
{
    for (size_t i = 0; i < o->given; i++)
        if (str_eq(str_z(o->held[i].reference), reference))
            return o->held[i].number;
    return NULL;
}

static inline enum outcome find(struct number_source *s, struct str reference, struct arena *a, struct str *ret)
{
    struct outside *o = of_numbers(s);
    enum mishap m = fate(o);
    point(o, "find");
    if (m == FINE)
        *ret = arena_str(a, str_z(held_by(o, reference)));
    point(o, "find");
    return told(m);
}

static inline void buy(struct outside *o, struct str reference)
{
    pthread_mutex_lock(&o->lock);
    assert_true(o->given < NUMBERS);
    snprintf(o->held[o->given].number, sizeof o->held->number, "+1202%03d010%zu", o->series, o->given);
    snprintf(o->held[o->given].reference, sizeof o->held->reference, "%.*s", STR_ARG(reference));
    o->given++;
    pthread_mutex_unlock(&o->lock);
}

static inline enum outcome acquire(struct number_source *s, struct str reference, struct str country, int64_t until_us,
                                   struct arena *a, struct str *ret)
{
    struct outside *o = of_numbers(s);
    enum mishap m = fate(o);
    assert_true(str_eq(country, STR("US")));
    assert_true(until_us > clock_monotonic_us());
    bool has = held_by(o, reference);
    point(o, "acquire");
    if (o->no_numbers && !has)
        return OUTCOME_REFUSED;
    if (acts(m) && !has)
        buy(o, reference);
    point(o, "acquire");
    if (m == FINE)
        *ret = arena_str(a, str_z(held_by(o, reference)));
    return told(m);
}

static inline enum outcome release(struct number_source *s, struct str number)
{
    struct outside *o = of_numbers(s);
    enum mishap m = fate(o);
    point(o, "release");
    for (size_t i = 0; acts(m) && i < o->given; i++)
        if (str_eq(str_z(o->held[i].number), number))
            o->held[i].reference[0] = '\0';
    point(o, "release");
    return told(m);
}

static const struct billing_ops billing_ops = {.set_quantity = set_quantity, .subscription_get = subscription_get};
static const struct number_source_ops number_ops = {.acquire = acquire, .find = find, .release = release};

/* The state before the first operation: one unit is paid. */
static inline void outside_init(struct outside *o)
{
    *o = (struct outside){
        .billing.ops = &billing_ops, .numbers.ops = &number_ops, .quantity = 1, .mishap_at = -1, .series = 555};
    pthread_mutex_init(&o->lock, NULL);
}
