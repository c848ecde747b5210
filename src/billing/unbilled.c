#include "billing/unbilled.h"

#include "billing/billing_sync.h"
#include "billing/subscription.h"

#define BATCH 200

static enum err unbill(struct tx *tx, const struct id *account)
{
    enum err e = account_unbill(tx, account);
    return e ? e : subscription_provision(tx, account);
}

struct billed {
    struct id account;
    enum subscription_status status;
    struct str plan, subscription_id; /* STR_NONE: the account has none */
};

/* A plan that the configuration no longer has becomes the default. */
static enum err bill(struct tx *tx, const struct billed *b)
{
    enum err e = subscription_set(tx, &b->account, b->status, b->plan);
    if (e == ERR_INVALID_PLAN)
        e = subscription_set(tx, &b->account, b->status, STR_NONE);
    if (!e)
        e = db_exec(tx->db, SQL(account_bill, .id = &b->account), NULL);
    return e || !b->subscription_id.p ? e : billing_sync_queue(tx, BILLING_SUBJECT_SUBSCRIPTION, b->subscription_id);
}

/* The rows are read before anything is written. */
static enum err list_billed(struct tx *tx, struct id *ret, size_t *ret_count)
{
    CURSOR c;
    size_t n = 0;
    enum err e =
        db_query(tx->db, SQL(account_list_billed, .plan = str_z(tx->config->billing_free_plan), .limit = BATCH), &c);
    for (bool more; !e && !(e = db_next(&c, &more)) && more && n < BATCH;)
        ret[n++] = row_account_list_billed(&c, NULL).id;
    *ret_count = n;
    return e;
}

static enum err list_unbilled(struct tx *tx, struct billed *ret, size_t *ret_count)
{
    CURSOR c;
    size_t n = 0;
    enum err e = db_query(tx->db, SQL(account_list_unbilled, .limit = BATCH), &c);
    for (bool more; !e && !(e = db_next(&c, &more)) && more && n < BATCH;) {
        struct billed *b = &ret[n++];
        const struct row_account_list_unbilled row = row_account_list_unbilled(&c, tx->arena);
        *b = (struct billed){.account = row.id, .plan = row.billed_plan, .subscription_id = row.subscription_id};
        if (!subscription_status_parse(row.billed_status, &b->status))
            b->status = SUBSCRIPTION_NONE;
    }
    *ret_count = n;
    return e;
}

enum err unbilled_settle(struct tx *tx, bool *ret_more)
{
    struct id *accounts = arena_array(tx->arena, struct id, BATCH);
    struct billed *billed = arena_array(tx->arena, struct billed, BATCH);
    const bool unbilled = tx->config->unbilled;
    size_t count;
    enum err e = unbilled ? list_billed(tx, accounts, &count) : list_unbilled(tx, billed, &count);
    for (size_t i = 0; !e && i < count; i++)
        e = unbilled ? unbill(tx, &accounts[i]) : bill(tx, &billed[i]);
    if (e)
        return e;
    if (count)
        db_notify(tx->db, TOPIC_KEYS);
    *ret_more = count == BATCH;
    return ERR_NONE;
}
