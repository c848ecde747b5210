#include "domain/building.h"

#include "domain/row.h"

enum err building_of(struct tx *tx, const struct id *account, const struct id *building, bool *ret_linked)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(building_of, .account_id = account, .id = building), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_BUILDING_NOT_FOUND : e;
    *ret_linked = col_int(&c, COL_BUILDING_OF_IS_PRIMARY) == 0;
    return ERR_NONE;
}

/* The row of building_get and building_list. */
static struct building building_read(const struct cursor *c, const struct id *account, struct arena *a)
{
    struct building b = {
        .id = col_id(c, COL_BUILDING_ID),
        .account_id = *account,
        .primary = col_int(c, COL_BUILDING_IS_PRIMARY) != 0,
        .label = col_copy(c, COL_BUILDING_LABEL, a),
        .street = col_copy(c, COL_BUILDING_STREET, a),
        .city = col_copy(c, COL_BUILDING_CITY, a),
        .state = col_copy(c, COL_BUILDING_STATE, a),
        .zip = col_copy(c, COL_BUILDING_ZIP, a),
        .country = col_copy(c, COL_BUILDING_COUNTRY, a),
        .number = col_copy(c, COL_BUILDING_VIRTUAL_NUMBER, a),
        .unlock_tone = col_copy(c, COL_BUILDING_UNLOCK_TONE, a),
        .timezone = col_copy(c, COL_BUILDING_TIMEZONE, a),
        .last_buzz_us = col_int_or(c, COL_BUILDING_LAST_BUZZ_AT, 0),
    };
    b.has_address = b.city.p != NULL;
    return b;
}

enum err building_get(struct tx *tx, const struct id *account, const struct id *building, struct building *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(building_get, .account_id = account, .id = building), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_BUILDING_NOT_FOUND : e;
    *ret = building_read(&c, account, tx->arena);
    return ERR_NONE;
}

enum err building_list(struct tx *tx, const struct id *account, const struct building **ret, size_t *ret_count)
{
    CURSOR c;
    enum err e = db_query(tx->db, SQL(building_list, .account_id = account), &c);
    if (e)
        return e;
    struct building *list = arena_array(tx->arena, struct building, BUILDING_MAX);
    size_t count = 0;
    for (bool more; !(e = db_next(&c, &more)) && more && count < BUILDING_MAX;)
        list[count++] = building_read(&c, account, tx->arena);
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}

enum err building_create_primary(struct tx *tx, const struct id *account, struct id *ret)
{
    struct id id = id_new(tx->now_us);
    enum err e = db_exec(
        tx->db,
        SQL(building_insert_primary, .account_id = account, .id = &id, .created_at = tx->now_us, .label = STR("Home")),
        NULL);
    if (!e)
        *ret = id;
    return e;
}
