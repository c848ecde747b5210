#include "domain/minutes.h"

#define DAY_US    (86400 * US_PER_S)
#define CLOCKS_US (60 * US_PER_S) /* the clock of another node may be that far ahead */

enum err minutes_left(struct tx *tx, const struct id *account, int64_t *ret)
{
    const int64_t limit = tx->config->voice_account_minutes_per_day;
    if (!limit) {
        *ret = INT64_MAX;
        return ERR_NONE;
    }
    CURSOR c;
    const bool told_in_calls = strcmp(tx->config->sms_provider, "call") == 0;
    enum err e = db_one(tx->db,
                        SQL(call_record_minutes, .account_id = account, .after = tx->now_us - DAY_US,
                            .until = tx->now_us + CLOCKS_US, .codes = told_in_calls),
                        &c);
    if (e)
        return e;
    const struct row_call_record_minutes row = row_call_record_minutes(&c, NULL);
    const int64_t left = limit - row.minutes;
    *ret = left > 0 ? left : 0;
    return ERR_NONE;
}
