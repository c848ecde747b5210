/* No billing: accounts pay nothing. Each has one subscription, called by the account's ID, which is active with a unit
 * for each building, at the price 0. Nothing can be bought. Objects of other providers are out of reach: UNKNOWN, so
 * that an operation that began with another provider waits for it. */
#include <stdlib.h>

#include "base/mem.h"
#include "providers/billing.h"

struct no_billing {
    struct billing billing;
    const struct config *config;
    struct store *store;
};

static const struct config_plan *free_plan(const struct billing *b)
{
    const struct config *c = ((const struct no_billing *)b)->config;
    size_t i = CONFIG_PLANS - 1;
    while (i && strcmp(c->plans[i].id, c->billing_free_plan) != 0)
        i--;
    return &c->plans[i];
}

static enum outcome no_prices(struct billing *b, struct arena *a, struct billing_prices *ret)
{
    (void)a;
    const struct config_plan *plan = free_plan(b);
    *ret = (struct billing_prices){.count = 1};
    ret->items[0] = (struct billing_price){.plan = str_z(plan->id),
                                           .currency = str_z(plan->currency),
                                           .interval = str_z(plan->interval),
                                           .interval_count = plan->interval_count};
    return OUTCOME_DONE;
}

static enum outcome no_session_create(struct billing *b, const struct billing_session_request *request, struct arena *a,
                                      struct billing_session *ret)
{
    (void)b, (void)request, (void)a, (void)ret;
    return OUTCOME_REFUSED;
}

static enum outcome no_session(struct billing *b, struct str id, struct arena *a, struct billing_session *ret)
{
    (void)b, (void)id, (void)a, (void)ret;
    return OUTCOME_UNKNOWN;
}

static enum outcome no_portal(struct billing *b, struct str customer_id, struct str return_url, struct arena *a,
                              struct str *ret_url)
{
    (void)b, (void)customer_id, (void)return_url, (void)a, (void)ret_url;
    return OUTCOME_REFUSED;
}

static enum outcome no_customer_delete(struct billing *b, struct str customer_id, struct arena *a)
{
    (void)b, (void)customer_id, (void)a;
    return OUTCOME_UNKNOWN;
}

struct units {
    struct id account;
    int64_t count;
};

static enum err count_units(void *arg, struct db *db)
{
    struct units *u = arg;
    CURSOR c;
    enum err e = db_one(db, SQL(billing_units, .account_id = &u->account), &c);
    if (!e)
        u->count = row_billing_units(&c, NULL).buildings;
    return e;
}

static enum outcome no_subscription_get(struct billing *b, struct str id, struct arena *a,
                                        struct billing_subscription *ret)
{
    const struct config_plan *plan = free_plan(b);
    struct units u = {0};
    if (!id_parse(id, &u.account) || store_run(((const struct no_billing *)b)->store, STORE_READ, count_units, &u))
        return OUTCOME_UNKNOWN;
    *ret = (struct billing_subscription){.id = arena_str(a, id),
                                         .account_id = arena_str(a, id),
                                         .status = BILLING_ACTIVE,
                                         .plan = str_z(plan->id),
                                         .price_id = STR("none"),
                                         .currency = str_z(plan->currency),
                                         .interval = str_z(plan->interval),
                                         .quantity = u.count};
    return OUTCOME_DONE;
}

static enum outcome no_preview(struct billing *b, struct str subscription_id, int64_t quantity, int64_t proration_s,
                               struct arena *a, struct billing_preview *ret)
{
    (void)subscription_id, (void)quantity, (void)proration_s, (void)a;
    *ret = (struct billing_preview){.currency = str_z(free_plan(b)->currency)};
    return OUTCOME_DONE;
}

static enum outcome no_set_quantity(struct billing *b, struct str key, struct str subscription_id, int64_t quantity,
                                    int64_t proration_s, struct arena *a)
{
    struct id account;
    (void)b, (void)key, (void)quantity, (void)proration_s, (void)a;
    return id_parse(subscription_id, &account) ? OUTCOME_DONE : OUTCOME_UNKNOWN;
}

static void no_billing_free(struct billing *b)
{
    free(b);
}

static const struct billing_ops no_billing_ops = {
    .prices = no_prices,
    .session_create = no_session_create,
    .session_get = no_session,
    .session_expire = no_session,
    .portal = no_portal,
    .customer_delete = no_customer_delete,
    .subscription_get = no_subscription_get,
    .preview = no_preview,
    .set_quantity = no_set_quantity,
    .free = no_billing_free,
};

struct billing *no_billing_new(const struct config *c, struct store *store)
{
    struct no_billing *s = mem_new(struct no_billing);
    *s = (struct no_billing){.billing.ops = &no_billing_ops, .config = c, .store = store};
    return &s->billing;
}
