#include "domain/checkout_row.h"

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

struct checkout checkout_row_read(const struct cursor *c, struct arena *a)
{
    return (struct checkout){
        .account_id = col_id(c, COL_CHECKOUT_ACCOUNT_ID),
        .id = col_id(c, COL_CHECKOUT_ID),
        .request_id = col_copy(c, COL_CHECKOUT_REQUEST_ID, a),
        .status = checkout_status_of(col_str(c, COL_CHECKOUT_STATUS)),
        .created_us = col_int(c, COL_CHECKOUT_CREATED_AT),
        .plan = col_copy(c, COL_CHECKOUT_PLAN, a),
        .quantity = col_int(c, COL_CHECKOUT_QUANTITY),
        .email = col_copy(c, COL_CHECKOUT_EMAIL, a),
        .customer_id = col_copy(c, COL_CHECKOUT_CUSTOMER_ID, a),
        .return_url = col_copy(c, COL_CHECKOUT_RETURN_URL, a),
        .session_id = col_copy(c, COL_CHECKOUT_SESSION_ID, a),
        .url = col_copy(c, COL_CHECKOUT_URL, a),
        .subscription_id = col_copy(c, COL_CHECKOUT_SUBSCRIPTION_ID, a),
        .canceled = !col_null(c, COL_CHECKOUT_CANCELED_AT),
    };
}

enum err checkout_row(struct tx *tx, const struct db_call *call, struct checkout *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, call, &c);
    if (!e)
        *ret = checkout_row_read(&c, tx->arena);
    return e;
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
        list[count++] = checkout_row_read(&c, tx->arena);
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}
