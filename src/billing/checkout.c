#include "billing/checkout.h"

#include "billing/billing_account.h"
#include "billing/billing_sync.h"
#include "billing/checkout_row.h"
#include "billing/operation.h"

static enum err checkout_get(struct tx *tx, const struct id *account, const struct id *id, struct checkout *ret)
{
    return checkout_row(tx, SQL(checkout_by_id, .account_id = account, .id = id), ret);
}

/* ---- a client's request ---- */

bool checkout_overdue(const struct checkout *c, int64_t now_us)
{
    return c->status == CHECKOUT_PREPARING && c->created_us + CHECKOUT_RESOLVE_S * US_PER_S <= now_us;
}

enum err checkout_replay(struct tx *tx, const struct checkout_request *r, struct checkout *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(checkout_by_request, .account_id = &r->account, .request_id = r->request_id), &c);
    if (e)
        return e;
    const struct row_checkout_by_request row = row_checkout_by_request(&c, tx->arena);
    if (!str_eq(row.request_hash, str_n((const char *)r->hash, SHA256_LEN)))
        return ERR_IDEMPOTENCY_CONFLICT;
    *ret = checkout_row_read(&row.checkout);
    return ERR_NONE;
}

/* A request with a known key. A preparing checkout asks the provider again, with the same idempotency key. */
static enum err checkout_resume(struct tx *tx, const struct checkout *c, enum checkout_step *ret_step)
{
    if (checkout_overdue(c, tx->now_us))
        return ERR_CHECKOUT_RECONCILIATION_REQUIRED;
    *ret_step = c->status == CHECKOUT_PREPARING ? CHECKOUT_ASK : CHECKOUT_ANSWER;
    return ERR_NONE;
}

static enum err check_sale(enum checkout_sale sale)
{
    switch (sale) {
    case CHECKOUT_SALE_UNKNOWN:
        return ERR_CHECKOUT_UNAVAILABLE;
    case CHECKOUT_SALE_OFF:
        return ERR_PLAN_UNAVAILABLE;
    case CHECKOUT_SALE_ON:
        break;
    }
    return ERR_NONE;
}

/* Rules 1 and 5: a paid subscription blocks another checkout until it has ended. */
static enum err check_unpaid(struct tx *tx, const struct checkout_request *r, const struct billing_account *account)
{
    struct checkout paid;
    if (account->status != SUBSCRIPTION_NONE)
        return ERR_SUBSCRIPTION_EXISTS;
    enum err e = checkout_row(tx, SQL(checkout_paid, .account_id = &r->account), &paid);
    if (e == ERR_NOT_FOUND)
        return ERR_NONE;
    return e ? e : tx_fail(tx, ERR_CHECKOUT_EXISTS, "A checkout was paid; its subscription is being activated.");
}

/* The number of buildings to pay for is not known before a building operation has ended. */
static enum err check_buildings(struct tx *tx, const struct checkout_request *r)
{
    struct operation o;
    enum err e = operation_current(tx, &r->account, &o);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_NONE : e;
    if (o.status == OPERATION_RUNNING)
        return tx_fail(tx, ERR_CHECKOUT_PENDING, "A building is being added or removed.");
    return tx_fail(tx, ERR_CHECKOUT_RECONCILIATION_REQUIRED, "A change of the buildings must be resolved by support.");
}

static enum err checkout_insert(struct tx *tx, const struct checkout_request *r, const struct billing_account *account,
                                struct checkout *ret)
{
    struct id id = id_new(tx->now_us);
    enum err e = db_exec(tx->db,
                         SQL(checkout_insert, .account_id = &r->account, .id = &id, .request_id = r->request_id,
                             .request_hash = str_bytes(r->hash, SHA256_LEN), .created_at = tx->now_us, .plan = r->plan,
                             .quantity = account->building_count, .email = account->email,
                             .customer_id = account->customer_id, .return_url = r->return_url),
                         NULL);
    return e ? e : checkout_get(tx, &r->account, &id, ret);
}

/* Answers later requests with this key with the same checkout (rule 3). */
static enum err checkout_add_alias(struct tx *tx, const struct checkout_request *r, const struct checkout *c)
{
    return db_exec(tx->db,
                   SQL(checkout_alias_insert, .account_id = &r->account, .request_id = r->request_id,
                       .request_hash = str_bytes(r->hash, SHA256_LEN), .checkout_id = &c->id),
                   NULL);
}

/* Another request while a checkout is preparing or open (rules 3 and 4). */
static enum err checkout_join_pending(struct tx *tx, const struct checkout_request *r, const struct checkout *c,
                                      enum checkout_step *ret_step)
{
    enum checkout_step step = CHECKOUT_END;
    enum err e = ERR_NONE;
    bool same_plan = str_eq(c->plan, r->plan);
    if (checkout_overdue(c, tx->now_us))
        return ERR_CHECKOUT_RECONCILIATION_REQUIRED;
    if (c->status == CHECKOUT_PREPARING)
        return same_plan ? ERR_CHECKOUT_PENDING : ERR_CHECKOUT_EXISTS;
    if (same_plan)
        step = r->reread ? CHECKOUT_ANSWER : CHECKOUT_REREAD;
    if (step == CHECKOUT_ANSWER)
        e = checkout_add_alias(tx, r, c);
    else if (step == CHECKOUT_END)
        e = check_sale(r->sale);
    if (!e)
        *ret_step = step;
    return e;
}

static enum err checkout_make(struct tx *tx, const struct checkout_request *r, const struct billing_account *account,
                              struct checkout *ret)
{
    enum err e = check_sale(r->sale);
    if (!e)
        e = check_buildings(tx, r);
    return e ? e : checkout_insert(tx, r, account, ret);
}

/* A request under a new key. */
static enum err checkout_begin_new(struct tx *tx, const struct checkout_request *r, struct checkout *ret,
                                   enum checkout_step *ret_step, bool *ret_made)
{
    struct billing_account account;
    struct checkout c;
    enum err e = billing_account_get(tx, &r->account, &account);
    if (!e)
        e = check_unpaid(tx, r, &account);
    if (e)
        return e;
    e = checkout_row(tx, SQL(checkout_pending, .account_id = &r->account), &c);
    const bool none = e == ERR_NOT_FOUND;
    enum checkout_step step = CHECKOUT_ASK;
    if (none)
        e = checkout_make(tx, r, &account, &c);
    else if (!e)
        e = checkout_join_pending(tx, r, &c, &step);
    if (e)
        return e;
    *ret = c;
    *ret_step = step;
    *ret_made = none;
    return ERR_NONE;
}

enum err checkout_begin(struct tx *tx, const struct checkout_request *r, struct checkout *ret,
                        enum checkout_step *ret_step, bool *ret_made)
{
    struct checkout c;
    enum err e = checkout_replay(tx, r, &c);
    if (e == ERR_NOT_FOUND)
        return checkout_begin_new(tx, r, ret, ret_step, ret_made);
    if (!e)
        e = checkout_resume(tx, &c, ret_step);
    if (e)
        return e;
    *ret = c;
    *ret_made = false;
    return ERR_NONE;
}

enum err checkout_current(struct tx *tx, const struct id *account, struct checkout *ret)
{
    struct checkout c;
    enum err e = checkout_row(tx, SQL(checkout_latest, .account_id = account), &c);
    if (e)
        return e;
    if (c.canceled)
        return ERR_NOT_FOUND;
    *ret = c;
    return ERR_NONE;
}

enum err checkout_of_session(struct tx *tx, const struct id *account, struct str session_id, struct checkout *ret)
{
    struct checkout found;
    enum err e = checkout_row(tx, SQL(checkout_by_session, .session_id = session_id), &found);
    if (e)
        return e;
    if (account && !id_equal(account, &found.account_id))
        return ERR_NOT_FOUND;
    *ret = found;
    return ERR_NONE;
}

/* ---- the provider's answers ---- */

/* The only function that changes the status of a checkout. */
static enum err checkout_move(struct tx *tx, struct checkout *c, enum checkout_status status)
{
    c->status = status;
    return db_exec(tx->db,
                   SQL(checkout_move, .account_id = &c->account_id, .id = &c->id,
                       .status = str_z(checkout_status_text(status)), .session_id = c->session_id, .url = c->url,
                       .subscription_id = c->subscription_id, .checked_at = tx->now_us),
                   NULL);
}

static enum err checkout_complete(struct tx *tx, struct checkout *c, const struct checkout_session *session)
{
    c->subscription_id = session->subscription_id;
    enum err e = checkout_move(tx, c, CHECKOUT_COMPLETE);
    if (!e && session->customer_id.p)
        e = billing_account_set_customer(tx, &c->account_id, session->customer_id);
    if (!e && session->subscription_id.p)
        e = billing_sync_queue(tx, BILLING_SUBJECT_SUBSCRIPTION, session->subscription_id);
    return e;
}

/* Reads the row again: another transaction may have changed it since. */
static enum err checkout_reload(struct tx *tx, struct checkout *c)
{
    return checkout_get(tx, &c->account_id, &c->id, c);
}

enum err checkout_settle(struct tx *tx, struct checkout *c, const struct checkout_session *session)
{
    enum err e = checkout_reload(tx, c);
    if (e || c->status == CHECKOUT_COMPLETE)
        return e;
    bool pending = c->status == CHECKOUT_PREPARING || c->status == CHECKOUT_OPEN;
    if (!pending && session->status != CHECKOUT_COMPLETE)
        return ERR_NONE;
    c->session_id = session->id;
    if (session->url.p)
        c->url = session->url;
    return session->status == CHECKOUT_COMPLETE ? checkout_complete(tx, c, session)
                                                : checkout_move(tx, c, session->status);
}

enum err checkout_refuse(struct tx *tx, struct checkout *c)
{
    enum err e = checkout_reload(tx, c);
    return e || c->status != CHECKOUT_PREPARING ? e : checkout_move(tx, c, CHECKOUT_FAILED);
}

enum err checkout_vanish(struct tx *tx, struct checkout *c)
{
    enum err e = checkout_reload(tx, c);
    return e || c->status != CHECKOUT_OPEN ? e : checkout_move(tx, c, CHECKOUT_EXPIRED);
}

enum err checkout_subscription_ended(struct tx *tx, const struct id *account, struct str subscription_id)
{
    return db_exec(
        tx->db,
        SQL(checkout_cancel, .account_id = account, .subscription_id = subscription_id, .canceled_at = tx->now_us),
        NULL);
}

/* ---- lists ---- */

enum err checkout_unsettled(struct tx *tx, int64_t before_us, int64_t limit, const struct checkout **ret,
                            size_t *ret_count)
{
    const int64_t overdue_us = tx->now_us - CHECKOUT_RESOLVE_S * US_PER_S;
    return checkout_rows(
        tx, SQL(checkout_unsettled, .checked_before = before_us, .created_after = overdue_us, .limit = limit), ret,
        ret_count);
}

enum err checkout_asked(struct tx *tx, const struct checkout *list, size_t count)
{
    enum err e = ERR_NONE;
    for (size_t i = 0; !e && i < count; i++)
        e = db_exec(
            tx->db,
            SQL(checkout_checked, .account_id = &list[i].account_id, .id = &list[i].id, .checked_at = tx->now_us),
            NULL);
    return e;
}

enum err checkout_list(struct tx *tx, struct str email, int64_t limit, const struct checkout **ret, size_t *ret_count)
{
    if (!email.p)
        return checkout_rows(tx, SQL(checkout_list_pending, .limit = limit), ret, ret_count);
    return checkout_rows(tx, SQL(checkout_list_of, .limit = limit, .email = email), ret, ret_count);
}

static enum err checkout_owner(struct tx *tx, const struct id *id, struct id *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(checkout_owner, .id = id), &c);
    if (!e)
        *ret = row_checkout_owner(&c, NULL).account_id;
    return e;
}

enum err checkout_find(struct tx *tx, const struct id *id, struct checkout *ret)
{
    struct id account;
    enum err e = checkout_owner(tx, id, &account);
    return e ? e : checkout_get(tx, &account, id, ret);
}
