#include "billing/billing.h"

#include "base/log.h"
#include "billing/billing_account.h"
#include "billing/checkout.h"
#include "billing/erasure.h"
#include "billing/subscription.h"

/* The account that has the subscription, else the one that its checkout named. Fails with ERR_ACCOUNT_NOT_FOUND. */
static enum err billing_owner(struct tx *tx, const struct billing_facts *facts, struct id *ret)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(billing_account_by_subscription, .subscription_id = facts->id), &c);
    if (!e)
        *ret = row_billing_account_by_subscription(&c, NULL).id;
    if (e == ERR_NOT_FOUND)
        e = id_parse(facts->account_id, ret) ? ERR_NONE : ERR_ACCOUNT_NOT_FOUND;
    return e;
}

enum err billing_known(struct tx *tx, struct str subscription_id)
{
    CURSOR c;
    return db_one(tx->db, SQL(billing_subscription_known, .subscription_id = subscription_id), &c);
}

/* The subscription has ended; the account may buy another one. */
static enum err apply_end(struct tx *tx, const struct id *account)
{
    enum err e = subscription_set(tx, account, SUBSCRIPTION_NONE, STR_NONE);
    return e ? e : billing_account_set_subscription(tx, account, STR_NONE);
}

static bool billing_unchanged(const struct billing_account *a, const struct billing_facts *facts)
{
    return a->status == facts->status && a->subscription_id.p && str_eq(a->subscription_id, facts->id) &&
           str_eq(a->customer_id, facts->customer_id) && (!facts->plan.p || str_eq(a->plan, facts->plan));
}

static enum err apply_state(struct tx *tx, const struct id *account, const struct billing_facts *facts)
{
    enum err e = subscription_set(tx, account, facts->status, facts->plan);
    if (!e)
        e = billing_account_set_customer(tx, account, facts->customer_id);
    return e ? e : billing_account_set_subscription(tx, account, facts->id);
}

static enum err billing_apply_to(struct tx *tx, const struct id *account, const struct billing_facts *facts, bool ended)
{
    struct billing_account a;
    enum err e = billing_account_get(tx, account, &a);
    if (!e && erasure_begun(account, a.email)) /* its job ends the subscription */
        return ERR_NONE;
    if (!e && ended)
        e = checkout_subscription_ended(tx, account, facts->id);
    if (e || facts->unpaid)
        return e;
    if (a.subscription_id.p && !str_eq(a.subscription_id, facts->id)) {
        if (!ended)
            log_error("billing subscription=%.*s account=%s ignored=the account has another subscription",
                      STR_ARG(facts->id), account->text);
        return ERR_NONE;
    }
    if (facts->untold && billing_unchanged(&a, facts))
        return ERR_NONE;
    return ended ? apply_end(tx, account) : apply_state(tx, account, facts);
}

enum err billing_apply(struct tx *tx, const struct billing_facts *facts, bool *ret_live)
{
    struct id account;
    const bool ended = facts->status == SUBSCRIPTION_NONE && !facts->unpaid;
    enum err e = billing_owner(tx, facts, &account);
    if (!e)
        e = billing_apply_to(tx, &account, facts, ended);
    if (e && e != ERR_ACCOUNT_NOT_FOUND)
        return e;
    if (e)
        log_warn("billing subscription=%.*s ignored=no such account", STR_ARG(facts->id));
    *ret_live = !e && !ended;
    return ERR_NONE;
}
