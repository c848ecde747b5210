#include "domain/removal.h"

#include "domain/number.h"
#include "domain/row.h"

#define BATCH 1000 /* rows of a table in a transaction, so that other writers wait only shortly */

enum err removal_sweep(struct tx *tx, const struct id *building, bool *ret_more)
{
    int64_t grants, links, entries = 0, calls, events, kinds = 0;
    const struct db_args args = DB_ARGS(v_str(id_str(building)), v_int(BATCH));
    enum err e = db_exec(tx->db, SQL_REMOVAL_GRANTS, args, &grants);
    if (!e)
        e = db_exec(tx->db, SQL_REMOVAL_GUEST_LINKS, args, &links);
    if (!e)
        e = db_exec(tx->db, SQL_REMOVAL_ACTIVITY, args, &entries);
    if (!e)
        e = db_exec(tx->db, SQL_REMOVAL_CALLS, args, &calls);
    if (!e)
        e = db_exec(tx->db, SQL_REMOVAL_FEED, args, &events);
    if (!e && entries < BATCH) /* no entry refers to a kind any more */
        e = db_exec(tx->db, SQL_REMOVAL_ACTIVITY_KINDS, args, &kinds);
    if (!e)
        *ret_more = grants == BATCH || links == BATCH || entries == BATCH || calls == BATCH || events == BATCH ||
                    kinds == BATCH;
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
        enum err e = db_one(tx->db, SQL_BUILDING_FOR_NUMBER, DB_ARGS(v_str(id_str(building))), &c);
        if (e)
            return e == ERR_NOT_FOUND ? ERR_NONE : e;
        number = col_copy(&c, COL_BUILDING_FOR_NUMBER_VIRTUAL_NUMBER, tx->arena);
    }
    enum err e = number.p ? number_release(tx, number) : ERR_NONE;
    return e == ERR_NUMBER_NOT_FOUND ? ERR_NONE : e; /* not in the inventory */
}

enum err removal_finish(struct tx *tx, const struct id *account, const struct id *building)
{
    const struct val account_id = v_str(id_str(account)), id = v_str(id_str(building));
    db_notify(tx->db, TOPIC_KEYS | TOPIC_DOORS);
    enum err e = removal_release_number(tx, building);
    if (!e)
        e = sweep_all(tx, building); /* entries of calls since the last sweep */
    if (!e)
        e = db_exec(tx->db, SQL_REMOVAL_CALLERS, DB_ARGS(id), NULL);
    if (!e)
        e = db_exec(tx->db, SQL_REMOVAL_GUARD, DB_ARGS(id), NULL);
    if (!e)
        e = db_exec(tx->db, SQL_REMOVAL_RECORDINGS, DB_ARGS(id), NULL);
    if (!e)
        e = db_exec(tx->db, SQL_REMOVAL_MESSAGES, DB_ARGS(id), NULL);
    if (!e)
        e = db_exec(tx->db, SQL_REMOVAL_PUSH, DB_ARGS(id), NULL);
    if (!e)
        e = db_exec(tx->db, SQL_REMOVAL_NOTICE_MAIL, DB_ARGS(id), NULL);
    if (!e)
        e = db_exec(tx->db, SQL_REMOVAL_GRANT_COUNT, DB_ARGS(id), NULL);
    if (!e)
        e = db_exec(tx->db, SQL_REMOVAL_FEED_COUNTER, DB_ARGS(id), NULL);
    if (!e)
        e = db_exec(tx->db, SQL_REMOVAL_GRANT_BUILDING, DB_ARGS(id), NULL);
    if (!e)
        e = db_exec(tx->db, SQL_REMOVAL_MEMBERS, DB_ARGS(id), NULL);
    if (!e)
        e = db_exec(tx->db, SQL_REMOVAL_KEYS, DB_ARGS(account_id, id, v_int(tx->now_us)), NULL);
    return e ? e : db_exec(tx->db, SQL_REMOVAL_BUILDING, DB_ARGS(account_id, id), NULL);
}
