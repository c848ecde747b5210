#include "sandbox/routes.h"

#include "billing/billing_account.h"
#include "domain/work.h"
#include "providers/builtin_billing.h"
#include "sandbox/hosted.h"

#define PLAN_DEFAULT "weekly"

struct subscription_request {
    struct val email, status;
};
struct subscription_reply {
    struct val account_id, email, status, plan, virtual_number;
};

static const char *const events[] = {"active", "past_due", "canceled", NULL};
static const char *const statuses[] = {"none", "active", "past_due", NULL};

static const struct field request_fields[] = {
    FIELD(struct subscription_request, email, T_STRING, .flags = F_REQUIRED | F_TRIM | F_LOWER, .max = 254,
          .format = "email", .error = ERR_INVALID_EMAIL, .doc = "e-mail of the account"),
    FIELD(struct subscription_request, status, T_STRING, .flags = F_REQUIRED, .values = events,
          .doc = "active also provisions a number for each building without one"),
};
static const struct shape request_shape = SHAPE(struct subscription_request, "SandboxSubscription", request_fields);

static const struct field reply_fields[] = {
    FIELD(struct subscription_reply, account_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct subscription_reply, email, T_STRING, .flags = F_REQUIRED),
    FIELD(struct subscription_reply, status, T_STRING, .flags = F_REQUIRED, .values = statuses),
    FIELD(struct subscription_reply, plan, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
    FIELD(struct subscription_reply, virtual_number, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "number of the primary building"),
};
static const struct shape reply_shape = SHAPE(struct subscription_reply, "SandboxSubscriptionState", reply_fields);

/* ---- transactions ---- */

struct change {
    const struct subscription_request *body;
    struct str changed; /* the provider's subscription; STR_NONE: no event to send */
};

static enum billing_status status_asked_for(const struct subscription_request *body)
{
    if (str_eq(body->status.s, STR("active")))
        return BILLING_ACTIVE;
    return str_eq(body->status.s, STR("past_due")) ? BILLING_PAST_DUE : BILLING_CANCELED;
}

/* Changes the account's subscription as requested. Fails with ERR_NOT_FOUND if it has none. */
static enum err change_existing(struct tx *tx, struct str id, int64_t quantity, struct change *c)
{
    struct billing_subscription s;
    enum err e = id.p ? builtin_subscription_get(tx->db, id, tx->arena, &s) : ERR_NOT_FOUND;
    if (e)
        return e;
    s.status = status_asked_for(c->body);
    s.quantity = quantity;
    c->changed = s.id;
    return builtin_subscription_put(tx->db, &s);
}

static enum err make_new(struct tx *tx, const struct account *account, const struct billing_account *known,
                         struct change *c)
{
    const struct billing_subscription s = {
        .customer_id = known->customer_id,
        .account_id = id_str(&account->id),
        .status = status_asked_for(c->body),
        .plan = account->plan.p ? account->plan : STR(PLAN_DEFAULT),
        .quantity = known->building_count,
    };
    return builtin_subscription_create(tx->db, &s, account->email, tx->arena, &c->changed);
}

/* At the built-in provider. */
static enum err change_run(struct tx *tx, void *arg)
{
    struct change *c = arg;
    struct account account;
    struct billing_account known;
    struct id id;
    enum err e = account_find(tx, c->body->email.s, &id);
    if (!e)
        e = account_get(tx, &id, &account);
    if (!e)
        e = billing_account_get(tx, &id, &known);
    if (e)
        return e;
    c->changed = STR_NONE;
    e = change_existing(tx, known.subscription_id, known.building_count, c);
    if (e != ERR_NOT_FOUND)
        return e;
    bool nothing_to_end = status_asked_for(c->body) == BILLING_CANCELED && account.status == SUBSCRIPTION_NONE;
    return nothing_to_end ? ERR_NONE : make_new(tx, &account, &known, c);
}

struct state {
    struct str email;
    struct subscription_reply *reply;
};

static struct val primary_number(const struct building *buildings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (buildings[i].primary)
            return v_str(buildings[i].number);
    return v_null();
}

static enum err read_state(struct tx *tx, void *arg)
{
    struct state *state = arg;
    struct account *account = arena_new(tx->arena, struct account);
    const struct building *buildings;
    struct id id;
    size_t count;
    enum err e = account_find(tx, state->email, &id);
    if (!e)
        e = account_get(tx, &id, account);
    if (!e)
        e = building_list(tx, &id, &buildings, &count);
    if (e)
        return e;
    *state->reply = (struct subscription_reply){
        .account_id = v_str(id_str(&account->id)),
        .email = v_str(account->email),
        .status = v_str(str_z(subscription_status_text(account->status))),
        .plan = v_str(account->plan),
        .virtual_number = primary_number(buildings, count),
    };
    return ERR_NONE;
}

/* ---- the route ---- */

/* Replies with the new state of the account, after the numbers have been provisioned. */
static enum err post_subscription(struct request *q, struct reply *p)
{
    struct subscription_request *body = q->body;
    struct state state = {body->email.s, arena_new(q->tx.arena, struct subscription_reply)};
    struct change c = {.body = body};
    enum err e = work_write(&q->work, change_run, &c);
    if (e == ERR_ACCOUNT_NOT_FOUND)
        return tx_fail(&q->tx, e, "no account has that e-mail: sign in first");
    if (!e && c.changed.p)
        e = hosted_event(q, BILLING_OBJECT_SUBSCRIPTION, c.changed);
    if (e)
        return e;
    e = work_read(&q->work, read_state, &state);
    return e ? e : reply_ok(p, 200, &reply_shape, state.reply);
}

static const struct route rows[] = {
    ROUTE("setSandboxSubscription", POST, "/sandbox/subscriptions", .credential = CRED_LOOPBACK, .body = &request_shape,
          .body_error = ERR_BAD_REQUEST, .run = RUN_BLOCKING, .handler = post_subscription, .reply = &reply_shape,
          .doc = ROUTE_DOC("Sandbox", 200, "Change a subscription, like an event of the billing provider",
                           .description = "Replies when the numbers are provisioned.",
                           .body_example = "{\"email\": \"resident@example.com\", \"status\": \"active\"}",
                           .errors = ROUTE_ERRORS(ERR_ACCOUNT_NOT_FOUND))),
};
const struct route_set sandbox_subscriptions_routes = ROUTE_SET(rows);
