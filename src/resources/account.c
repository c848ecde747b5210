#include "resources/account.h"

#include "api/scopes.h"
#include "billing/plan.h"
#include "domain/account.h"
#include "domain/member.h"
#include "resources/earlier_account.h"
#include "resources/routes.h"

/* ---- body ---- */

struct subscription {
    struct val type, status;
};
static const char *const subscription_types[] = {"none", "weekly", "yearly", NULL};
static const char *const subscription_statuses[] = {"none", "active", "past_due", NULL};
static const struct field subscription_fields[] = {
    FIELD(struct subscription, type, T_STRING, .flags = F_REQUIRED, .values = subscription_types, .doc = "the plan"),
    FIELD(struct subscription, status, T_STRING, .flags = F_REQUIRED, .values = subscription_statuses,
          .doc = "past_due: the door still opens; none: calls are forwarded"),
};
static const struct shape subscription_shape = SHAPE(struct subscription, "Subscription", subscription_fields);

struct usage {
    struct val total_unlocks, active_routines, shared_users;
};
static const struct field usage_fields[] = {
    FIELD(struct usage, total_unlocks, T_INT, .flags = F_REQUIRED,
          .doc = "recorded unlock attempts, including failed ones; not a count of entries"),
    FIELD(struct usage, active_routines, T_INT, .flags = F_REQUIRED,
          .doc = "enabled rules of all types, whether or not in effect now"),
    FIELD(struct usage, shared_users, T_INT, .flags = F_REQUIRED, .doc = "users of the number, including the owner"),
};
static const struct shape usage_shape = SHAPE(struct usage, "Usage", usage_fields);

struct building_summary {
    struct val count, selection_required, list_command;
};
static const struct field building_summary_fields[] = {
    FIELD(struct building_summary, count, T_INT, .flags = F_REQUIRED),
    FIELD(struct building_summary, selection_required, T_BOOL, .flags = F_REQUIRED,
          .doc = "grants and logs need X-Service-Building-Id"),
    FIELD(struct building_summary, list_command, T_STRING, .flags = F_REQUIRED, .doc = "an HTTP request line"),
};
static const struct shape building_summary_shape =
    SHAPE(struct building_summary, "BuildingSummary", building_summary_fields);

struct capabilities {
    struct val multi_building, access_types, scopes;
};
static const char *const access_types[] = {"timer", "passcode", "routine", NULL};
static const struct field capabilities_fields[] = {
    FIELD(struct capabilities, multi_building, T_BOOL, .flags = F_REQUIRED,
          .doc = "true if linked buildings can be changed"),
    FIELD(struct capabilities, access_types, T_STRINGS, .flags = F_REQUIRED, .values = access_types,
          .doc = "grant types included in the plan"),
    FIELD(struct capabilities, scopes, T_STRINGS, .flags = F_REQUIRED, .doc = "scopes of the calling key"),
};
static const struct shape capabilities_shape = SHAPE(struct capabilities, "Capabilities", capabilities_fields);

struct readiness {
    struct val can_create_access, building_connection, physical_entry_verified;
};
static const char *const connections[] = {"not_provisioned", "previous_buzz_recorded", "unverified", NULL};
static const struct field readiness_fields[] = {
    FIELD(struct readiness, can_create_access, T_BOOL, .flags = F_REQUIRED, .doc = "a hint"),
    FIELD(struct readiness, building_connection, T_STRING, .flags = F_REQUIRED, .values = connections,
          .doc = "previous_buzz_recorded: a grant has released the door before"),
    FIELD(struct readiness, physical_entry_verified, T_BOOL, .flags = F_REQUIRED | F_CONST | F_FALSE,
          .doc = "always false: no record proves that a person entered"),
};
static const struct shape readiness_shape = SHAPE(struct readiness, "Readiness", readiness_fields);

struct next_action {
    struct val command, reason;
};
static const struct field next_action_fields[] = {
    FIELD(struct next_action, command, T_STRING, .flags = F_REQUIRED,
          .doc = "an HTTP request line; prefixed with `ask the resident: ` or `ask the building manager: ` if this key "
                 "cannot send it"),
    FIELD(struct next_action, reason, T_STRING, .flags = F_REQUIRED),
};
static const struct shape next_action_shape = SHAPE(struct next_action, "NextAction", next_action_fields);

struct account_body {
    struct val id, email, virtual_number, subscription, usage, created_at, buildings, capabilities, readiness,
        next_actions;
};
#define OBJECT(member, shape) FIELD(struct account_body, member, T_OBJECT, .flags = F_REQUIRED, .sub = &(shape))
static const struct field account_fields[] = {
    FIELD(struct account_body, id, T_ID, .flags = F_REQUIRED),
    FIELD(struct account_body, email, T_STRING, .flags = F_REQUIRED),
    FIELD(struct account_body, virtual_number, T_STRING, .flags = F_REQUIRED | F_NULLABLE,
          .doc = "number that the call box dials"),
    OBJECT(subscription, subscription_shape),
    OBJECT(usage, usage_shape),
    FIELD(struct account_body, created_at, T_TIME, .flags = F_REQUIRED),
    OBJECT(buildings, building_summary_shape),
    OBJECT(capabilities, capabilities_shape),
    OBJECT(readiness, readiness_shape),
    FIELD(struct account_body, next_actions, T_OBJECTS, .flags = F_REQUIRED, .sub = &next_action_shape),
};
const struct shape account_shape = SHAPE(struct account_body, "Account", account_fields);

/* ---- next actions ---- */

#define ACTIONS_MAX 8

struct actions {
    const struct principal *who;
    struct arena *arena;
    struct next_action items[ACTIONS_MAX];
    size_t count;
};

static void list_action(struct actions *a, struct str command, struct str reason)
{
    if (a->count < ACTIONS_MAX)
        a->items[a->count++] = (struct next_action){.command = v_str(command), .reason = v_str(reason)};
}

static bool may(const struct actions *a, uint32_t scopes)
{
    return (a->who->scopes & scopes) == scopes;
}

/* listed only for keys that can do it */
static void suggest(struct actions *a, uint32_t scopes, struct str command, const char *reason)
{
    if (may(a, scopes))
        list_action(a, command, str_z(reason));
}

/* The door does not open without it. A key that cannot do it is told whom to ask. */
static void need(struct actions *a, const char *other, bool can, struct str command, struct str reason)
{
    list_action(a, can ? command : arena_printf(a->arena, "ask the %s: %.*s", other, STR_ARG(command)), reason);
}

/* Linked buildings can be changed only with an active subscription. */
static bool may_change(const struct account_view *v)
{
    return v->building.primary || v->account.status == SUBSCRIPTION_ACTIVE;
}

/* Every remaining step, in order, including steps that must wait for the subscription's number. */
static void add_missing(struct actions *a, const struct account_view *v)
{
    const struct ready facts = account_ready(&v->account, &v->building);
    struct ready_step steps[READY_PARTS];
    const size_t count = ready_steps(&facts, &v->building.id, a->arena, steps);
    const bool billing = may(a, SCOPE(BILLING_WRITE)) && !id_given(&a->who->building_id); /* only for parent keys */
    const bool can[READY_PARTS] = {
        [READY_SUBSCRIPTION] = billing,
        [READY_NUMBER] = true,
        [READY_TONE] = may(a, SCOPE(SETUP_WRITE)) && may_change(v),
    };
    const bool visits = principal_visits(a->who); /* and is not told of billing */
    if (v->account.status == SUBSCRIPTION_PAST_DUE && !visits)
        need(a, "resident", billing, STR("POST /v1/billing/portal"),
             STR("The last payment failed: update the payment method."));
    for (const struct ready_step *s = steps; s < steps + count; s++)
        if (!visits || s->part != READY_SUBSCRIPTION)
            need(a, s->part == READY_CALL_BOX ? "building manager" : "resident", can[s->part], s->request, s->sentence);
}

static void suggest_phone(struct actions *a, const struct account_view *v)
{
    if (v->building.number.p && !v->account.phone.p && a->who->web_session && v->account.status == SUBSCRIPTION_ACTIVE)
        suggest(a, SCOPE(ACCOUNT_READ) | SCOPE(KEYS_WRITE), STR("POST /v1/account/phone/verification"),
                "Verify the phone to which calls are forwarded.");
}

static struct val next_actions(struct request *q, const struct account_view *v)
{
    struct actions *a = arena_new(q->tx.arena, struct actions);
    a->who = &q->who;
    a->arena = q->tx.arena;
    if (v->selection_required)
        suggest(a, SCOPE(ACCOUNT_READ), STR("GET /v1/buildings"),
                "Choose a building and send its id as X-Service-Building-Id.");
    add_missing(a, v);
    suggest_phone(a, v);
    if (v->active_grants > 0)
        suggest(a, SCOPE(LOGS_READ), STR("GET /v1/logs"), "See who came to the door.");
    else
        need(a, "resident", may(a, SCOPE(ACCESS_WRITE)) && may_change(v), STR("POST /v1/unlock"),
             STR("No grant is enabled: create one."));
    return v_list(a->items, a->count);
}

/* ---- handler ---- */

static struct val subscription_of(struct request *q, const struct account *account)
{
    struct subscription *s = arena_new(q->tx.arena, struct subscription);
    s->type = principal_visits(&q->who)
                  ? v_str(STR("none"))
                  : v_str(plan_type_of(q->route->handler_data, account->plan, q->who.building_count > 1));
    s->status = v_str(str_z(subscription_status_text(account->status)));
    return v_object(s);
}

static struct val usage_of(struct arena *a, const struct account_view *v)
{
    struct usage *u = arena_new(a, struct usage);
    u->total_unlocks = v_int(v->total_unlocks);
    u->active_routines = v_int(v->active_grants);
    u->shared_users = v_int(v->shared_users);
    return v_object(u);
}

static struct val buildings_of(struct arena *a, const struct account_view *v)
{
    struct building_summary *b = arena_new(a, struct building_summary);
    b->count = v_int(v->building_count);
    b->selection_required = v_bool(v->selection_required);
    b->list_command = v_str(STR("GET /v1/buildings"));
    return v_object(b);
}

static struct val capabilities_of(struct request *q, const struct account_view *v)
{
    struct arena *a = q->tx.arena;
    struct capabilities *c = arena_new(a, struct capabilities);
    struct val *types = arena_array(a, struct val, plan_access_count);
    for (size_t i = 0; i < plan_access_count; i++)
        types[i] = v_str(plan_access[i]);
    c->multi_building = v_bool(v->account.status == SUBSCRIPTION_ACTIVE);
    c->access_types = v_list(types, plan_access_count);
    c->scopes = scope_list(a, q->who.scopes);
    return v_object(c);
}

static struct val readiness_of(struct request *q, const struct account_view *v)
{
    const struct ready facts = account_ready(&v->account, &v->building);
    const unsigned lacks = ready_lacks(&facts);
    struct readiness *r = arena_new(q->tx.arena, struct readiness);
    bool may_write = q->who.scopes & SCOPE(ACCESS_WRITE);
    r->can_create_access = v_bool(may_write && may_change(v));
    r->building_connection = v_str(lacks & READY_BIT(NUMBER)     ? STR("not_provisioned")
                                   : lacks & READY_BIT(CALL_BOX) ? STR("unverified")
                                                                 : STR("previous_buzz_recorded"));
    r->physical_entry_verified = v_bool(false);
    return v_object(r);
}

/* A person sees the address and the date of their own, not the owner's. */
static enum err put_person(struct request *q, struct account *account)
{
    struct member m;
    if (!principal_visits(&q->who))
        return ERR_NONE;
    enum err e = member_get(&q->tx, &q->who.member_id, &m);
    if (e)
        return e == ERR_NOT_FOUND ? ERR_INVALID_KEY : e;
    account->email = m.email;
    account->created_us = m.created_us;
    return ERR_NONE;
}

enum err account_show(struct request *q, struct reply *p)
{
    struct arena *a = q->tx.arena;
    struct account_view v;
    enum err e = account_view(&q->tx, &q->who, &v);
    if (!e)
        e = put_person(q, &v.account);
    if (e)
        return e;
    struct account_body *r = arena_new(a, struct account_body);
    r->id = v_str(id_str(&q->who.account_id));
    r->email = v_str(v.account.email);
    r->virtual_number = v_str(v.building.number);
    r->subscription = subscription_of(q, &v.account);
    r->usage = usage_of(a, &v);
    r->created_at = v_time(v.account.created_us);
    r->buildings = buildings_of(a, &v);
    r->capabilities = capabilities_of(q, &v);
    r->readiness = readiness_of(q, &v);
    r->next_actions = next_actions(q, &v);
    return reply_ok(p, 200, &account_shape, r);
}

static const struct route rows[] = {
    ROUTE("getAccount", GET, "/v1/account", .credential = CRED_KEY, .people = PEOPLE_ALL, .scopes = SCOPE(ACCOUNT_READ),
          .limit = LIMIT_KEY, .run = RUN_READ, .handler = account_show, .reply = &account_shape, .flags = ROUTE_SITE,
          .store_error = ERR_FETCH_FAILED, .earlier = &earlier_account_rows[EARLIER_GET_ACCOUNT],
          .doc =
              ROUTE_DOC("Account", 200, "The account and its next actions",
                        .description = "Start here. `capabilities` and `readiness` show the current abilities of the "
                                       "key. `next_actions` lists the remaining steps until the door opens, and the "
                                       "person who can do each. If `buildings.selection_required` is true, requests "
                                       "must name a building. A key bound to one building sees only that building.",
                        .errors = ROUTE_ERRORS(ERR_ACCOUNT_NOT_FOUND))),
};
const struct route_set account_routes = ROUTE_SET(rows);
