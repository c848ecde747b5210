#include "resources/plan.h"

#include "api/parts.h"
#include "billing/plan.h"
#include "providers/providers.h"
#include "resources/earlier_account.h"
#include "resources/routes.h"

struct plan {
    struct val id, available, amount, currency, interval, interval_count, access;
};
static const char *const plan_ids[] = {"weekly", "yearly", NULL};
static const char *const access_types[] = {"timer", "passcode", "routine", NULL};
static const struct field plan_fields[] = {
    FIELD(struct plan, id, T_STRING, .flags = F_REQUIRED, .values = plan_ids),
    FIELD(struct plan, available, T_BOOL, .flags = F_REQUIRED),
    FIELD(struct plan, amount, T_INT, .flags = F_REQUIRED | F_NULLABLE, .doc = "minor currency units, per building"),
    FIELD(struct plan, currency, T_STRING, .flags = F_REQUIRED),
    FIELD(struct plan, interval, T_STRING),
    FIELD(struct plan, interval_count, T_INT),
    FIELD(struct plan, access, T_STRINGS, .flags = F_REQUIRED, .values = access_types,
          .doc = "grant types included in the plan"),
};
static const struct shape plan_shape = SHAPE(struct plan, "Plan", plan_fields);

struct plans {
    struct val data;
};
static const struct field plans_fields[] = {
    FIELD(struct plans, data, T_OBJECTS, .flags = F_REQUIRED, .sub = &plan_shape),
};
const struct shape plans_shape = SHAPE(struct plans, "Plans", plans_fields);

static struct val access_list(struct arena *a)
{
    struct val *list = arena_array(a, struct val, plan_access_count);
    for (size_t i = 0; i < plan_access_count; i++)
        list[i] = v_str(plan_access[i]);
    return v_list(list, plan_access_count);
}

/* A plan without a known price is not available. */
static struct plan plan_item(const struct config_plan *c, struct str name, const struct billing_price *price,
                             struct val access)
{
    struct plan item = {
        .id = v_str(name),
        .available = v_bool(price && price->available),
        .amount = price && price->amount_minor >= 0 ? v_int(price->amount_minor) : v_null(),
        .currency = v_str(price && price->currency.p ? price->currency : str_z(c->currency)),
        .access = access,
    };
    if (price && price->interval.p) {
        item.interval = v_str(price->interval);
        item.interval_count = v_int(price->interval_count);
    }
    return item;
}

enum err plan_list(struct request *q, struct reply *p)
{
    struct arena *a = q->tx.arena;
    struct plan *items = arena_array(a, struct plan, PLAN_COUNT);
    struct val access = access_list(a);
    struct billing_prices prices;
    if (!catalog_get(q->parts->providers->catalog, a, &prices))
        prices.count = 0;
    for (size_t i = 0; i < PLAN_COUNT; i++) {
        const struct config_plan *plan = &q->tx.config->plans[i];
        const struct str name = plan_name_of(q->route->handler_data, str_z(plan->id));
        items[i] = plan_item(plan, name, billing_price_of(&prices, str_z(plan->id)), access);
    }
    struct plans *r = arena_new(a, struct plans);
    r->data = v_list(items, PLAN_COUNT);
    return reply_ok(p, 200, &plans_shape, r);
}

static const struct route rows[] = {
    ROUTE("listPlans", GET, "/v1/plans", .credential = CRED_NONE, .limit = LIMIT_PLANS, .run = RUN_HERE,
          .handler = plan_list, .reply = &plans_shape, .flags = ROUTE_CACHEABLE | ROUTE_SITE,
          .doc = ROUTE_DOC("Billing", 200, "The available plans",
                           .description = "Amounts are in minor units of the currency. A plan that cannot be bought "
                                          "now is not `available` and may have no amount. Do not store prices.")),
    ROUTE("listBillingPlans", GET, "/v1/billing/plans", .credential = CRED_KEY, .scopes = SCOPE(BILLING_WRITE),
          .limit = LIMIT_KEY, .run = RUN_READ, .handler = plan_list, .reply = &plans_shape, .flags = ROUTE_SITE,
          .earlier = &earlier_account_rows[EARLIER_LIST_PLANS],
          .doc = ROUTE_DOC("Billing", 200, "The available plans, for a signed-in customer",
                           .description = "The same catalog as `GET /v1/plans`.")),
};
const struct route_set plan_routes = ROUTE_SET(rows);
