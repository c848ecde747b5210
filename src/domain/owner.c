#include "domain/owner.h"

enum err building_owner(struct tx *tx, const struct id *building, struct id *ret_account)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(building_for_number, .id = building), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_BUILDING_NOT_FOUND : e;
    const struct row_building_for_number row = row_building_for_number(&c, NULL);
    *ret_account = row.account_id;
    return ERR_NONE;
}
