#include "domain/checkout_row.h"

static const char *const status_texts[CHECKOUT_STATUS_COUNT] = {
    [CHECKOUT_PREPARING] = "preparing", [CHECKOUT_OPEN] = "open",     [CHECKOUT_COMPLETE] = "complete",
    [CHECKOUT_EXPIRED] = "expired",     [CHECKOUT_FAILED] = "failed",
};

const char *checkout_status_text(enum checkout_status status)
{
    return status_texts[status];
}

static enum checkout_status status_of(struct str text)
{
    int i = 0;
    while (i < CHECKOUT_FAILED && !str_eq(text, str_z(status_texts[i])))
        i++;
    return (enum checkout_status)i;
}

static struct checkout read_row(const struct cursor *c, struct arena *a)
{
    struct checkout r = {
        .account_id = col_id(c, 0),
        .id = col_id(c, 1),
        .request_id = col_copy(c, 2, a),
        .status = status_of(col_str(c, 4)),
        .created_us = col_int(c, 5),
        .plan = col_copy(c, 6, a),
        .quantity = col_int(c, 7),
        .email = col_copy(c, 8, a),
        .customer_id = col_copy(c, 9, a),
        .return_url = col_copy(c, 10, a),
        .session_id = col_copy(c, 11, a),
        .url = col_copy(c, 12, a),
        .subscription_id = col_copy(c, 13, a),
        .canceled = !col_null(c, 14),
    };
    struct str hash = col_blob(c, 3);
    if (hash.n == sizeof r.request_hash)
        memcpy(r.request_hash, hash.p, sizeof r.request_hash);
    return r;
}

enum err checkout_row(struct tx *tx, enum sql statement, struct db_args args, struct checkout *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, statement, args, &c);
    if (!e)
        *ret = read_row(&c, tx->arena);
    return e;
}

enum err checkout_rows(struct tx *tx, enum sql statement, struct db_args args, const struct checkout **ret,
                       size_t *ret_count)
{
    CURSOR c;
    enum err e = db_query(tx->db, statement, args, &c);
    if (e)
        return e;
    struct checkout *list = NULL;
    size_t count = 0, room = 0;
    for (bool more; !(e = db_next(&c, &more)) && more;) {
        list = list_room(tx->arena, list, count, &room, sizeof *list);
        list[count++] = read_row(&c, tx->arena);
    }
    if (e)
        return e;
    *ret = list;
    *ret_count = count;
    return ERR_NONE;
}
