#include "domain/key_life.h"

#include "domain/principal.h"

enum err key_lives(struct tx *tx, const struct id *account, const struct id *key, bool *ret)
{
    CURSOR c;
    enum err e = db_one(
        tx->db, SQL(key_lives, .account_id = account, .id = key, .now = tx->now_us, .scope = SCOPE(CALLS_LISTEN)), &c);
    if (e && e != ERR_NOT_FOUND)
        return e;
    *ret = !e;
    return ERR_NONE;
}

enum err key_name(struct tx *tx, const struct id *account, const struct id *key, struct str *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(key_name, .account_id = account, .id = key), &c);
    if (e && e != ERR_NOT_FOUND)
        return e;
    *ret = e ? STR_NONE : row_key_name(&c, tx->arena).name;
    return ERR_NONE;
}
