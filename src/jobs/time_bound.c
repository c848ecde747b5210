#include "jobs/time_bound.h"

#include "billing/operation.h"
#include "domain/box.h"
#include "domain/delivery.h"
#include "domain/notice.h"
#include "domain/phone.h"
#include "domain/session.h"
#include "domain/webhook.h"
#include "oauth/oauth.h"

#define STRANGE_US (86400 * US_PER_S)

static const struct bound {
    enum sql statement;
    int64_t ahead_s;
    enum { NOW, LATEST } value;
    enum { AT_ONCE, SETTLED } after;
} bounds[] = {
#define BOUND(statement, ahead_s, value, after, columns) {statement, ahead_s, value, after},
#include "tbl/times.def"
};

enum err time_bound_apply(struct tx *tx, size_t row, bool *ret_more, int64_t *ret_changed)
{
    const struct bound *b = &bounds[row];
    const int64_t latest_us = tx->now_us + b->ahead_s * US_PER_S;
    int64_t changed = 0;
    enum err e = ERR_NONE;
    if (b->after == AT_ONCE || clock_settled())
        e = db_exec(tx->db,
                    SQL_AS(b->statement, time_bound_delivery, .beyond = latest_us + TIME_BOUND_SLACK_S * US_PER_S,
                           .at = b->value == LATEST ? latest_us : tx->now_us),
                    &changed);
    if (e)
        return e;
    if (changed)
        db_notify(tx->db, TOPIC_JOBS | TOPIC_DELIVERIES | TOPIC_NOTICES);
    *ret_more = row + 1 < sizeof bounds / sizeof *bounds;
    *ret_changed = changed;
    return ERR_NONE;
}

enum err time_bound_apply_jobs(struct tx *tx, const char *kind, int64_t longest_s, int64_t *ret_changed)
{
    db_notify(tx->db, TOPIC_JOBS);
    return db_exec(tx->db,
                   SQL(time_bound_job, .beyond = tx->now_us + (longest_s + TIME_BOUND_SLACK_S) * US_PER_S,
                       .at = tx->now_us, .kind = str_z(kind)),
                   ret_changed);
}

enum err time_bound_strange(struct tx *tx, struct str name, bool *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(time_bound_last, .id = name), &c);
    if (e && e != ERR_NOT_FOUND)
        return e;
    const int64_t since_us = e ? 0 : tx->now_us - row_time_bound_last(&c, NULL).created_at;
    *ret = since_us > STRANGE_US || since_us < -TIME_BOUND_SLACK_S * US_PER_S;
    return ERR_NONE;
}
