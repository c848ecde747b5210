#include "billing/billing_account.h"

#include "billing/subscription.h"

enum err billing_account_get(struct tx *tx, const struct id *account, struct billing_account *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(billing_account, .id = account), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_ACCOUNT_NOT_FOUND : e;
    const struct row_billing_account row = row_billing_account(&c, tx->arena);
    struct billing_account a = {
        .email = row.email,
        .customer_id = row.customer_id,
        .subscription_id = row.subscription_id,
        .plan = row.plan,
        .building_count = row.buildings,
    };
    if (!str_eq(row.subscription_status, STR("none")) && !subscription_status_parse(row.subscription_status, &a.status))
        return ERR_INTERNAL_ERROR;
    *ret = a;
    return ERR_NONE;
}

enum err billing_account_set_customer(struct tx *tx, const struct id *account, struct str customer_id)
{
    return db_exec(tx->db, SQL(billing_account_set_customer, .id = account, .customer_id = customer_id), NULL);
}

enum err billing_account_set_subscription(struct tx *tx, const struct id *account, struct str subscription_id)
{
    return db_exec(tx->db, SQL(billing_account_set_subscription, .id = account, .subscription_id = subscription_id),
                   NULL);
}
