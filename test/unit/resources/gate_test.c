/* The gate against the contract: credentials, scopes, buildings, limits, required headers and the order of checks. */
#include "resources/earlier.h"
#include "resources/earlier_account.h"
#include "resources/earlier_keys.h"
#include "resources/gate_scene.h"

/* Runs `check` on every row of a revision, in one read transaction: failures are counted there and asserted here. */
struct sweep {
    struct scene *scene;
    bool earlier;
    void (*check)(struct scene *s, struct tx *tx, const struct contract *row);
};

static enum err sweep_run(struct tx *tx, void *arg)
{
    struct sweep *w = arg;
    for (size_t i = 0; i < COUNT(contract); i++)
        if (!(contract[i].needs & (w->earlier ? REPLACED : EARLIER)))
            w->check(w->scene, tx, &contract[i]);
    return ERR_NONE;
}

static void sweep(struct scene *s, void (*check)(struct scene *, struct tx *, const struct contract *))
{
    for (int earlier = 0; earlier <= 1; earlier++) {
        struct sweep w = {s, earlier, check};
        choose_revision(s, earlier);
        assert_int_equal(fixture_run(s->fixture, STORE_READ, sweep_run, &w), ERR_NONE);
        choose_revision(s, false);
        assert_int_equal(s->failures, 0);
    }
}

/* ---- tests ---- */

static void every_route_has_a_row_in_this_table(void **state)
{
    struct scene *s = *state;
    size_t routes = earlier_routes.count + EARLIER_WEBHOOK_ROWS;
    for (size_t i = 0; i < api_set_count; i++)
        routes += api_sets[i]->count;
    assert_int_equal(routes, COUNT(contract));
    const struct route *found[COUNT(contract)];
    for (size_t i = 0; i < COUNT(contract); i++) {
        found[i] = NULL;
        if (contract[i].needs & REPLACES)
            continue;
        struct probe p = valid(s, &contract[i], NOBODY);
        struct str params[ROUTE_PARAMS] = {STR_NONE}, allow = STR_NONE;
        struct buf path = BUF(200);
        put_path(&path, &p);
        found[i] =
            router_find(s->router, &door_api, p.row->method, buf_view(&path), &s->fixture->arena, params, &allow);
        buf_done(&path);
        if (!found[i])
            fail_msg("no route for %s", p.row->path);
        for (size_t k = 0; k < i; k++)
            assert_ptr_not_equal(found[i], found[k]);
    }
}

/* A website session of a member. */
static enum err expected_of_visit(const struct contract *row, enum holder holder)
{
    if (row->member)
        return row->member;
    return row->people & (holder == RESIDENT ? RESIDENTS : ALL & ~RESIDENTS) ? passed(row) : ERR_INSUFFICIENT_SCOPE;
}

static enum err expected_of(const struct contract *row, enum holder holder)
{
    if (row->access == PUBLIC)
        return passed(row);
    switch (holder) {
    case NOBODY:
    case MALFORMED:
    case TWICE:
        return ERR_AUTH_REQUIRED;
    case UNKNOWN:
    case REVOKED:
    case EXPIRED:
        return ERR_INVALID_KEY;
    case GONE:
        return ERR_AUTHENTICATION_REQUIRED;
    default:
        break;
    }
    if (row->access == WEBSITE && holder != SESSION)
        return ERR_WEB_SESSION_REQUIRED;
    if (holder == CHILD && row->child)
        return row->child;
    if (holder == RESIDENT || holder == MANAGER)
        return expected_of_visit(row, holder);
    if (holder == MEMBER && row->member)
        return row->member;
    if (holder == UNSCOPED && *row->scopes)
        return ERR_INSUFFICIENT_SCOPE;
    return holder == FREE && row->needs & SUBSCRIBED ? ERR_SUBSCRIPTION_REQUIRED : passed(row);
}

static void check_holders(struct scene *s, struct tx *tx, const struct contract *row)
{
    for (enum holder holder = 0; holder < HOLDERS; holder++) {
        struct probe p = valid(s, row, holder);
        struct result r;
        ask(s, tx, &p, &r);
        expect_error(s, &p, "a valid request", r.e, expected_of(row, holder));
    }
}

/* ACCOUNT-9 */
static void each_route_admits_only_the_credentials_of_the_contract(void **state)
{
    sweep(*state, check_holders);
}

/* The rows that only the website has and that admit members; the others are the owner's. */
static const struct {
    const char *operation;
    unsigned people;
} shared[] = {{"listPlaces", ALL},
              {"switchPlace", ALL},
              {"createPlace", ALL},
              {"listBrowsers", ALL},
              {"signOutBrowser", ALL},
              {"signOutEverywhere", ALL},
              {"getQuietHours", RESIDENTS},
              {"setQuietHours", RESIDENTS},
              {"getOwnPhone", RESIDENTS},
              {"giveUpOwnPhone", RESIDENTS},
              {"requestOwnPhoneCode", RESIDENTS},
              {"confirmOwnPhoneCode", RESIDENTS},
              {"getNotices", ALL},
              {"subscribeBrowser", ALL},
              {"unsubscribeBrowser", ALL},
              {"testBrowser", ALL},
              {"setNoticesByEmail", ALL}};

static unsigned people_of(const struct route *row)
{
    for (size_t i = 0; i < COUNT(shared); i++)
        if (strcmp(shared[i].operation, row->operation_id) == 0)
            return shared[i].people;
    return ALONE;
}

static void check_website_row(const struct route *row, const struct principal *owner)
{
    static const char *const scopes[] = {MEMBERS ",calls:listen", MEMBERS};
    assert_true(gate_admits(row, owner));
    for (size_t role = 0; role < COUNT(scopes); role++) {
        struct principal member = *owner;
        member.member_id = owner->account_id; /* any ID */
        member.scopes = scope_bits(scopes[role]);
        const bool wanted = people_of(row) & 1u << role;
        if (gate_admits(row, &member) != wanted)
            fail_msg("%s admits the wrong members", row->operation_id);
        member.scopes = ALL_SCOPES & ~(role ? SCOPE(CALLS_LISTEN) : 0); /* rights do not come from scopes alone */
        assert_int_equal(gate_admits(row, &member), wanted);
    }
}

/* ACCOUNT-9 */
static void rows_of_the_website_alone_admit_only_the_members_of_the_table(void **state)
{
    const struct scene *s = *state;
    const struct principal owner = {.account_id = s->fixture->account, .web_session = true, .scopes = ALL_SCOPES};
    for (size_t i = 0; i < browser_set_count; i++)
        for (size_t k = 0; k < browser_sets[i]->count; k++)
            if (route_needs_key(&browser_sets[i]->rows[k]))
                check_website_row(&browser_sets[i]->rows[k], &owner);
}

/* An agent key with every scope but one passes, unless that one is required. A website session has all of them. */
static void check_scopes(struct scene *s, struct tx *tx, const struct contract *row)
{
    const enum holder holder = row->access == WEBSITE ? SESSION : AGENT;
    for (unsigned bit = 0; bit < SCOPE_COUNT; bit++) {
        struct probe p = valid(s, row, holder);
        struct result r;
        char what[60];
        snprintf(what, sizeof what, "a key without %s", scope_text(bit));
        p.token = s->lacking[holder == SESSION][bit];
        ask(s, tx, &p, &r);
        const bool lacks = holder == AGENT && scope_bits(row->scopes) & 1u << bit;
        expect_error(s, &p, what, r.e, lacks ? ERR_INSUFFICIENT_SCOPE : passed(row));
    }
}

static void each_route_requires_exactly_the_scopes_of_the_contract(void **state)
{
    sweep(*state, check_scopes);
}

static void check_building(struct scene *s, struct tx *tx, const struct contract *row)
{
    const char *const primary = s->primary.text, *const linked = s->linked.text,
                      *const other = s->fixture->building.text;
    const struct {
        enum holder holder;
        const char *what, *header, *path;
        enum err selected, in_path; /* of a route that selects by header, and of one that selects by path */
        const char *chosen;
    } cases[] = {
        {AGENT, "one building, no header", NULL, other, ERR_NONE, ERR_NONE, other},
        {AGENT, "one building, its own header", other, other, ERR_NONE, ERR_NONE, other},
        {PARENT, "no header", NULL, linked, ERR_BUILDING_REQUIRED, ERR_NONE, linked},
        {PARENT, "the primary building", primary, primary, ERR_NONE, ERR_NONE, primary},
        {PARENT, "the linked building", linked, linked, ERR_NONE, ERR_NONE, linked},
        {PARENT, "header and path differ", linked, primary, ERR_NONE, ERR_INVALID_BUILDING_CONTEXT, linked},
        {PARENT, "another account's building", other, other, ERR_BUILDING_NOT_FOUND, ERR_BUILDING_NOT_FOUND, NULL},
        {PARENT, "an unknown building", "6564c0ffee0123456789abcd", "6564c0ffee0123456789abcd", ERR_BUILDING_NOT_FOUND,
         ERR_BUILDING_NOT_FOUND, NULL},
        {PARENT, "a malformed ID", "Home", "Home", ERR_INVALID_BUILDING, ERR_INVALID_BUILDING, NULL},
        {PARENT, "an empty header", "", primary, ERR_INVALID_BUILDING, ERR_INVALID_BUILDING, NULL},
        {CHILD, "no header", NULL, linked, ERR_NONE, ERR_NONE, linked},
        {CHILD, "its own building", linked, linked, ERR_NONE, ERR_NONE, linked},
        {CHILD, "its sibling", primary, primary, ERR_BUILDING_NOT_FOUND, ERR_BUILDING_NOT_FOUND, NULL},
        {MEMBER, "no header", NULL, other, ERR_NONE, ERR_NONE, other},
    };
    if (row->access == PUBLIC)
        return;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct probe p = valid(s, row, cases[i].holder);
        enum err want = expected_of(row, cases[i].holder);
        struct result r;
        p.header = cases[i].header;
        p.building = cases[i].path;
        if (want == passed(row)) {
            enum err refused = row->building == SELECTED                       ? cases[i].selected
                               : row->building == IN_PATH                      ? cases[i].in_path
                               : row->building == FORBIDDEN && cases[i].header ? ERR_INVALID_BUILDING_CONTEXT
                                                                               : ERR_NONE;
            want = refused ? refused : want;
        }
        ask(s, tx, &p, &r);
        expect_error(s, &p, cases[i].what, r.e, want);
        const bool selects = row->building == SELECTED || row->building == IN_PATH;
        if (want == passed(row) && selects && strcmp(r.q.building_id.text, cases[i].chosen) != 0) {
            s->failures++;
            print_error("%s, %s: selected %s\n", row->path, cases[i].what, r.q.building_id.text);
        }
        if (!selects && id_given(&r.q.building_id)) {
            s->failures++;
            print_error("%s, %s: selects a building\n", row->path, cases[i].what);
        }
    }
}

static void each_route_selects_the_building_as_the_contract_says(void **state)
{
    sweep(*state, check_building);
}

/* The limits of the configuration differ from each other, so that each shows which one was taken. */
static void check_limits_taken(struct scene *s, struct tx *tx, const struct contract *row)
{
    const struct config *c = s->gate.config;
    static const enum holder holders[] = {SESSION, AGENT, FREE};
    for (size_t i = 0; i < COUNT(holders); i++) {
        const int64_t per_key = holders[i] == FREE ? c->limits_requests_free : c->limits_requests_active;
        const int64_t wanted[] = {[UNLIMITED] = 0,
                                  [PER_KEY] = per_key,
                                  [PER_IP_PLANS] = c->limits_plans_per_ip,
                                  [PER_IP_AUTH] = c->limits_auth_per_ip,
                                  [PER_IP_OTP] = c->limits_otp_per_ip};
        struct probe p = valid(s, row, holders[i]);
        struct result r;
        ask(s, tx, &p, &r);
        if (r.q.limits.tightest.limit != wanted[row->limit]) {
            s->failures++;
            print_error("%s as %s: limit %lld\n", row->path, holder_names[holders[i]],
                        (long long)r.q.limits.tightest.limit);
        }
    }
}

static void each_route_counts_against_the_limit_of_the_contract(void **state)
{
    sweep(*state, check_limits_taken);
}

static void check_exhausted_limits(struct scene *s, struct tx *tx, const struct contract *row)
{
    static const enum err wanted[] = {[UNLIMITED] = ERR_NONE,
                                      [PER_KEY] = ERR_RATE_LIMIT_EXCEEDED,
                                      [PER_IP_PLANS] = ERR_RATE_LIMIT_EXCEEDED,
                                      [PER_IP_AUTH] = ERR_AUTH_RATE_LIMIT,
                                      [PER_IP_OTP] = ERR_AUTH_RATE_LIMIT};
    struct probe p = valid(s, row, SESSION);
    struct result r;
    ask(s, tx, &p, &r);
    expect_error(s, &p, "every limit exhausted", r.e, wanted[row->limit] ? wanted[row->limit] : passed(row));
    if (wanted[row->limit] && r.q.tx.retry_after_s <= 0) {
        s->failures++;
        print_error("%s: no Retry-After\n", row->path);
    }
}

static void each_exhausted_limit_answers_the_code_of_the_contract(void **state)
{
    struct scene *s = *state;
    struct config *c = &s->fixture->fixture->config;
    c->limits_requests_active = c->limits_requests_free = 0;
    c->limits_plans_per_ip = c->limits_auth_per_ip = c->limits_otp_per_ip = 0;
    sweep(s, check_exhausted_limits);
}

static void check_otp_limit(struct scene *s, struct tx *tx, const struct contract *row)
{
    struct probe p = valid(s, row, SESSION);
    struct result r;
    ask(s, tx, &p, &r);
    expect_error(s, &p, "the OTP limit exhausted", r.e, row->limit == PER_IP_OTP ? ERR_OTP_RATE_LIMIT : passed(row));
}

static void an_exhausted_otp_limit_has_its_own_code(void **state)
{
    struct scene *s = *state;
    s->fixture->fixture->config.limits_otp_per_ip = 0;
    sweep(s, check_otp_limit);
}

static void check_required_headers(struct scene *s, struct tx *tx, const struct contract *row)
{
    static const char *const bad_keys[] = {NULL, "", "too-short-15-ch", "sixteen chars ok", "request-01234567\xc3\xa9"};
    static const char *const bad_matches[] = {NULL, "", "7", "*", "\"07\"", "\"x\"", "\"7\", \"8\"", "\"0123abcd\""};
    struct result r;
    for (size_t i = 0; i < COUNT(bad_keys); i++) {
        struct probe p = valid(s, row, row->access == WEBSITE ? SESSION : AGENT);
        const bool refused = row->needs & IDEMPOTENCY || (row->needs & IDEMPOTENCY_IF_SENT && bad_keys[i]);
        p.key = bad_keys[i];
        ask(s, tx, &p, &r);
        expect_error(s, &p, "bad Idempotency-Key", r.e, refused ? ERR_IDEMPOTENCY_KEY_REQUIRED : passed(row));
    }
    for (size_t i = 0; i < COUNT(bad_matches); i++) {
        struct probe p = valid(s, row, row->access == WEBSITE ? SESSION : AGENT);
        p.match = bad_matches[i];
        ask(s, tx, &p, &r);
        expect_error(s, &p, "bad If-Match", r.e,
                     row->needs & GRANT_VERSION      ? ERR_VERSION_REQUIRED
                     : row->needs & SETTINGS_VERSION ? ERR_SETTINGS_VERSION_REQUIRED
                                                     : passed(row));
    }
}

static void each_route_requires_the_headers_of_the_contract(void **state)
{
    sweep(*state, check_required_headers);
}

static void check_ids(struct scene *s, struct tx *tx, const struct contract *row)
{
    static const char *const bad[] = {"x", "6564c0ffee0123456789abc", "6564c0ffee0123456789abcg"};
    if (!strstr(row->path, "{id}"))
        return;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct probe p = valid(s, row, row->access == WEBSITE ? SESSION : AGENT);
        struct result r;
        p.id = bad[i];
        p.body = "{}";
        ask(s, tx, &p, &r);
        expect_error(s, &p, "malformed ID", r.e, ERR_INVALID_ID);
    }
}

static void each_malformed_id_is_refused(void **state)
{
    sweep(*state, check_ids);
}

/* ---- the order ---- */

static const struct contract *row_of(enum http_method method, const char *path)
{
    for (size_t i = 0; i < COUNT(contract); i++)
        if (contract[i].method == method && strcmp(contract[i].path, path) == 0)
            return &contract[i];
    fail_msg("%s", path);
    return NULL;
}

static enum err order_run(struct tx *tx, void *arg)
{
    struct scene *s = arg;
    struct config *c = &s->fixture->fixture->config;
    struct probe p = valid(s, row_of(HTTP_PATCH, "/v1/unlock/{id}"), NOBODY);
    struct result r;
    p.id = "x", p.header = "Home", p.match = "7", p.body = "{";
    c->limits_requests_active = 0;
    struct {
        enum err want;
        const char **repaired;
        const char *value;
    } const text_steps[] = {{ERR_INVALID_BUILDING, &p.header, s->primary.text},
                            {ERR_VERSION_REQUIRED, &p.match, "\"7\""},
                            {ERR_INVALID_JSON, &p.body, "{\"unknown\": 1}"},
                            {ERR_INVALID_ID, &p.id, NULL},
                            {ERR_INVALID_UNLOCK, &p.body, "{\"label\": \"x\"}"}};
    ask(s, tx, &p, &r);
    expect_error(s, &p, "all wrong", r.e, ERR_AUTH_REQUIRED);
    p.holder = AGENT, p.token = s->lacking[0][SCOPE_BIT_ACCESS_WRITE];
    ask(s, tx, &p, &r);
    expect_error(s, &p, "authenticated", r.e, ERR_RATE_LIMIT_EXCEEDED);
    c->limits_requests_active = ACTIVE_LIMIT;
    ask(s, tx, &p, &r);
    expect_error(s, &p, "within the limit", r.e, ERR_INSUFFICIENT_SCOPE);
    p.holder = PARENT, p.token = NULL, c->limits_requests_free = FREE_LIMIT;
    for (size_t i = 0; i < COUNT(text_steps); i++) {
        ask(s, tx, &p, &r);
        expect_error(s, &p, "next", r.e, text_steps[i].want);
        *text_steps[i].repaired = text_steps[i].value;
    }
    ask(s, tx, &p, &r);
    expect_error(s, &p, "all right", r.e, ERR_NONE);
    return ERR_NONE;
}

/* HTTP-1 */
static void checks_fail_in_the_documented_order(void **state)
{
    struct scene *s = *state;
    assert_int_equal(fixture_run(s->fixture, STORE_READ, order_run, s), ERR_NONE);
    assert_int_equal(s->failures, 0);
}

static enum err kind_before_scope_run(struct tx *tx, void *arg)
{
    struct scene *s = arg;
    struct result r;
    struct probe p = valid(s, row_of(HTTP_GET, "/v1/account/phone"), UNSCOPED);
    ask(s, tx, &p, &r);
    expect_error(s, &p, "an agent key without scopes", r.e, ERR_WEB_SESSION_REQUIRED);
    s->fixture->fixture->config.limits_requests_active = 0;
    ask(s, tx, &p, &r);
    expect_error(s, &p, "and above its limit", r.e, ERR_RATE_LIMIT_EXCEEDED);
    return ERR_NONE;
}

static void the_kind_of_key_is_checked_between_the_limit_and_the_scope(void **state)
{
    struct scene *s = *state;
    assert_int_equal(fixture_run(s->fixture, STORE_READ, kind_before_scope_run, s), ERR_NONE);
    assert_int_equal(s->failures, 0);
}

static void plain_http_is_refused_before_anything_else(void **state)
{
    (void)state;
    struct http_request r = {.peer = {.secure = false}};
    struct request q = {.http = &r};
    assert_int_equal(gate_head(&q), ERR_HTTPS_REQUIRED);
    r.peer.secure = true;
    assert_int_equal(gate_head(&q), ERR_NONE);
    r.peer = (struct http_peer){.local = true};
    assert_int_equal(gate_head(&q), ERR_NONE);
}

/* ---- revisions ---- */

/* Endpoints were a building's: their access differs, and is in the table. */
static void check_replacement(const struct route *row, const struct route *earlier)
{
    assert_int_equal(earlier->method, row->method);
    assert_string_equal(earlier->path, row->path);
    assert_int_equal(earlier->limit, row->limit);
    assert_int_equal(earlier->idempotency, row->idempotency);
    assert_int_equal(earlier->match, row->match);
    assert_int_equal(earlier->run, row->run);
    assert_ptr_equal(earlier->lengthy, row->lengthy);
    if (earlier->flags & ROUTE_SUBSCRIBED)
        return;
    assert_int_equal(earlier->credential, row->credential);
    assert_int_equal(earlier->scopes, row->scopes);
    assert_int_equal(earlier->people, row->people);
    assert_int_equal(earlier->building, row->building);
    assert_int_equal(earlier->flags, row->flags & ~(unsigned)ROUTE_SITE);
    assert_int_equal(earlier->doc.status, row->doc.status);
}

/* EARLIER-19 */
static void the_earlier_rows_have_the_access_of_those_they_replace(void **state)
{
    size_t replaced = 0;
    (void)state;
    for (size_t i = 0; i < api_set_count; i++)
        for (size_t k = 0; k < api_sets[i]->count; k++) {
            const struct route *row = &api_sets[i]->rows[k], *earlier = row->earlier;
            if (!earlier)
                continue;
            replaced++;
            check_replacement(row, earlier);
        }
    assert_int_equal(replaced + earlier_routes.count,
                     EARLIER_ROWS + EARLIER_KEY_ROWS + EARLIER_ACCOUNT_ROWS + EARLIER_WEBHOOK_ROWS);
}

static enum err current_run(struct tx *tx, void *arg)
{
    struct scene *s = arg;
    for (size_t i = 0; i < COUNT(contract); i++) {
        if (!(contract[i].needs & EARLIER) || contract[i].needs & REPLACES)
            continue;
        struct probe p = valid(s, &contract[i], AGENT);
        struct result r;
        ask(s, tx, &p, &r);
        expect_error(s, &p, "of the current revision", r.e, ERR_NOT_FOUND);
        s->failures += r.q.limits.tightest.limit != 0;
    }
    return ERR_NONE;
}

/* EARLIER-9 */
static void other_accounts_lack_the_paths_of_the_earlier_revision(void **state)
{
    struct scene *s = *state;
    assert_int_equal(fixture_run(s->fixture, STORE_READ, current_run, s), ERR_NONE);
    assert_int_equal(s->failures, 0);
}

/* The second check belongs to a transaction that runs again, when the account's revision has changed. */
static enum err revision_run(struct tx *tx, void *arg)
{
    struct scene *s = arg;
    struct result r;
    struct probe p = valid(s, row_of(HTTP_GET, "/v1/unlock"), AGENT);
    char bearer[KEY_TEXT_MAX + 8];
    struct http_header headers[8];
    struct http_request http = {.headers = headers, .peer = {.address = "192.0.2.1", .secure = true}};
    ask(s, tx, &p, &r);
    s->failures += r.q.route != r.route->earlier;
    http.header_count = put_headers(s, &p, headers, bearer, sizeof bearer);
    struct door door = door_api;
    door.earlier = false;
    struct request mcp = {.http = &http, .door = &door, .route = r.route, .tx = *tx};
    struct request again = {.http = &http, .door = &door, .route = r.route->earlier, .asked = r.route, .tx = *tx};
    s->failures += gate_check(&s->gate, NULL, &mcp) || mcp.route != r.route;
    s->failures += gate_check(&s->gate, NULL, &again) || again.route != r.route;
    return ERR_NONE;
}

/* EARLIER-1 */
static void a_key_is_served_the_revision_of_its_account_but_not_by_mcp(void **state)
{
    struct scene *s = *state;
    choose_revision(s, true);
    assert_int_equal(fixture_run(s->fixture, STORE_READ, revision_run, s), ERR_NONE);
    choose_revision(s, false);
    assert_int_equal(s->failures, 0);
}

/* ---- retries ---- */

static enum err retry_run(struct tx *tx, void *arg)
{
    struct scene *s = arg;
    struct result r;
    struct probe p = valid(s, row_of(HTTP_GET, "/v1/account"), AGENT);
    char bearer[KEY_TEXT_MAX + 8];
    struct http_header headers[8];
    struct http_request http = {.headers = headers, .peer = {.address = "192.0.2.1", .secure = true}};
    ask(s, tx, &p, &r);
    http.header_count = put_headers(s, &p, headers, bearer, sizeof bearer);
    struct request q = {.http = &http, .door = &door_api, .route = r.route, .tx = *tx};
    struct gate gate = {.config = s->gate.config, .limiter = limiter_new()};
    enum err first = gate_check(&gate, NULL, &q), second = gate_check(&gate, NULL, &q);
    limiter_free(gate.limiter);
    expect_error(s, &p, "first run", first, ERR_NONE);
    expect_error(s, &p, "second run", second, ERR_NONE);
    s->failures += q.limits.tightest.remaining != q.limits.tightest.limit - 1;
    return ERR_NONE;
}

static void a_request_that_is_checked_twice_counts_once(void **state)
{
    struct scene *s = *state;
    assert_int_equal(fixture_run(s->fixture, STORE_READ, retry_run, s), ERR_NONE);
    assert_int_equal(s->failures, 0);
}

#define TEST(test) cmocka_unit_test_setup(test, scene_reset)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_route_has_a_row_in_this_table),
        TEST(each_route_admits_only_the_credentials_of_the_contract),
        TEST(rows_of_the_website_alone_admit_only_the_members_of_the_table),
        TEST(each_route_requires_exactly_the_scopes_of_the_contract),
        TEST(each_route_selects_the_building_as_the_contract_says),
        TEST(each_route_counts_against_the_limit_of_the_contract),
        TEST(each_exhausted_limit_answers_the_code_of_the_contract),
        TEST(an_exhausted_otp_limit_has_its_own_code),
        TEST(each_route_requires_the_headers_of_the_contract),
        TEST(each_malformed_id_is_refused),
        TEST(checks_fail_in_the_documented_order),
        TEST(the_kind_of_key_is_checked_between_the_limit_and_the_scope),
        TEST(the_earlier_rows_have_the_access_of_those_they_replace),
        TEST(other_accounts_lack_the_paths_of_the_earlier_revision),
        TEST(a_key_is_served_the_revision_of_its_account_but_not_by_mcp),
        TEST(a_request_that_is_checked_twice_counts_once),
        cmocka_unit_test(plain_http_is_refused_before_anything_else),
    };
    return cmocka_run_group_tests(tests, scene_open, scene_close);
}
