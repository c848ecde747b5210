#include "domain/number.h"

#include <assert.h>

#include "domain/row.h"

/* The sandbox's ranges. */
static const struct range {
    struct str country;
    uint64_t first, last;
} ranges[] = {
    {{"US", 2}, 15550100000, 15550199999},
    {{"CA", 2}, 15550200000, 15550299999},
};

enum err number_add(struct op *op, struct str number, struct str country)
{
    return db_exec(op->db, SQL_NUMBER_INSERT, DB_ARGS(v_str(number), v_str(country)), NULL);
}

enum err number_list(struct op *op, const struct number **ret, size_t *ret_count)
{
    CURSOR c;
    enum err e = db_query(op->db, SQL_NUMBER_LIST, DB_NO_ARGS, &c);
    if (e)
        return e;
    struct number *list = NULL;
    size_t count = 0, room = 0;
    for (bool more; !(e = db_next(&c, &more)) && more;) {
        list = list_room(op->arena, list, count, &room, sizeof *list);
        list[count++] = (struct number){
            .number = col_copy(&c, 0, op->arena),
            .country = col_copy(&c, 1, op->arena),
            .building_id = col_id(&c, 2),
            .held_since_us = col_int_or(&c, 3, 0),
            .account_id = col_id(&c, 4),
            .building_label = col_copy(&c, 5, op->arena),
            .email = col_copy(&c, 6, op->arena),
        };
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}

/* ---- free numbers ---- */

static enum err find_free(struct op *op, struct str country, struct str *ret, bool *ret_fresh)
{
    CURSOR c;
    enum err e = db_one(op->db, SQL_NUMBER_FREE, DB_ARGS(v_str(country)), &c);
    if (e)
        return e;
    *ret = col_copy(&c, 0, op->arena);
    *ret_fresh = col_int(&c, 1) == 0;
    return ERR_NONE;
}

static const struct range *range_of(struct str country)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (str_eq(country, ranges[i].country))
            return &ranges[i];
    return NULL;
}

static struct str range_text(struct arena *a, uint64_t number)
{
    return arena_printf(a, "+%llu", (unsigned long long)number);
}

/* The next number of the sandbox's range, now in the inventory. ERR_NOT_FOUND when the range is used up. */
static enum err mint(struct op *op, struct str country, struct str *ret)
{
    const struct range *r = range_of(country);
    if (!r)
        return ERR_NOT_FOUND;
    uint64_t next = r->first;
    {
        CURSOR c;
        enum err e = db_one(
            op->db, SQL_NUMBER_HIGHEST,
            DB_ARGS(v_str(country), v_str(range_text(op->arena, r->first)), v_str(range_text(op->arena, r->last))), &c);
        if (e)
            return e;
        uint64_t highest;
        if (!col_null(&c, 0) && str_to_u64(str_from(col_str(&c, 0), 1), r->last, &highest))
            next = highest + 1;
    }
    if (next > r->last)
        return ERR_NOT_FOUND;
    *ret = range_text(op->arena, next);
    return number_add(op, *ret, country);
}

static enum err choose(struct op *op, struct str country, struct str *ret)
{
    bool fresh = false;
    enum err e = find_free(op, country, ret, &fresh);
    if (e && e != ERR_NOT_FOUND)
        return e;
    if (fresh || op->config->production)
        return e;
    struct str minted;
    enum err m = mint(op, country, &minted);
    if (m == ERR_NOT_FOUND)
        return e; /* the range is used up: one that was given back, if there is one */
    if (!m)
        *ret = minted;
    return m;
}

/* ---- holding ---- */

static enum err set_building(struct op *op, const struct id *account, const struct id *building, struct str number)
{
    return db_exec(op->db, SQL_BUILDING_SET_NUMBER,
                   DB_ARGS(v_str(id_str(account)), v_str(id_str(building)), v_str(number)), NULL);
}

static enum err hold(struct op *op, const struct id *account, const struct id *building, struct str number)
{
    int64_t changed;
    enum err e =
        db_exec(op->db, SQL_NUMBER_HOLD, DB_ARGS(v_str(number), v_str(id_str(building)), v_int(op->now_us)), &changed);
    if (!e && !changed)
        e = ERR_RETRY; /* lost to another transaction */
    return e ? e : set_building(op, account, building, number);
}

enum err number_allocate(struct op *op, const struct id *building, struct str *ret)
{
    struct id account;
    struct str number, country;
    {
        CURSOR c;
        enum err e = db_one(op->db, SQL_BUILDING_FOR_NUMBER, DB_ARGS(v_str(id_str(building))), &c);
        if (e)
            return e == ERR_NOT_FOUND ? ERR_BUILDING_NOT_FOUND : e;
        account = col_id(&c, 0);
        number = col_copy(&c, 1, op->arena);
        country = col_null(&c, 2) ? STR("US") : col_copy(&c, 2, op->arena);
    }
    if (!number.p) {
        enum err e = choose(op, country, &number);
        if (!e)
            e = hold(op, &account, building, number);
        if (e)
            return e == ERR_NOT_FOUND ? ERR_NUMBER_NOT_PROVISIONED : e;
    }
    if (ret)
        *ret = number;
    return ERR_NONE;
}

enum err number_release(struct op *op, struct str number)
{
    struct id building, account;
    {
        CURSOR c;
        enum err e = db_one(op->db, SQL_NUMBER_HOLDER, DB_ARGS(v_str(number)), &c);
        if (e)
            return e == ERR_NOT_FOUND ? ERR_NUMBER_NOT_FOUND : e;
        building = col_id(&c, 0);
        account = col_id(&c, 1);
    }
    if (!id_given(&building))
        return ERR_NUMBER_NOT_FOUND;
    enum err e = db_exec(op->db, SQL_NUMBER_RELEASE, DB_ARGS(v_str(number), v_int(op->now_us)), NULL);
    if (!e && id_given(&account))
        e = set_building(op, &account, &building, STR_NONE);
    return e;
}
