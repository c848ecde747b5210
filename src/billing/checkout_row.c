#include "billing/checkout_row.h"

#include "domain/list.h"

static const char *const status_texts[CHECKOUT_STATUS_COUNT] = {
    [CHECKOUT_PREPARING] = "preparing", [CHECKOUT_OPEN] = "open",     [CHECKOUT_COMPLETE] = "complete",
    [CHECKOUT_EXPIRED] = "expired",     [CHECKOUT_FAILED] = "failed",
};

const char *checkout_status_text(enum checkout_status status)
{
    return status_texts[status];
}

static enum checkout_status checkout_status_of(struct str text)
{
    int i = 0;
    while (i < CHECKOUT_FAILED && !str_eq(text, str_z(status_texts[i])))
        i++;
    return (enum checkout_status)i;
}

struct checkout checkout_row_read(const struct row_checkout *r)
{
    return (struct checkout){
        .account_id = r->account_id,
        .id = r->id,
        .request_id = r->request_id,
        .status = checkout_status_of(r->status),
        .created_us = r->created_at,
        .plan = r->plan,
        .quantity = r->quantity,
        .email = r->email,
        .customer_id = r->customer_id,
        .return_url = r->return_url,
        .session_id = r->session_id,
        .url = r->url,
        .subscription_id = r->subscription_id,
        .canceled = v_set(r->canceled_at),
    };
}

enum err checkout_row(struct tx *tx, const struct db_call *call, struct checkout *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, call, &c);
    if (e)
        return e;
    const struct row_checkout row = row_checkout(&c, tx->arena);
    *ret = checkout_row_read(&row);
    return ERR_NONE;
}

enum err checkout_rows(struct tx *tx, const struct db_call *call, const struct checkout **ret, size_t *ret_count)
{
    CURSOR c;
    enum err e = db_query(tx->db, call, &c);
    if (e)
        return e;
    struct checkout *list = NULL;
    size_t count = 0, room = 0;
    for (bool more; !(e = db_next(&c, &more)) && more;) {
        list = list_room(tx->arena, list, count, &room, sizeof *list);
        const struct row_checkout row = row_checkout(&c, tx->arena);
        list[count++] = checkout_row_read(&row);
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}
