#include "domain/building.h"

enum err building_of(struct tx *tx, const struct id *account, const struct id *building, bool *ret_linked)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(building_of, .account_id = account, .id = building), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_BUILDING_NOT_FOUND : e;
    const struct row_building_of row = row_building_of(&c, NULL);
    *ret_linked = !row.is_primary;
    return ERR_NONE;
}

/* The row of building_get and building_list. */
static struct building building_read(const struct cursor *c, const struct id *account, struct arena *a)
{
    const struct row_building row = row_building(c, a);
    struct building b = {
        .id = row.id,
        .account_id = *account,
        .primary = row.is_primary,
        .label = row.label,
        .street = row.street,
        .city = row.city,
        .state = row.state,
        .zip = row.zip,
        .country = row.country,
        .number = row.virtual_number,
        .unlock_tone = row.unlock_tone,
        .timezone = row.timezone,
        .last_buzz_us = v_int_or(row.last_buzz_at, 0),
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
