#include "domain/removal.h"

#include "domain/number.h"

#define BATCH 1000 /* rows of a table in a transaction, so that other writers wait only shortly */

enum err removal_sweep(struct tx *tx, const struct id *building, bool *ret_more)
{
    int64_t grants, passes, links, entries = 0, calls, visits, events, kinds = 0;
    enum err e = db_exec(tx->db, SQL(removal_grants, .building_id = building, .limit = BATCH), &grants);
    if (!e)
        e = db_exec(tx->db, SQL(removal_passes, .building_id = building, .limit = BATCH), &passes);
    if (!e)
        e = db_exec(tx->db, SQL(removal_guest_links, .building_id = building, .limit = BATCH), &links);
    if (!e)
        e = db_exec(tx->db, SQL(removal_activity, .building_id = building, .limit = BATCH), &entries);
    if (!e)
        e = db_exec(tx->db, SQL(removal_calls, .building_id = building, .limit = BATCH), &calls);
    if (!e)
        e = db_exec(tx->db, SQL(removal_visits, .building_id = building, .limit = BATCH), &visits);
    if (!e)
        e = db_exec(tx->db, SQL(removal_feed, .building_id = building, .limit = BATCH), &events);
    if (!e && entries < BATCH) /* no entry refers to a kind any more */
        e = db_exec(tx->db, SQL(removal_activity_kinds, .building_id = building, .limit = BATCH), &kinds);
    if (!e)
        *ret_more = grants == BATCH || passes == BATCH || links == BATCH || entries == BATCH || calls == BATCH ||
                    visits == BATCH || events == BATCH || kinds == BATCH;
    return e;
}

static enum err sweep_all(struct tx *tx, const struct id *building)
{
    bool more = true;
    enum err e = ERR_NONE;
    while (!e && more)
        e = removal_sweep(tx, building, &more);
    return e;
}

static enum err removal_release_number(struct tx *tx, const struct id *building)
{
    struct str number;
    {
        CURSOR c;
        enum err e = db_one(tx->db, SQL(building_for_number, .id = building), &c);
        if (e)
            return e == ERR_NOT_FOUND ? ERR_NONE : e;
        const struct row_building_for_number row = row_building_for_number(&c, tx->arena);
        number = row.virtual_number;
    }
    enum err e = number.p ? number_release(tx, number) : ERR_NONE;
    return e == ERR_NUMBER_NOT_FOUND ? ERR_NONE : e; /* not in the inventory */
}

enum err removal_finish(struct tx *tx, const struct id *account, const struct id *building)
{
    db_notify(tx->db, TOPIC_KEYS);
    db_doors(tx->db, account);
    enum err e = removal_release_number(tx, building);
    if (!e)
        e = sweep_all(tx, building); /* entries of calls since the last sweep */
    if (!e)
        e = db_exec(tx->db, SQL(removal_callers, .building_id = building), NULL);
    if (!e)
        e = db_exec(tx->db, SQL(removal_guard, .building_id = building), NULL);
    if (!e)
        e = db_exec(tx->db, SQL(removal_recordings, .building_id = building), NULL);
    if (!e)
        e = db_exec(tx->db, SQL(removal_messages, .building_id = building), NULL);
    if (!e)
        e = db_exec(tx->db, SQL(removal_push, .building_id = building), NULL);
    if (!e)
        e = db_exec(tx->db, SQL(removal_notice_mail, .building_id = building), NULL);
    if (!e)
        e = db_exec(tx->db, SQL(removal_grant_count, .building_id = building), NULL);
    if (!e)
        e = db_exec(tx->db, SQL(removal_feed_counter, .building_id = building), NULL);
    if (!e)
        e = db_exec(tx->db, SQL(removal_grant_building, .building_id = building), NULL);
    if (!e)
        e = db_exec(tx->db, SQL(removal_members, .building_id = building), NULL);
    if (!e)
        e = db_exec(tx->db, SQL(removal_keys, .account_id = account, .building_id = building, .revoked_at = tx->now_us),
                    NULL);
    return e ? e : db_exec(tx->db, SQL(removal_building, .account_id = account, .id = building), NULL);
}
