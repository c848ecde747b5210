#include "domain/activity.h"

#include "domain/visit.h"

/* The text of entries goes with the last entry that says it. */
static enum err purge_building(struct tx *tx, const struct id *building, int64_t before_us, int64_t limit,
                               int64_t *ret_count)
{
    int64_t count = 0, visits = 0;
    enum err e =
        db_exec(tx->db, SQL(activity_purge, .building_id = building, .before = before_us, .limit = limit), &count);
    if (!e && count)
        e = db_exec(tx->db, SQL(activity_purge_kinds, .building_id = building), NULL);
    if (!e)
        e = visit_purge(tx, building, before_us, limit, &visits);
    if (!e)
        *ret_count = count > visits ? count : visits;
    return e;
}

static enum err next_buildings(struct tx *tx, struct str after, struct id ret[static ACTIVITY_WALK_MAX],
                               size_t *ret_count)
{
    CURSOR c;
    size_t n = 0;
    enum err e = db_query(tx->db, SQL(building_walk, .after = after, .limit = ACTIVITY_WALK_MAX), &c);
    for (bool more; !e && !(e = db_next(&c, &more)) && more && n < ACTIVITY_WALK_MAX;)
        ret[n++] = row_building_walk(&c, NULL).id;
    *ret_count = n;
    return e;
}

enum err activity_purge(struct tx *tx, struct str after, int64_t before_us, int64_t limit, struct id *ret_after,
                        bool *ret_more)
{
    struct id buildings[ACTIVITY_WALK_MAX] = {{{0}}}, done = {{0}};
    size_t count = 0, i = 0;
    enum err e = next_buildings(tx, after, buildings, &count);
    if (after.n == ID_LEN)
        memcpy(done.text, after.p, ID_LEN);
    for (int64_t deleted = 0; !e && i < count; i++, limit -= deleted) {
        e = purge_building(tx, &buildings[i], before_us, limit, &deleted);
        if (!e && deleted == limit) /* the building may have more */
            break;
        done = buildings[i];
    }
    if (e)
        return e;
    *ret_more = i < count || count == ACTIVITY_WALK_MAX;
    *ret_after = *ret_more ? done : (struct id){{0}};
    return ERR_NONE;
}
