#include "domain/billing_account.h"

#include "domain/row.h"
#include "domain/subscription.h"

enum err billing_account_get(struct tx *tx, const struct id *account, struct billing_account *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(billing_account, .id = account), &c);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_ACCOUNT_NOT_FOUND : e;
    struct billing_account a = {
        .email = col_copy(&c, COL_BILLING_ACCOUNT_EMAIL, tx->arena),
        .customer_id = col_copy(&c, COL_BILLING_ACCOUNT_CUSTOMER_ID, tx->arena),
        .subscription_id = col_copy(&c, COL_BILLING_ACCOUNT_SUBSCRIPTION_ID, tx->arena),
        .plan = col_copy(&c, COL_BILLING_ACCOUNT_PLAN, tx->arena),
        .building_count = col_int(&c, COL_BILLING_ACCOUNT_BUILDINGS),
    };
    if (!str_eq(col_str(&c, COL_BILLING_ACCOUNT_SUBSCRIPTION_STATUS), STR("none")) &&
        !subscription_status_parse(col_str(&c, COL_BILLING_ACCOUNT_SUBSCRIPTION_STATUS), &a.status))
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
