#include "domain/status.h"

#include "domain/row.h"

#define KINDS_MAX 64

static int64_t late_us(const struct cursor *c, int column, int64_t now_us)
{
    const int64_t due_us = col_int(c, column);
    return col_null(c, column) || due_us > now_us ? 0 : now_us - due_us;
}

enum err status_read(struct tx *tx, struct status *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(status_counts, .most = STATUS_COUNT_MAX, .now = tx->now_us), &c);
    if (e)
        return e;
    *ret = (struct status){.deliveries = col_int(&c, COL_STATUS_COUNTS_DELIVERIES),
                           .jobs = col_int(&c, COL_STATUS_COUNTS_JOBS),
                           .operations = col_int(&c, COL_STATUS_COUNTS_OPERATIONS),
                           .delivery_late_us = late_us(&c, COL_STATUS_COUNTS_DELIVERY_DUE_AT, tx->now_us),
                           .job_late_us = late_us(&c, COL_STATUS_COUNTS_JOB_DUE_AT, tx->now_us)};
    return ERR_NONE;
}

enum err status_failing(struct tx *tx, const struct status_failing **ret, size_t *ret_count)
{
    struct status_failing *list = arena_array(tx->arena, struct status_failing, KINDS_MAX);
    size_t count = 0;
    bool more = false;
    CURSOR c;
    enum err e = db_query(tx->db, SQL(status_failing, .limit = STATUS_FAILING_MAX), &c);
    while (!e && !(e = db_next(&c, &more)) && more && count < KINDS_MAX)
        list[count++] = (struct status_failing){col_copy(&c, COL_STATUS_FAILING_KIND, tx->arena),
                                                col_int(&c, COL_STATUS_FAILING_JOBS)};
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}
