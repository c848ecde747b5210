#include "jobs/status.h"

#define KINDS_MAX 64

static int64_t late_us(struct val due_at, int64_t now_us)
{
    const int64_t due_us = v_int_or(due_at, now_us);
    return due_us > now_us ? 0 : now_us - due_us;
}

enum err status_read(struct tx *tx, struct status *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(status_counts, .most = STATUS_COUNT_MAX, .now = tx->now_us), &c);
    if (e)
        return e;
    const struct row_status_counts row = row_status_counts(&c, NULL);
    *ret = (struct status){.deliveries = row.deliveries,
                           .jobs = row.jobs,
                           .operations = row.operations,
                           .delivery_late_us = late_us(row.delivery_due_at, tx->now_us),
                           .job_late_us = late_us(row.job_due_at, tx->now_us)};
    return ERR_NONE;
}

enum err status_failing(struct tx *tx, const struct status_failing **ret, size_t *ret_count)
{
    struct status_failing *list = arena_array(tx->arena, struct status_failing, KINDS_MAX);
    size_t count = 0;
    bool more = false;
    CURSOR c;
    enum err e = db_query(tx->db, SQL(status_failing, .limit = STATUS_FAILING_MAX), &c);
    while (!e && !(e = db_next(&c, &more)) && more && count < KINDS_MAX) {
        const struct row_status_failing row = row_status_failing(&c, tx->arena);
        list[count++] = (struct status_failing){row.kind, row.jobs};
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}
