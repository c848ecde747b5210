/* The built-in number provider: a range of numbers for each country. Its table is separate from the service's
 * inventory, so that it knows the numbers it gave even if the service does not. Unused numbers are given first, then
 * the number released longest ago. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "providers/fault.h"
#include "providers/numbers.h"

struct builtin_numbers {
    struct number_source source;
    struct store *store;
};

static const struct range {
    struct str country;
    uint64_t first, last;
} ranges[] = {
    {{"US", 2}, 15550100000, 15550199999},
    {{"CA", 2}, 15550200000, 15550299999},
};

/* One call: its arguments and its result. */
struct request {
    struct str reference, country, number;
    struct arena *arena;
    struct str found; /* STR_NONE: not found */
};

static const struct range *range_of(struct str country)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (str_eq(country, ranges[i].country))
            return &ranges[i];
    return NULL;
}

/* The number that a statement finds, or STR_NONE. */
static enum err one_number(struct db *db, const struct db_call *call, struct arena *a, struct str *ret)
{
    CURSOR c;
    enum err e = db_one(db, call, &c);
    *ret = e ? STR_NONE : row_sandbox_number_find(&c, a).number;
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

static enum err find_given(void *arg, struct db *db)
{
    struct request *r = arg;
    return one_number(db, SQL(sandbox_number_find, .reference = r->reference), r->arena, &r->found);
}

/* ---- giving a number ---- */

/* Is the number in the service's inventory? The operator may have added it. */
static enum err is_in_inventory(struct db *db, struct str number, bool *ret)
{
    CURSOR c;
    enum err e = db_one(db, SQL(sandbox_number_is_ours, .number = number), &c);
    *ret = !e;
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

/* The lowest number above all numbers given; STR_NONE at the end of the range. */
static enum err unused_number(struct db *db, const struct range *range, struct request *r, struct str *ret)
{
    struct str highest;
    uint64_t next = range->first;
    enum err e = one_number(db, SQL(sandbox_number_highest, .country = range->country), r->arena, &highest);
    if (!e && highest.n && str_to_u64(str_from(highest, 1), range->last, &next))
        next++;
    for (bool taken = true; !e && next <= range->last; next++) {
        struct str number = arena_printf(r->arena, "+%llu", (unsigned long long)next);
        e = is_in_inventory(db, number, &taken);
        if (!e && !taken) {
            *ret = number;
            return ERR_NONE;
        }
    }
    *ret = STR_NONE;
    return e;
}

static enum err give_unused(struct db *db, const struct range *range, struct request *r)
{
    struct str number;
    enum err e = unused_number(db, range, r, &number);
    if (!e && number.p)
        e = db_exec(db,
                    SQL(sandbox_number_insert, .number = number, .country = range->country, .reference = r->reference,
                        .held_since = clock_now_us()),
                    NULL);
    if (!e)
        r->found = number;
    return e;
}

static enum err give_released(struct db *db, const struct range *range, struct request *r)
{
    enum err e = one_number(db, SQL(sandbox_number_free, .country = range->country), r->arena, &r->found);
    if (e || !r->found.p)
        return e;
    return db_exec(
        db, SQL(sandbox_number_hold, .number = r->found, .reference = r->reference, .held_since = clock_now_us()),
        NULL);
}

static enum err give_number(void *arg, struct db *db)
{
    struct request *r = arg;
    const struct range *range = range_of(r->country);
    enum err e = find_given(r, db);
    if (!e && !r->found.p && range)
        e = give_unused(db, range, r);
    if (!e && !r->found.p && range)
        e = give_released(db, range, r);
    return e;
}

static enum err release_given(void *arg, struct db *db)
{
    const struct request *r = arg;
    return db_exec(db, SQL(sandbox_number_release, .number = r->number, .released_at = clock_now_us()), NULL);
}

/* ---- the calls ---- */

/* Runs one call in a transaction. An ordered fault takes effect before it, or ends the process after it. */
static enum outcome builtin_number_call(struct number_source *source, const char *call, enum store_mode mode,
                                        enum err (*run)(void *arg, struct db *db), struct request *r)
{
    struct builtin_numbers *s = (struct builtin_numbers *)source;
    enum fault fault = fault_take("numbers", call);
    enum outcome o = fault_outcome(fault);
    if (o != OUTCOME_DONE)
        return o;
    if (store_run(s->store, mode, run, r))
        return OUTCOME_UNKNOWN;
    fault_after(fault);
    return OUTCOME_DONE;
}

static enum outcome builtin_number_acquire(struct number_source *source, struct str reference, struct str country,
                                           int64_t until_us, struct arena *a, struct str *ret)
{
    (void)until_us; /* a transaction sees the numbers that others gave */
    struct request r = {.reference = reference, .country = country, .arena = a};
    enum outcome o = builtin_number_call(source, "acquire", STORE_WRITE, give_number, &r);
    if (o == OUTCOME_DONE && !r.found.p)
        return OUTCOME_REFUSED;
    if (o == OUTCOME_DONE)
        *ret = r.found;
    return o;
}

static enum outcome builtin_number_find(struct number_source *source, struct str reference, struct arena *a,
                                        struct str *ret)
{
    struct request r = {.reference = reference, .arena = a};
    enum outcome o = builtin_number_call(source, "find", STORE_READ, find_given, &r);
    if (o == OUTCOME_DONE)
        *ret = r.found;
    return o;
}

static enum outcome builtin_number_release(struct number_source *source, struct str number)
{
    struct request r = {.number = number};
    return builtin_number_call(source, "release", STORE_WRITE, release_given, &r);
}

static void builtin_numbers_free(struct number_source *source)
{
    free(source);
}

static const struct number_source_ops builtin_numbers_ops = {.acquire = builtin_number_acquire,
                                                             .find = builtin_number_find,
                                                             .release = builtin_number_release,
                                                             .free = builtin_numbers_free};

struct number_source *builtin_numbers_new(struct store *store)
{
    struct builtin_numbers *s = mem_new(struct builtin_numbers);
    *s = (struct builtin_numbers){.source.ops = &builtin_numbers_ops, .store = store};
    return &s->source;
}
