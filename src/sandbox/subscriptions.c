#include "sandbox/subscriptions.h"

#include "api/service.h"
#include "domain/subscription.h"
#include "domain/transact.h"
#include "jobs/queue.h"

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
          .format = "email", .error = ERR_INVALID_EMAIL, .doc = "of the account"),
    FIELD(struct subscription_request, status, T_STRING, .flags = F_REQUIRED, .values = events,
          .doc = "active also provisions a number for every building without one"),
};
static const struct shape request_shape = SHAPE(struct subscription_request, "SandboxSubscription", request_fields);

static const struct field reply_fields[] = {
    FIELD(struct subscription_reply, account_id, T_ID, .flags = F_REQUIRED),
    FIELD(struct subscription_reply, email, T_STRING, .flags = F_REQUIRED),
    FIELD(struct subscription_reply, status, T_STRING, .flags = F_REQUIRED, .values = statuses),
    FIELD(struct subscription_reply, plan, T_STRING, .flags = F_REQUIRED | F_NULLABLE),
    FIELD(struct subscription_reply, virtual_number, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "of the primary building"),
};
static const struct shape reply_shape = SHAPE(struct subscription_reply, "SandboxSubscriptionState", reply_fields);

/* ---- transactions ---- */

static enum err change(struct op *op, void *arg)
{
    const struct subscription_request *body = arg;
    enum subscription_status status;
    struct id account;
    if (!subscription_status_parse(body->status.s, &status))
        return ERR_BAD_REQUEST;
    enum err e = account_find(op, body->email.s, &account);
    return e ? e : subscription_set(op, &account, status, STR_NONE);
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

static enum err read_state(struct op *op, void *arg)
{
    struct state *state = arg;
    struct account *account = arena_new(op->arena, struct account);
    const struct building *buildings;
    struct id id;
    size_t count;
    enum err e = account_find(op, state->email, &id);
    if (!e)
        e = account_get(op, &id, account);
    if (!e)
        e = building_list(op, &id, &buildings, &count);
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

/* Answers when the numbers are provisioned: with what the account has become. */
static enum err set_subscription(struct request *q, struct reply *p)
{
    struct store *store = service_store(q->service);
    struct subscription_request *body = q->body;
    struct state state = {body->email.s, arena_new(q->op.arena, struct subscription_reply)};
    enum err e = op_transact(store, q->op.config, STORE_WRITE, q->op.arena, change, body, NULL);
    if (e == ERR_ACCOUNT_NOT_FOUND)
        return op_fail(&q->op, e, "no account has that e-mail: sign in first");
    if (e)
        return e;
    jobs_drain(service_jobs(q->service));
    e = op_transact(store, q->op.config, STORE_READ, q->op.arena, read_state, &state, NULL);
    return e ? e : reply_ok(q, p, 200, &reply_shape, state.reply);
}

static const struct route rows[] = {
    {.operation = "setSandboxSubscription",
     .summary = "The billing provider's event for a change of subscription",
     .description = "Answers once the numbers are provisioned.",
     .tag = "Sandbox",
     .method = HTTP_POST,
     .path = "/sandbox/subscriptions",
     .credential = CRED_LOOPBACK,
     .body = &request_shape,
     .body_error = ERR_BAD_REQUEST,
     .body_example = "{\"email\": \"resident@example.com\", \"status\": \"active\"}",
     .run = RUN_TASK,
     .handler = set_subscription,
     .status = 200,
     .reply = &reply_shape,
     .errors = ROUTE_ERRORS(ERR_ACCOUNT_NOT_FOUND)},
};
const struct route_set sandbox_subscriptions_routes = ROUTE_SET(rows);
