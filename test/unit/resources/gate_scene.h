/* For tests of the gate: the contract's access rules as a table, accounts with a key of every kind, and requests that
 * go through all checks without a server.
 *
 * The table is written from the access column of the contract's Endpoints and from docs/behaviour. It must not be
 * derived from the route rows: a row that grants too much has to differ from it. */
#pragma once
#include "domain/building_fixture.h"

#include "api/gate.h"
#include "api/router.h"
#include "base/unit.h"
#include "domain/key.h"
#include "resources/routes.h"

/* ---- the contract ---- */

enum access { PUBLIC, ANY_KEY, WEBSITE };
enum building { IGNORED, SELECTED, IN_PATH, FORBIDDEN };
enum limit { UNLIMITED, PER_KEY, PER_IP_PLANS, PER_IP_AUTH, PER_IP_OTP };
enum needs {
    IDEMPOTENCY = 1,
    IDEMPOTENCY_IF_SENT = 2,
    GRANT_VERSION = 4,
    SETTINGS_VERSION = 8,
    BODY = 16,
    EARLIER = 32,    /* of accounts of the earlier revision alone */
    REPLACED = 64,   /* in them, by a row with the same path */
    REPLACES = 128,  /* such a row */
    SUBSCRIBED = 256 /* needs an active subscription */
};

struct contract {
    enum http_method method;
    const char *path; /* {id} and {deliveryId}: IDs; {building}: the building's; {session}: any text */
    enum access access;
    const char *scopes; /* all of them, comma-separated */
    enum err child;     /* refusal of a key that is bound to one building; ERR_NONE: allowed */
    enum err member;    /* refusal of an invited member's key */
    enum building building;
    enum limit limit;
    unsigned needs;
    unsigned people; /* members whose website sessions are admitted */
};

/* by their roles */
#define ALONE     0u /* the owner */
#define RESIDENTS 1u
#define ALL       3u

#define BILLING  ERR_PARENT_BILLING_REQUIRED
#define BUILDING ERR_PARENT_BUILDING_KEY_REQUIRED
#define OWNER    ERR_OWNER_KEY_REQUIRED
#define MEMBERS  "account:read,access:read,access:write,logs:read" /* scopes of their keys */
#define BUILDS   "account:read,buildings:write"
#define PHONES   "account:read,keys:write"
#define HOOKS    "webhooks:write"
#define INSTEAD  (EARLIER | REPLACES | SUBSCRIBED)

static const struct contract contract[] = {
    {HTTP_GET, "/v1/health", PUBLIC, "", 0, 0, IGNORED, UNLIMITED, 0, ALL},
    {HTTP_GET, "/v1/openapi.json", PUBLIC, "", 0, 0, IGNORED, UNLIMITED, 0, ALL},
    {HTTP_GET, "/v1/plans", PUBLIC, "", 0, 0, IGNORED, PER_IP_PLANS, 0, ALL},
    {HTTP_POST, "/v1/auth/otp", PUBLIC, "", 0, 0, IGNORED, PER_IP_OTP, BODY, ALL},
    {HTTP_POST, "/v1/auth/verify", PUBLIC, "", 0, 0, IGNORED, PER_IP_AUTH, BODY, ALL},
    {HTTP_DELETE, "/v1/auth/key", ANY_KEY, "", 0, 0, IGNORED, PER_IP_AUTH, 0, ALL},
    {HTTP_POST, "/v1/auth/keys", WEBSITE, "keys:write", 0, 0, IGNORED, PER_IP_AUTH, BODY, ALONE},
    {HTTP_GET, "/v1/auth/keys", WEBSITE, "keys:write", 0, 0, IGNORED, PER_IP_AUTH, 0, ALONE},
    {HTTP_DELETE, "/v1/auth/keys/{id}", WEBSITE, "keys:write", 0, 0, IGNORED, PER_IP_AUTH, 0, ALONE},
    {HTTP_POST, "/v1/auth/keys/revoke-others", WEBSITE, "keys:write", 0, 0, IGNORED, PER_IP_AUTH, 0, ALONE},
    {HTTP_GET, "/v1/account", ANY_KEY, "account:read", 0, 0, IGNORED, PER_KEY, 0, ALL},
    {HTTP_GET, "/v1/account/phone", WEBSITE, PHONES, 0, 0, IGNORED, PER_KEY, 0, ALONE},
    {HTTP_POST, "/v1/account/phone/verification", WEBSITE, PHONES, 0, 0, IGNORED, PER_KEY, BODY, ALONE},
    {HTTP_POST, "/v1/account/phone/confirmation", WEBSITE, PHONES, 0, 0, IGNORED, PER_KEY, BODY, ALONE},
    {HTTP_GET, "/v1/billing/plans", ANY_KEY, "billing:write", 0, 0, IGNORED, PER_KEY, 0, ALONE},
    {HTTP_GET, "/v1/billing/checkout", ANY_KEY, "billing:write", 0, 0, IGNORED, PER_KEY, 0, ALONE},
    {HTTP_POST, "/v1/billing/checkout", ANY_KEY, "billing:write", BILLING, BILLING, IGNORED, PER_KEY,
     IDEMPOTENCY | BODY, ALONE},
    {HTTP_POST, "/v1/billing/checkout/{session}/expire", ANY_KEY, "billing:write", 0, 0, IGNORED, PER_KEY, 0, ALONE},
    {HTTP_POST, "/v1/billing/portal", ANY_KEY, "billing:write", BILLING, BILLING, IGNORED, PER_KEY, 0, ALONE},
    {HTTP_GET, "/v1/buildings", ANY_KEY, "account:read", 0, 0, IGNORED, PER_KEY, 0, ALL},
    {HTTP_POST, "/v1/buildings/preview", ANY_KEY, BUILDS, BUILDING, BUILDING, FORBIDDEN, PER_KEY, BODY, ALONE},
    {HTTP_POST, "/v1/buildings", ANY_KEY, BUILDS, BUILDING, BUILDING, FORBIDDEN, PER_KEY, IDEMPOTENCY | BODY, ALONE},
    {HTTP_DELETE, "/v1/buildings/{id}", ANY_KEY, BUILDS, BUILDING, BUILDING, FORBIDDEN, PER_KEY, IDEMPOTENCY | BODY,
     ALONE},
    {HTTP_GET, "/v1/buildings/operations/{id}", ANY_KEY, BUILDS, BUILDING, BUILDING, FORBIDDEN, PER_KEY, 0, ALONE},
    {HTTP_GET, "/v1/buildings/{building}/setup", ANY_KEY, "account:read", 0, 0, IN_PATH, PER_KEY, 0, ALL},
    {HTTP_GET, "/v1/buildings/{building}/settings", ANY_KEY, "account:read", 0, 0, IN_PATH, PER_KEY, 0, ALL},
    {HTTP_PATCH, "/v1/buildings/{building}/settings", ANY_KEY, "setup:write", 0, ERR_NUMBER_OWNER_REQUIRED, IN_PATH,
     PER_KEY, SETTINGS_VERSION | BODY, ALONE},
    {HTTP_POST, "/v1/unlock", ANY_KEY, "access:write", 0, 0, SELECTED, PER_KEY, IDEMPOTENCY | BODY, ALL},
    {HTTP_GET, "/v1/unlock", ANY_KEY, "access:read", 0, 0, SELECTED, PER_KEY, 0, ALL},
    {HTTP_GET, "/v1/unlock/{id}", ANY_KEY, "access:read", 0, 0, SELECTED, PER_KEY, 0, ALL},
    {HTTP_PATCH, "/v1/unlock/{id}", ANY_KEY, "access:write", 0, 0, SELECTED, PER_KEY, GRANT_VERSION | BODY, ALL},
    {HTTP_DELETE, "/v1/unlock/{id}", ANY_KEY, "access:write", 0, 0, SELECTED, PER_KEY, 0, ALL},
    {HTTP_GET, "/v1/logs", ANY_KEY, "logs:read", 0, 0, SELECTED, PER_KEY, 0, ALL},
    {HTTP_GET, "/v1/visits", ANY_KEY, "logs:read", 0, 0, SELECTED, PER_KEY, 0, ALL},
    {HTTP_POST, "/v1/webhooks", ANY_KEY, "access:write", OWNER, OWNER, IGNORED, PER_KEY,
     IDEMPOTENCY_IF_SENT | BODY | REPLACED, ALONE},
    {HTTP_GET, "/v1/webhooks", ANY_KEY, "access:read", OWNER, OWNER, IGNORED, PER_KEY, REPLACED, ALONE},
    {HTTP_DELETE, "/v1/webhooks/{id}", ANY_KEY, "access:write", OWNER, OWNER, IGNORED, PER_KEY, REPLACED, ALONE},
    {HTTP_POST, "/v1/webhooks/{id}/test", ANY_KEY, "access:write", OWNER, OWNER, IGNORED, PER_KEY, REPLACED, ALONE},
    /* beyond the contract */
    {HTTP_PATCH, "/v1/webhooks/{id}", ANY_KEY, "access:write", OWNER, OWNER, IGNORED, PER_KEY, BODY | REPLACED, ALONE},
    {HTTP_POST, "/v1/webhooks/{id}/secret", ANY_KEY, "access:write", OWNER, OWNER, IGNORED, PER_KEY,
     IDEMPOTENCY_IF_SENT, ALONE},
    {HTTP_GET, "/v1/webhooks/{id}/deliveries", ANY_KEY, "access:read", OWNER, OWNER, IGNORED, PER_KEY, 0, ALONE},
    {HTTP_POST, "/v1/webhooks/{id}/deliveries/{deliveryId}/replay", ANY_KEY, "access:write", OWNER, OWNER, IGNORED,
     PER_KEY, 0, ALONE},
    {HTTP_GET, "/v1/buildings/{building}/events", ANY_KEY, "logs:read", 0, 0, IN_PATH, PER_KEY, 0, ALL},
    {HTTP_GET, "/v1/calls", ANY_KEY, "logs:read", 0, 0, SELECTED, PER_KEY, 0, ALL},
    {HTTP_GET, "/v1/calls/{id}", ANY_KEY, "logs:read", 0, 0, SELECTED, PER_KEY, 0, ALL},
    {HTTP_GET, "/v1/calls/{id}/message", ANY_KEY, "logs:read", 0, 0, SELECTED, PER_KEY, 0, ALL},
    {HTTP_POST, "/v1/calls/{id}/open", ANY_KEY, "access:write", 0, 0, SELECTED, PER_KEY, 0, RESIDENTS},
    {HTTP_POST, "/v1/calls/{id}/listen", ANY_KEY, "calls:listen", 0, 0, SELECTED, PER_KEY, BODY, RESIDENTS},
    {HTTP_POST, "/v1/calls/{id}/answer", ANY_KEY, "access:write,calls:listen", 0, 0, SELECTED, PER_KEY, BODY,
     RESIDENTS},
    {HTTP_DELETE, "/v1/calls/{id}/listeners/{listenerId}", ANY_KEY, "calls:listen", 0, 0, SELECTED, PER_KEY, 0,
     RESIDENTS},
    {HTTP_GET, "/v1/buildings/{building}/decision", ANY_KEY, "access:read,logs:read", 0, 0, IN_PATH, PER_KEY, 0, ALL},
    {HTTP_POST, "/v1/buildings/{building}/greetings/preview", ANY_KEY, "account:read", 0, 0, IN_PATH, PER_KEY, BODY,
     ALONE},
    {HTTP_POST, "/v1/passes", ANY_KEY, "access:write", 0, 0, SELECTED, PER_KEY, IDEMPOTENCY | BODY, ALL},
    {HTTP_GET, "/v1/passes", ANY_KEY, "access:read", 0, 0, SELECTED, PER_KEY, 0, ALL},
    {HTTP_GET, "/v1/passes/{id}", ANY_KEY, "access:read", 0, 0, SELECTED, PER_KEY, 0, ALL},
    {HTTP_PATCH, "/v1/passes/{id}", ANY_KEY, "access:write", 0, 0, SELECTED, PER_KEY, GRANT_VERSION | BODY, ALL},
    {HTTP_DELETE, "/v1/passes/{id}", ANY_KEY, "access:write", 0, 0, SELECTED, PER_KEY, 0, ALL},
    {HTTP_POST, "/v1/unlock/{id}/link", ANY_KEY, "access:write", 0, 0, SELECTED, PER_KEY, BODY, ALL},
    {HTTP_GET, "/v1/unlock/{id}/link", ANY_KEY, "access:read", 0, 0, SELECTED, PER_KEY, 0, ALL},
    {HTTP_DELETE, "/v1/unlock/{id}/link", ANY_KEY, "access:write", 0, 0, SELECTED, PER_KEY, 0, ALL},
    {HTTP_GET, "/openapi.json", PUBLIC, "", 0, 0, IGNORED, UNLIMITED, 0, ALL},
    {HTTP_GET, "/docs/agents", PUBLIC, "", 0, 0, IGNORED, UNLIMITED, 0, ALL},
    /* for accounts of the earlier revision alone */
    {HTTP_GET, "/v1/setup", ANY_KEY, "account:read", 0, 0, SELECTED, PER_KEY, EARLIER, ALONE},
    {HTTP_PATCH, "/v1/setup", ANY_KEY, "setup:write", 0, ERR_NUMBER_OWNER_REQUIRED, SELECTED, PER_KEY, EARLIER | BODY,
     ALONE},
    {HTTP_POST, "/v1/webhooks", ANY_KEY, HOOKS, 0, OWNER, SELECTED, PER_KEY, INSTEAD | IDEMPOTENCY_IF_SENT | BODY,
     ALONE},
    {HTTP_GET, "/v1/webhooks", ANY_KEY, HOOKS, 0, OWNER, SELECTED, PER_KEY, INSTEAD, ALONE},
    {HTTP_PATCH, "/v1/webhooks/{id}", ANY_KEY, HOOKS, 0, OWNER, SELECTED, PER_KEY, INSTEAD | BODY, ALONE},
    {HTTP_DELETE, "/v1/webhooks/{id}", ANY_KEY, HOOKS, 0, OWNER, SELECTED, PER_KEY, INSTEAD, ALONE},
    {HTTP_POST, "/v1/webhooks/{id}/test", ANY_KEY, HOOKS, 0, OWNER, SELECTED, PER_KEY, INSTEAD, ALONE},
};

static inline uint32_t scope_bits(const char *texts)
{
    uint32_t bits = 0;
    for (unsigned bit = 0; bit < SCOPE_COUNT; bit++)
        if (strstr(texts, scope_text(bit)))
            bits |= 1u << bit;
    return bits;
}

/* ---- accounts and their keys ---- */

#define ALL_SCOPES (((1u << SCOPE_COUNT) - 1) & ~SCOPE(OWNER)) /* without the mark of the earlier revision */

enum holder {
    NOBODY,    /* no Authorization header */
    MALFORMED, /* another scheme */
    TWICE,     /* the header twice */
    UNKNOWN,   /* a key that was never issued */
    REVOKED,
    EXPIRED,
    GONE,     /* a key whose account was deleted */
    SESSION,  /* a website session of an account with one building */
    AGENT,    /* an agent key of the same account, every scope */
    UNSCOPED, /* an agent key without any scope */
    CHILD,    /* bound to a linked building, every scope */
    MEMBER,   /* an invited member's, every scope */
    RESIDENT, /* website sessions of that member, by its role (ACCOUNT-9) */
    MANAGER,
    FREE,   /* an agent key of an account without a subscription */
    PARENT, /* an agent key of an account with a linked building */
    HOLDERS
};
static const char *const method_names[] = {
    [HTTP_GET] = "GET", [HTTP_POST] = "POST", [HTTP_PATCH] = "PATCH", [HTTP_DELETE] = "DELETE"};

static const char *const holder_names[] = {"nobody",   "malformed", "twice", "unknown",  "revoked", "expired",
                                           "gone",     "session",   "agent", "unscoped", "child",   "member",
                                           "resident", "manager",   "free",  "parent"};

struct scene {
    struct building_fixture *fixture; /* its account has one building */
    struct gate gate;
    struct router *router;
    struct id parent, primary, linked; /* the account with two buildings */
    struct id free, free_building;
    char keys[HOLDERS][KEY_TEXT_MAX];
    char lacking[2][SCOPE_COUNT]
                [KEY_TEXT_MAX]; /* agent keys and website sessions that were stored without that scope */
    unsigned failures;
};

static inline void sql(struct building_fixture *h, const char *format, const char *a, const char *b)
{
    char text[400];
    snprintf(text, sizeof text, format, a, b);
    fixture_sql(h, text);
}

static inline struct id add_account(struct building_fixture *h, const char *email, struct id *ret_building)
{
    struct id account = id_new(h->now_us);
    *ret_building = id_new(h->now_us);
    sql(h,
        "INSERT INTO account (id, email, created_at, plan, subscription_status) VALUES ('%s', '%s', 0, NULL, 'none')",
        account.text, email);
    sql(h,
        "INSERT INTO building (account_id, id, created_at, is_primary, label, greeting_granted) "
        "VALUES ('%s', '%s', 0, 1, 'Home', '')",
        account.text, ret_building->text);
    return account;
}

struct issue {
    struct key_options options;
    char *text;
    struct id id;
};

static inline enum err issue_run(struct tx *tx, void *arg)
{
    struct issue *i = arg;
    struct key_issued issued;
    enum err e = key_issue(tx, &i->options, &issued);
    if (e)
        return e;
    memcpy(i->text, issued.text, sizeof issued.text);
    i->id = issued.id;
    return ERR_NONE;
}

/* A key whose text goes to `text`. */
static inline struct id issue(struct scene *s, char *text, struct key_options options)
{
    struct issue i = {.options = options, .text = text};
    i.options.name = STR("key");
    if (!i.options.ttl_s)
        i.options.ttl_s = 86400;
    assert_int_equal(fixture_run(s->fixture, STORE_WRITE, issue_run, &i), ERR_NONE);
    return i.id;
}

static inline void issue_keys(struct scene *s)
{
    struct building_fixture *h = s->fixture;
    struct id gone_building, gone = add_account(h, "gone@example.com", &gone_building);
    struct key_options own = {.kind = KEY_AGENT, .account_id = h->account, .scopes = ALL_SCOPES}, o = own;
    struct id revoked = issue(s, s->keys[REVOKED], own);
    issue(s, s->keys[AGENT], own);
    o.ttl_s = 1;
    issue(s, s->keys[EXPIRED], o);
    o = own, o.scopes = 0;
    issue(s, s->keys[UNSCOPED], o);
    o = own, o.kind = KEY_WEB_SESSION;
    issue(s, s->keys[SESSION], o);
    o = own, o.building_id = h->building, o.member_id = id_new(h->now_us);
    issue(s, s->keys[MEMBER], o);
    o.kind = KEY_WEB_SESSION, o.scopes = scope_bits(MEMBERS);
    issue(s, s->keys[MANAGER], o);
    o.scopes = scope_bits(MEMBERS ",calls:listen");
    issue(s, s->keys[RESIDENT], o);
    o = own, o.account_id = gone;
    issue(s, s->keys[GONE], o);
    o.account_id = s->free;
    issue(s, s->keys[FREE], o);
    o.account_id = s->parent;
    issue(s, s->keys[PARENT], o);
    o.building_id = s->linked;
    issue(s, s->keys[CHILD], o);
    for (unsigned bit = 0; bit < SCOPE_COUNT; bit++) {
        o = own, o.scopes = ALL_SCOPES & ~(1u << bit);
        issue(s, s->lacking[0][bit], o);
        o.kind = KEY_WEB_SESSION;
        issue(s, s->lacking[1][bit], o);
    }
    sql(h, "UPDATE api_key SET revoked_at = 1 WHERE id = '%s'%s", revoked.text, "");
    sql(h, "DELETE FROM account WHERE id = '%s'%s", gone.text, "");
    sql(h, "DELETE FROM building WHERE id = '%s'%s", gone_building.text, "");
    snprintf(s->keys[UNKNOWN], KEY_TEXT_MAX, "svc_agent_%043d", 7);
    h->now_us += 2 * US_PER_S; /* EXPIRED has expired */
}

static inline void choose_revision(struct scene *s, bool earlier)
{
    sql(s->fixture, "UPDATE account SET earlier_revision = %s%s", earlier ? "1" : "0", "");
}

static inline struct router *make_router(void)
{
    const struct route_set *sets[100];
    assert_true(api_set_count < COUNT(sets));
    memcpy(sets, api_sets, api_set_count * sizeof *sets);
    sets[api_set_count] = &earlier_routes;
    return router_new(sets, api_set_count + 1);
}

static inline int scene_open(void **state)
{
    if (fixture_open(state))
        return -1;
    struct building_fixture *h = *state;
    struct scene *s = calloc(1, sizeof *s);
    if (!s)
        return -1;
    s->fixture = h;
    s->gate = (struct gate){.config = &h->fixture->config, .limiter = limiter_new()};
    s->router = make_router();
    sql(h, "UPDATE building SET is_primary = 1 WHERE id = '%s'%s", h->building.text, "");
    s->parent = add_account(h, "parent@example.com", &s->primary);
    struct id own = h->account;
    h->account = s->parent;
    s->linked = fixture_add_building(h, "Cabin", "+15550100002");
    h->account = own;
    sql(h, "UPDATE account SET subscription_status = 'active' WHERE id = '%s'%s", s->parent.text, "");
    s->free = add_account(h, "free@example.com", &s->free_building);
    issue_keys(s);
    *state = s;
    return 0;
}

/* Limits that all tests together do not reach, in the proportion of the contract's. */
#define ACTIVE_LIMIT (2000 * 1000)
#define FREE_LIMIT   (1000 * 1000)

/* Before each test. */
static inline int scene_reset(void **state)
{
    struct scene *s = *state;
    struct config *c = &s->fixture->fixture->config;
    s->failures = 0;
    c->limits_requests_active = ACTIVE_LIMIT;
    c->limits_requests_free = FREE_LIMIT;
    c->limits_plans_per_ip = 100 * 1000;
    c->limits_auth_per_ip = 30 * 1000;
    c->limits_otp_per_ip = 5 * 1000;
    return 0;
}

static inline int scene_close(void **state)
{
    struct scene *s = *state;
    void *fixture = s->fixture;
    limiter_free(s->gate.limiter);
    router_free(s->router);
    free(s);
    return fixture_close(&fixture);
}

/* ---- one request ---- */

/* A request that is valid in every respect, except as its members say. */
struct probe {
    const struct contract *row;
    enum holder holder;
    const char *header;   /* X-Service-Building-Id; NULL: not sent */
    const char *building; /* {building} */
    const char *id;       /* {id}; NULL: a well-formed one */
    const char *body;     /* NULL: {} */
    const char *token;    /* NULL: the holder's key */
    const char *key, *match;
};

struct result {
    enum err e;
    const struct route *route;
    struct request q;
};

static inline void put_path(struct buf *out, const struct probe *p)
{
    struct str rest = str_z(p->row->path);
    while (rest.p) {
        buf_str(out, str_cut(rest, '{', &rest));
        if (!rest.p)
            break;
        struct str name = str_cut(rest, '}', &rest);
        if (str_eq(name, STR("building")))
            buf_str(out, str_z(p->building));
        else if (str_eq(name, STR("session")))
            buf_lit(out, "cs_1");
        else
            buf_str(out, str_z(p->id ? p->id : "6564c0ffee0123456789abcd"));
    }
}

static inline size_t put_headers(const struct scene *s, const struct probe *p, struct http_header *h, char *bearer,
                                 size_t size)
{
    size_t n = 0;
    snprintf(bearer, size, "%s %s", p->holder == MALFORMED ? "Basic" : "Bearer",
             p->token                                       ? p->token
             : p->holder == MALFORMED || p->holder == TWICE ? s->keys[AGENT]
                                                            : s->keys[p->holder]);
    if (p->holder != NOBODY)
        h[n++] = (struct http_header){STR("Authorization"), str_z(bearer)};
    if (p->holder == TWICE)
        h[n++] = (struct http_header){STR("Authorization"), str_z(bearer)};
    if (p->header)
        h[n++] = (struct http_header){STR("X-Service-Building-Id"), str_z(p->header)};
    if (p->key)
        h[n++] = (struct http_header){STR("Idempotency-Key"), str_z(p->key)};
    if (p->match)
        h[n++] = (struct http_header){STR("If-Match"), str_z(p->match)};
    h[n++] = (struct http_header){STR("Content-Type"), STR("application/json")};
    return n;
}

/* Runs every check on it, inside the transaction of tx. */
static inline void ask(struct scene *s, struct tx *tx, const struct probe *p, struct result *ret)
{
    char bearer[KEY_TEXT_MAX + 8];
    struct http_header headers[8];
    struct buf path = BUF(200);
    put_path(&path, p);
    struct http_request r = {.method = p->row->method,
                             .path = arena_str(tx->arena, buf_view(&path)),
                             .headers = headers,
                             .body = str_z(p->body ? p->body : "{}"),
                             .peer = {.address = "192.0.2.1", .secure = true}};
    buf_done(&path);
    r.header_count = put_headers(s, p, headers, bearer, sizeof bearer);
    struct str params[ROUTE_PARAMS] = {STR_NONE}, allow = STR_NONE;
    *ret = (struct result){.route = router_find(s->router, &door_api, r.method, r.path, tx->arena, params, &allow)};
    struct request *q = &ret->q;
    *q = (struct request){
        .http = &r, .door = &door_api, .route = ret->route, .path_text = params[0], .item_text = params[1], .tx = *tx};
    ret->e = ERR_NOT_FOUND;
    if (ret->route)
        ret->e = gate_check(&s->gate, NULL, q);
}

static inline struct probe valid(const struct scene *s, const struct contract *row, enum holder holder)
{
    const unsigned needs = row->needs;
    return (struct probe){.row = row,
                          .holder = holder,
                          .building = holder == CHILD    ? s->linked.text
                                      : holder == PARENT ? s->primary.text
                                      : holder == FREE   ? s->free_building.text
                                                         : s->fixture->building.text,
                          .header = holder == PARENT && row->building == SELECTED ? s->primary.text : NULL,
                          .body = needs & BODY ? "{" : NULL,
                          .key = needs & (IDEMPOTENCY | IDEMPOTENCY_IF_SENT) ? "request-0123456789" : NULL,
                          .match = needs & GRANT_VERSION      ? "\"7\""
                                   : needs & SETTINGS_VERSION ? "\"0123456789abcdef0123456789abcdef"
                                                                "0123456789abcdef0123456789abcdef\""
                                                              : NULL};
}

/* A request that passes every check of access has a truncated body, so that no field can matter. */
static inline enum err passed(const struct contract *row)
{
    return row->needs & BODY ? ERR_INVALID_JSON : ERR_NONE;
}

static inline void expect_error(struct scene *s, const struct probe *p, const char *what, enum err got, enum err want)
{
    if (got == want)
        return;
    s->failures++;
    print_error("%s %s as %s, %s: %s, expected %s\n", method_names[p->row->method], p->row->path,
                holder_names[p->holder], what, got ? err_info(got)->code : "passed",
                want ? err_info(want)->code : "passed");
}
