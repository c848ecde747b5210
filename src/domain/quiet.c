#include "domain/quiet.h"

#include "base/schedule.h"

bool quiet_is(struct val from, struct val until, struct str zone, int64_t at_us)
{
    struct schedule_time local;
    if (!v_set(from) || !v_set(until) || !zone.p || !schedule_local(zone, at_us, &local))
        return false;
    const bool begun = local.minute >= from.i, ended = local.minute >= until.i;
    return from.i <= until.i ? begun && !ended : begun || !ended;
}

static enum err query_hours(struct tx *tx, const struct id *account, const struct id *member, struct cursor *ret)
{
    return id_given(member) ? db_one(tx->db, SQL(quiet_member, .account_id = account, .id = member), ret)
                            : db_one(tx->db, SQL(quiet_owner, .id = account), ret);
}

enum err quiet_get(struct tx *tx, const struct id *account, const struct id *member, struct quiet *ret)
{
    CURSOR c;
    enum err e = query_hours(tx, account, member, &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_ACCOUNT_NOT_FOUND : e;
    const struct row_quiet row = row_quiet(&c, NULL);
    *ret = (struct quiet){(int)v_int_or(row.quiet_from, 0), (int)v_int_or(row.quiet_to, 0)};
    return ERR_NONE;
}

enum err quiet_set(struct tx *tx, const struct id *account, const struct id *member, const struct quiet *quiet)
{
    const bool none = quiet->from == quiet->until;
    const struct val from = none ? v_null() : v_int(quiet->from), until = none ? v_null() : v_int(quiet->until);
    db_doors(tx->db, account);
    return id_given(member)
               ? db_exec(
                     tx->db,
                     SQL(quiet_member_put, .account_id = account, .id = member, .quiet_from = from, .quiet_to = until),
                     NULL)
               : db_exec(tx->db, SQL(quiet_owner_put, .id = account, .quiet_from = from, .quiet_to = until), NULL);
}
