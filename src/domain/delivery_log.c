#include "domain/delivery_log.h"

#include "domain/event.h"
#include "domain/webhook.h"

const char *const delivery_status_names[] = {
    [DELIVERY_PENDING] = "pending",
    [DELIVERY_DELIVERED] = "delivered",
    [DELIVERY_FAILED] = "failed",
    [DELIVERY_CANCELED] = "canceled",
    NULL,
};

/* ---- lists ---- */

static struct delivery_entry delivery_log_read(const struct cursor *c, struct arena *a)
{
    const struct row_delivery_log row = row_delivery_log(c, a);
    const bool pending = str_eq(row.status, str_z(delivery_status_names[DELIVERY_PENDING]));
    return (struct delivery_entry){
        .id = row.id,
        .webhook_id = row.webhook_id,
        .account_id = row.account_id,
        .event_id = row.event_id,
        .type = row.type,
        .status = row.status,
        .attempts = row.attempts,
        .created_us = row.created_at,
        .due_us = pending ? row.due_at : 0,
        .attempted_us = v_int_or(row.attempted_at, 0),
        .status_code = v_int_or(row.status_code, 0),
        .failure = row.failure,
    };
}

/* At most `limit` rows. *ret_more: there is another one. */
static enum err read_rows(struct tx *tx, const struct db_call *call, int64_t limit, const struct delivery_entry **ret,
                          size_t *ret_count, bool *ret_more)
{
    CURSOR c;
    struct delivery_entry *items = arena_array(tx->arena, struct delivery_entry, (size_t)limit);
    size_t n = 0;
    bool more;
    enum err e = db_query(tx->db, call, &c);
    if (e)
        return e;
    while (!(e = db_next(&c, &more)) && more && n < (size_t)limit)
        items[n++] = delivery_log_read(&c, tx->arena);
    if (e)
        return e;
    *ret = items;
    *ret_count = n;
    *ret_more = more;
    return ERR_NONE;
}

enum err delivery_log_page(struct tx *tx, const struct id *account, const struct id *webhook,
                           const struct delivery_filter *filter, struct delivery_page *ret)
{
    const int64_t limit = v_set(filter->limit) ? filter->limit.i : DELIVERY_PAGE_DEFAULT;
    const struct str before = v_set(filter->cursor) ? filter->cursor.s : ID_ABOVE_ALL;
    bool deleted;
    enum err e = webhook_find(tx, account, webhook, &deleted);
    if (e)
        return e;
    /* One more, to set `more`. */
    if (v_set(filter->status))
        return read_rows(tx,
                         SQL(delivery_log_status, .webhook_id = webhook, .before = before, .limit = limit + 1,
                             .status = filter->status.s),
                         limit, &ret->items, &ret->count, &ret->more);
    return read_rows(tx, SQL(delivery_log, .webhook_id = webhook, .before = before, .limit = limit + 1), limit,
                     &ret->items, &ret->count, &ret->more);
}

enum err delivery_log_search(struct tx *tx, const struct id *account, struct str status, int64_t limit,
                             const struct delivery_entry **ret, size_t *ret_count)
{
    bool more;
    if (id_given(account))
        return read_rows(tx, SQL(delivery_log_account, .account_id = account, .status = status, .limit = limit), limit,
                         ret, ret_count, &more);
    return read_rows(tx, SQL(delivery_log_all, .status = status, .limit = limit), limit, ret, ret_count, &more);
}

/* ---- replay ---- */

enum err delivery_replay(struct tx *tx, const struct id *account, const struct id *webhook, const struct id *id,
                         struct id *ret_delivery)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(delivery_replay, .webhook_id = webhook, .id = id, .account_id = account), &c);
    if (e)
        return e;
    const struct row_delivery_replay row = row_delivery_replay(&c, tx->arena);
    if (v_set(row.deleted_at))
        return tx_fail(tx, ERR_NOT_FOUND, "the endpoint of the delivery is deleted");
    if (str_eq(row.status, str_z(delivery_status_names[DELIVERY_PENDING])))
        return ERR_DELIVERY_PENDING;
    return event_deliver(tx, account, webhook, row.event_id, ret_delivery);
}

enum err delivery_replay_any(struct tx *tx, const struct id *id, struct id *ret_delivery)
{
    struct id account, webhook;
    {
        CURSOR c;
        enum err e = db_one(tx->db, SQL(delivery_find, .id = id), &c);
        if (e)
            return e;
        const struct row_delivery_find row = row_delivery_find(&c, NULL);
        account = row.account_id;
        webhook = row.webhook_id;
    }
    return delivery_replay(tx, &account, &webhook, id, ret_delivery);
}

enum err delivery_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count)
{
    const struct id first = id_first(before_us);
    return db_exec(tx->db, SQL(delivery_purge, .before = &first, .limit = limit), ret_count);
}
