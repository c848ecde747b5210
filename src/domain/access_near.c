#include "domain/access_near.h"

#include "domain/grant_row.h"

bool near_unusable(const struct grant *g, int64_t now_us, enum access_why *ret)
{
    static const enum access_why whys[] = {
        [GRANT_INACTIVE] = NEAR_SWITCHED_OFF,
        [GRANT_EXHAUSTED] = NEAR_USED_UP,
        [GRANT_EXPIRED] = NEAR_EXPIRED,
        [GRANT_SCHEDULED] = NEAR_NOT_BEGUN,
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
        struct access_near near = {.grant_id = g.id};
        if (!near_unusable(&g, tx->now_us, &near.why))
            continue;
        near.label = g.label;
        ret[count++] = near;
    }
    if (!e)
        *ret_count = count;
    return e;
}
