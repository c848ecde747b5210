#include "domain/owner.h"

#include "domain/row.h"

enum err building_owner(struct tx *tx, const struct id *building, struct id *ret_account)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(building_for_number, .id = building), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_BUILDING_NOT_FOUND : e;
    *ret_account = col_id(&c, COL_BUILDING_FOR_NUMBER_ACCOUNT_ID);
    return ERR_NONE;
}
