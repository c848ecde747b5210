#include "providers/builtin_billing.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "providers/fault.h"

struct builtin_billing {
    struct billing billing;
    const struct config *config;
    struct store *store;
};

static struct builtin_billing *builtin_of(struct billing *b)
{
    return (struct builtin_billing *)b;
}

/* ---- one call to the provider ---- */

/* One call: its arguments and its results. Each call uses the members that it needs. */
struct call {
    const char *name; /* by which a fault is ordered: "session_create" */
    struct arena *arena;
    struct str id, key;
    const struct billing_session_request *request;
    int64_t quantity;
    struct builtin_session session;
    struct billing_subscription subscription;
    struct str text;
    enum err result; /* the provider's answer; ERR_NOT_FOUND commits, too */
    enum store_mode mode;
    enum err (*run)(struct call *call, struct db *db);
};

static enum err builtin_call_run(void *arg, struct db *db)
{
    struct call *call = arg;
    call->result = call->run(call, db);
    return call->result == ERR_NOT_FOUND ? ERR_NONE : call->result;
}

/* An ordered fault takes effect before the provider acts, or ends the process after it. */
static enum outcome builtin_call(struct billing *b, struct call call, struct call *ret)
{
    enum fault fault = fault_take("billing", call.name);
    enum outcome o = fault_outcome(fault);
    if (o != OUTCOME_DONE)
        return o;
    *ret = call;
    if (store_run(builtin_of(b)->store, ret->mode, builtin_call_run, ret))
        return OUTCOME_UNKNOWN;
    fault_after(fault);
    return ret->result ? OUTCOME_REFUSED : OUTCOME_DONE;
}

static const struct config_plan *plan_of(const struct builtin_billing *s, struct str id)
{
    for (size_t i = 0; i < CONFIG_PLANS; i++)
        if (str_eq(id, str_z(s->config->plans[i].id)))
            return &s->config->plans[i];
    return NULL;
}

static bool on_sale(const struct config_plan *plan)
{
    return plan && plan->available && plan->amount_minor >= 0;
}

/* ---- prices ---- */

static enum outcome builtin_op_prices(struct billing *b, struct arena *a, struct billing_prices *ret)
{
    (void)a;
    enum fault fault = fault_take("billing", "prices");
    enum outcome o = fault_outcome(fault);
    if (o != OUTCOME_DONE)
        return o;
    fault_after(fault);
    *ret = (struct billing_prices){.count = CONFIG_PLANS};
    for (size_t i = 0; i < CONFIG_PLANS; i++) {
        const struct config_plan *plan = &builtin_of(b)->config->plans[i];
        ret->items[i] = (struct billing_price){
            .plan = str_z(plan->id),
            .available = on_sale(plan),
            .amount_minor = plan->amount_minor,
            .currency = str_z(plan->currency),
            .interval = str_z(plan->interval),
            .interval_count = plan->interval_count,
        };
    }
    return OUTCOME_DONE;
}

/* ---- sessions ---- */

static enum outcome session_call(struct billing *b, struct call call, struct billing_session *ret)
{
    struct call done;
    enum outcome o = builtin_call(b, call, &done);
    if (o == OUTCOME_DONE)
        *ret = done.session.session;
    return o;
}

static enum err create_session(struct call *call, struct db *db)
{
    return builtin_session_create(db, call->request, clock_now_us(), call->arena, &call->session);
}

static enum outcome builtin_op_session_create(struct billing *b, const struct billing_session_request *request,
                                              struct arena *a, struct billing_session *ret)
{
    if (!on_sale(plan_of(builtin_of(b), request->plan)))
        return OUTCOME_REFUSED;
    const struct call call = {
        .name = "session_create", .arena = a, .request = request, .mode = STORE_WRITE, .run = create_session};
    return session_call(b, call, ret);
}

static enum err get_session(struct call *call, struct db *db)
{
    return builtin_session_get(db, call->id, clock_now_us(), call->arena, &call->session);
}

static enum outcome builtin_op_session_get(struct billing *b, struct str id, struct arena *a,
                                           struct billing_session *ret)
{
    return session_call(b, (struct call){.name = "session_get", .arena = a, .id = id, .run = get_session}, ret);
}

static enum err expire_session(struct call *call, struct db *db)
{
    return builtin_session_expire(db, call->id, clock_now_us(), call->arena, &call->session);
}

static enum outcome builtin_op_session_expire(struct billing *b, struct str id, struct arena *a,
                                              struct billing_session *ret)
{
    const struct call call = {
        .name = "session_expire", .arena = a, .id = id, .mode = STORE_WRITE, .run = expire_session};
    return session_call(b, call, ret);
}

/* ---- the portal ---- */

static enum err get_customer(struct call *call, struct db *db)
{
    return builtin_customer_get(db, call->id, call->arena, &call->text);
}

static enum outcome builtin_op_portal(struct billing *b, struct str customer_id, struct str return_url, struct arena *a,
                                      struct str *ret_url)
{
    struct call call;
    enum outcome o =
        builtin_call(b, (struct call){.name = "portal", .arena = a, .id = customer_id, .run = get_customer}, &call);
    if (o == OUTCOME_DONE)
        *ret_url =
            arena_printf(a, "%.*s/sandbox/portal/%.*s", STR_ARG(builtin_page_base(return_url)), STR_ARG(customer_id));
    return o;
}

static enum err delete_customer(struct call *call, struct db *db)
{
    return builtin_customer_delete(db, call->id);
}

static enum outcome builtin_op_customer_delete(struct billing *b, struct str customer_id, struct arena *a)
{
    const struct call call = {
        .name = "customer_delete", .arena = a, .id = customer_id, .mode = STORE_WRITE, .run = delete_customer};
    struct call done;
    return builtin_call(b, call, &done);
}

/* ---- subscriptions ---- */

static enum err get_subscription(struct call *call, struct db *db)
{
    return builtin_subscription_get(db, call->id, call->arena, &call->subscription);
}

static void put_price(const struct builtin_billing *s, struct arena *a, struct billing_subscription *ret)
{
    const struct config_plan *plan = plan_of(s, ret->plan);
    if (!plan) {
        ret->plan = STR_NONE;
        return;
    }
    ret->price_id = arena_printf(a, "price_%s_%lld", plan->id, (long long)plan->amount_minor);
    ret->currency = str_z(plan->currency);
    ret->interval = str_z(plan->interval);
    ret->amount_minor = plan->amount_minor;
}

static enum outcome read_subscription(struct billing *b, const char *call_name, struct str id, struct arena *a,
                                      struct billing_subscription *ret)
{
    struct call call;
    enum outcome o =
        builtin_call(b, (struct call){.name = call_name, .arena = a, .id = id, .run = get_subscription}, &call);
    if (o != OUTCOME_DONE)
        return o;
    *ret = call.subscription;
    put_price(builtin_of(b), a, ret);
    return OUTCOME_DONE;
}

static enum outcome builtin_op_subscription_get(struct billing *b, struct str id, struct arena *a,
                                                struct billing_subscription *ret)
{
    return read_subscription(b, "subscription_get", id, a, ret);
}

/* An estimate: the price of all units for one interval, without proration. */
static enum outcome builtin_op_preview(struct billing *b, struct str subscription_id, int64_t quantity,
                                       int64_t proration_s, struct arena *a, struct billing_preview *ret)
{
    (void)proration_s;
    struct billing_subscription s;
    enum outcome o = read_subscription(b, "preview", subscription_id, a, &s);
    if (o != OUTCOME_DONE)
        return o;
    if (s.status == BILLING_CANCELED || s.amount_minor < 0)
        return OUTCOME_REFUSED;
    *ret = (struct billing_preview){.amount_due_minor = s.amount_minor * quantity, .currency = s.currency};
    return OUTCOME_DONE;
}

static enum err change_quantity(struct call *call, struct db *db)
{
    return builtin_subscription_set_quantity(db, call->key, call->id, call->quantity, call->arena);
}

static enum outcome builtin_op_set_quantity(struct billing *b, struct str key, struct str subscription_id,
                                            int64_t quantity, int64_t proration_s, struct arena *a)
{
    (void)proration_s;
    const struct call call = {.name = "set_quantity",
                              .arena = a,
                              .key = key,
                              .id = subscription_id,
                              .quantity = quantity,
                              .mode = STORE_WRITE,
                              .run = change_quantity};
    struct call done;
    return builtin_call(b, call, &done);
}

/* ---- life ---- */

static void builtin_billing_free(struct billing *b)
{
    free(b);
}

/* No .event: the routes under /sandbox report events without HTTP. */
static const struct billing_ops builtin_billing_ops = {
    .prices = builtin_op_prices,
    .session_create = builtin_op_session_create,
    .session_get = builtin_op_session_get,
    .session_expire = builtin_op_session_expire,
    .portal = builtin_op_portal,
    .customer_delete = builtin_op_customer_delete,
    .subscription_get = builtin_op_subscription_get,
    .preview = builtin_op_preview,
    .set_quantity = builtin_op_set_quantity,
    .free = builtin_billing_free,
};

struct billing *builtin_billing_new(const struct config *c, struct store *store)
{
    struct builtin_billing *s = mem_new(struct builtin_billing);
    *s = (struct builtin_billing){.billing.ops = &builtin_billing_ops, .config = c, .store = store};
    return &s->billing;
}
