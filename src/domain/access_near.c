#include "domain/access_near.h"

#include "domain/grant_row.h"

bool near_unusable(const struct grant *g, int64_t now_us, enum access_why *ret)
{
    static const enum access_why whys[] = {
        [GRANT_INACTIVE] = NEAR_SWITCHED_OFF, [GRANT_EXHAUSTED] = NEAR_USED_UP, [GRANT_EXPIRED] = NEAR_EXPIRED,
        [GRANT_SCHEDULED] = NEAR_NOT_BEGUN,   [GRANT_REVOKED] = NEAR_REVOKED,
    };
    const enum grant_status status = grant_status(g, now_us);
    if (status != GRANT_ACTIVE)
        *ret = whys[status];
    else if (!grant_opens(g, now_us))
        *ret = NEAR_OUTSIDE_WINDOW;
    else
        return false;
    return true;
}

/* False if the grant is usable now. */
static bool near_miss(const struct grant *g, int64_t now_us, struct access_near *ret)
{
    struct access_near near = {.grant_id = g->id, .label = g->label, .timezone = g->schedule.timezone};
    if (!near_unusable(g, now_us, &near.why))
        return false;
    if (!grant_opens_next(g, now_us, &near.opens_us))
        near.opens_us = 0;
    *ret = near;
    return true;
}

struct access_near near_outside(const struct usable *grant, int64_t now_us)
{
    const struct grant g = {.id = grant->id,
                            .label = grant->label,
                            .enabled = true,
                            .remaining_uses = grant->remaining_uses,
                            .ends_us = grant->ends_us,
                            .schedule = door_schedule(grant)};
    struct access_near near = {.grant_id = g.id};
    (void)near_miss(&g, now_us, &near);
    return near;
}

enum err near_with_code(struct tx *tx, const struct id *building, struct str digits, struct access_near *ret,
                        size_t *ret_count)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(access_with_code, .building_id = building, .access_code = digits), &c);
    if (e)
        return e;
    const struct row_grant row = row_grant(&c, tx->arena);
    const struct grant g = grant_row(&row);
    *ret_count = near_miss(&g, tx->now_us, ret);
    return ERR_NONE;
}

enum err near_find(struct tx *tx, const struct id *building, struct access_near ret[static ACCESS_NEAR_MAX],
                   size_t *ret_count)
{
    CURSOR c;
    size_t count = 0;
    enum err e = db_query(tx->db, SQL(access_newest, .building_id = building, .limit = NEAR_ROWS_MAX), &c);
    if (e)
        return e;
    for (bool more; count < ACCESS_NEAR_MAX && !(e = db_next(&c, &more)) && more;) {
        const struct row_grant row = row_grant(&c, tx->arena);
        const struct grant g = grant_row(&row);
        count += near_miss(&g, tx->now_us, &ret[count]);
    }
    if (!e)
        *ret_count = count;
    return e;
}
