/* Codes, grants and tokens of assistants. */
#include "domain/tx_fixture.h"

#include "oauth/oauth.h"

#define REDIRECT  STR("https://a.example/cb")
#define VERIFIER  STR("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") /* RFC 7636 appendix B */
#define CHALLENGE STR("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
#define SCOPES    (SCOPE(ACCOUNT_READ) | SCOPE(ACCESS_READ))

struct client {
    struct oauth_client c;
    char code[OAUTH_CODE_LEN + 1];
    struct oauth_tokens t;
};

static struct client client(struct tx *tx)
{
    struct client c = {.code = ""};
    assert_true(
        oauth_client_read(tx->arena, oauth_client_register(tx->arena, tx->now_us, STR("Assistant"), REDIRECT), &c.c));
    return c;
}

static enum err consent(struct tx *tx, const struct id *account, struct client *c)
{
    const struct oauth_consent given = {.client_id = c->c.id,
                                        .redirect_uri = REDIRECT,
                                        .challenge = CHALLENGE,
                                        .resource = OAUTH_MCP,
                                        .scopes = SCOPES};
    return oauth_code_issue(tx, account, &given, c->code);
}

static struct oauth_exchange exchange_of(const struct client *c)
{
    return (struct oauth_exchange){
        .code = str_z(c->code), .verifier = VERIFIER, .redirect_uri = REDIRECT, .resource = OAUTH_MCP};
}

static enum err redeem(struct tx *tx, struct client *c)
{
    const struct oauth_exchange x = exchange_of(c);
    return oauth_code_exchange(tx, &c->c, &x, &c->t);
}

static struct client connected(struct tx *tx, const struct id *account)
{
    struct client c = client(tx);
    assert_none(consent(tx, account, &c));
    assert_none(redeem(tx, &c));
    return c;
}

static enum err use(struct tx *tx, const struct client *c, struct principal *who)
{
    unsigned char hash[SHA256_LEN];
    key_hash(str_z(c->t.access.text), hash);
    return key_authenticate(tx, hash, who);
}

static enum err refresh(struct tx *tx, struct client *c)
{
    return oauth_refresh(tx, c->c.id, str_z(c->t.refresh), 0, OAUTH_ANY, &c->t);
}

static size_t agents(struct tx *tx, const struct id *account, struct key_entry *ret_first)
{
    const struct key_entry *keys;
    size_t count, found = 0;
    assert_none(key_list(tx, account, &keys, &count));
    for (size_t i = 0; i < count; i++)
        if (keys[i].kind == KEY_AGENT && !found++ && ret_first)
            *ret_first = keys[i];
    return found;
}

static void test_a_code_gives_a_key_of_the_account_with_the_allowed_scopes(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    struct client c = connected(tx, &parent.account_id);
    assert_none(use(tx, &c, &who));
    assert_id(who.account_id, parent.account_id);
    assert_int_equal(who.scopes, SCOPES);
    assert_false(who.web_session);
    assert_int_equal(who.expires_at_us, tx->now_us + OAUTH_ACCESS_TTL_S * US_PER_S);
    struct key_entry key;
    assert_int_equal(agents(tx, &parent.account_id, &key), 1);
    assert_str(key.name, "Assistant");
    assert_int_equal(key.expires_at_us, tx->now_us + OAUTH_GRANT_TTL_S * US_PER_S);
}

static void test_a_code_fits_only_its_client_its_redirect_its_verifier_its_resource_and_its_minute(struct tx *tx)
{
    struct principal parent = owner(tx);
    for (int way = 0; way < 6; way++) {
        struct client c = client(tx), other = client(tx);
        assert_none(consent(tx, &parent.account_id, &c));
        struct oauth_exchange x = exchange_of(&c);
        if (way == 0)
            x.verifier = STR("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl");
        if (way == 1)
            x.redirect_uri = STR("https://a.example/other");
        if (way == 2)
            x.resource = OAUTH_SERVICE;
        if (way == 3)
            tx->now_us += OAUTH_CODE_TTL_S * US_PER_S;
        if (way == 4)
            x.code = str_n(x.code.p, x.code.n - 1);
        assert_error(oauth_code_exchange(tx, way == 5 ? &other.c : &c.c, &x, &c.t), ERR_NOT_FOUND);
        if (way != 4)
            assert_error(redeem(tx, &c), ERR_NOT_FOUND); /* the attempt has used it */
        assert_int_equal(agents(tx, &parent.account_id, NULL), 0);
    }
}

/* OAUTH-14 */
static void test_a_code_that_comes_again_ends_its_grant(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    struct client c = connected(tx, &parent.account_id), thief = c;
    assert_error(redeem(tx, &thief), ERR_NOT_FOUND);
    assert_error(use(tx, &c, &who), ERR_INVALID_KEY);
    assert_error(refresh(tx, &c), ERR_NOT_FOUND);
}

/* OAUTH-11 */
static void test_a_refresh_replaces_both_tokens_and_keeps_the_key(struct tx *tx)
{
    struct principal parent = owner(tx), before, after;
    struct client c = connected(tx, &parent.account_id), old = c;
    assert_none(use(tx, &c, &before));
    tx->now_us += 2 * OAUTH_ACCESS_TTL_S * US_PER_S;
    assert_error(use(tx, &c, &before), ERR_INVALID_KEY);
    assert_int_equal(agents(tx, &parent.account_id, NULL), 1);
    assert_none(refresh(tx, &c));
    assert_none(use(tx, &c, &after));
    assert_error(use(tx, &old, &before), ERR_INVALID_KEY);
    assert_int_equal(agents(tx, &parent.account_id, NULL), 1);
    assert_id(old.t.access.id, after.key_id);
}

static void assert_same_tokens(const struct client *a, const struct client *b)
{
    assert_string_equal(a->t.access.text, b->t.access.text);
    assert_string_equal(a->t.access.prefix, b->t.access.prefix);
    assert_string_equal(a->t.refresh, b->t.refresh);
    assert_id(a->t.access.id, b->t.access.id);
    assert_int_equal(a->t.access.scopes, b->t.access.scopes);
    assert_int_equal(a->t.access.expires_at_us, b->t.access.expires_at_us);
}

static void test_a_refresh_token_that_comes_again_within_a_minute_gives_the_same_tokens(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    struct client c = connected(tx, &parent.account_id), lost = c, late = c;
    assert_none(oauth_refresh(tx, c.c.id, str_z(c.t.refresh), SCOPE(ACCESS_READ), OAUTH_MCP, &c.t));
    tx->now_us += OAUTH_REPEAT_S * US_PER_S - 1;
    assert_none(refresh(tx, &lost));
    assert_same_tokens(&lost, &c);
    assert_none(use(tx, &c, &who));
    assert_int_equal(who.scopes, SCOPE(ACCESS_READ));
    assert_error(oauth_refresh(tx, late.c.id, str_z(late.t.refresh), 0, OAUTH_SERVICE, &late.t), ERR_NOT_FOUND);
    assert_error(oauth_refresh(tx, late.c.id, str_z(late.t.refresh), SCOPE(LOGS_READ), OAUTH_ANY, &late.t),
                 ERR_INSUFFICIENT_SCOPE);
    assert_none(use(tx, &c, &who));
    assert_none(refresh(tx, &c));
    assert_none(refresh(tx, &lost));
    assert_same_tokens(&lost, &c);
    assert_error(refresh(tx, &late), ERR_NOT_FOUND); /* two refreshes ago */
    assert_error(use(tx, &c, &who), ERR_INVALID_KEY);
}

/* OAUTH-13 */
static void test_a_refresh_token_that_another_client_repeats_ends_the_grant(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    struct client c = connected(tx, &parent.account_id), old = c, other = client(tx);
    struct oauth_tokens t;
    assert_none(refresh(tx, &c));
    assert_error(oauth_refresh(tx, other.c.id, str_z(old.t.refresh), 0, OAUTH_ANY, &t), ERR_NOT_FOUND);
    assert_error(use(tx, &c, &who), ERR_INVALID_KEY);
}

/* The node that answers again may have the master key as the current one or as the previous one. */
static void test_a_refresh_token_comes_again_while_the_master_key_is_replaced(struct tx *tx)
{
    static const unsigned char former[SHA256_LEN] = "a former key", next[SHA256_LEN] = "another key";
    struct principal parent = owner(tx), who;
    struct client c = connected(tx, &parent.account_id), again = c, lost = c;
    crypto_set_master(former, NULL);
    assert_none(refresh(tx, &c));
    crypto_set_master(next, former);
    assert_none(refresh(tx, &again));
    assert_same_tokens(&again, &c);
    crypto_set_master(next, NULL);
    assert_error(refresh(tx, &lost), ERR_NOT_FOUND);
    assert_error(use(tx, &c, &who), ERR_INVALID_KEY);
}

static void test_a_refresh_token_that_comes_again_after_a_minute_ends_the_grant(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    struct client c = connected(tx, &parent.account_id), thief = c;
    assert_none(refresh(tx, &c));
    tx->now_us += OAUTH_REPEAT_S * US_PER_S;
    assert_error(refresh(tx, &thief), ERR_NOT_FOUND);
    assert_error(use(tx, &c, &who), ERR_INVALID_KEY);
    assert_error(refresh(tx, &c), ERR_NOT_FOUND);
    assert_int_equal(agents(tx, &parent.account_id, NULL), 0);
}

/* OAUTH-19 */
static void test_a_refresh_is_for_the_same_client_and_no_further_scope(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    struct client c = connected(tx, &parent.account_id);
    const struct str token = str_z(c.t.refresh);
    struct oauth_tokens t;
    assert_error(oauth_refresh(tx, client(tx).c.id, token, 0, OAUTH_ANY, &t), ERR_NOT_FOUND);
    assert_error(oauth_refresh(tx, c.c.id, token, 0, OAUTH_SERVICE, &t), ERR_NOT_FOUND);
    assert_error(oauth_refresh(tx, c.c.id, token, SCOPES | SCOPE(LOGS_READ), OAUTH_ANY, &t), ERR_INSUFFICIENT_SCOPE);
    assert_none(oauth_refresh(tx, c.c.id, token, SCOPE(ACCESS_READ), OAUTH_MCP, &c.t));
    assert_none(use(tx, &c, &who));
    assert_int_equal(who.scopes, SCOPE(ACCESS_READ));
    assert_none(refresh(tx, &c));
    assert_none(use(tx, &c, &who));
    assert_int_equal(who.scopes, SCOPES);
}

/* OAUTH-12 */
static void test_a_grant_ends_30_days_after_its_last_refresh(struct tx *tx)
{
    struct principal parent = owner(tx);
    struct client c = connected(tx, &parent.account_id);
    tx->now_us += 29 * DAYS;
    assert_none(refresh(tx, &c));
    tx->now_us += 29 * DAYS;
    assert_none(refresh(tx, &c));
    tx->now_us += 30 * DAYS;
    assert_error(refresh(tx, &c), ERR_NOT_FOUND);
}

/* The resident revokes a key, or all others; the client its access token, its refresh token, or an earlier one. */
static void test_each_way_to_revoke_ends_key_and_grant(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    const struct id *account = &parent.account_id;
    for (int way = 0; way < 5; way++) {
        struct client c = connected(tx, account), old = c;
        int64_t count;
        assert_none(refresh(tx, &c));
        if (way == 1)
            tx->now_us += 2 * OAUTH_ACCESS_TTL_S * US_PER_S;
        enum err e = way == 0   ? key_revoke(tx, account, &c.t.access.id)
                     : way == 1 ? key_revoke_others(tx, account, &parent.key_id, &count)
                     : way == 2 ? oauth_revoke(tx, c.c.id, str_z(c.t.access.text))
                     : way == 3 ? oauth_revoke(tx, c.c.id, str_z(c.t.refresh))
                                : oauth_revoke(tx, c.c.id, str_z(old.t.refresh));
        assert_none(e);
        assert_error(use(tx, &c, &who), ERR_INVALID_KEY);
        assert_error(refresh(tx, &c), ERR_NOT_FOUND);
        assert_none(oauth_revoke(tx, c.c.id, str_z(c.t.refresh)));
    }
}

static void test_a_client_revokes_nothing_of_others(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    struct client c = connected(tx, &parent.account_id), other = client(tx);
    const struct key_options options = {
        .kind = KEY_AGENT, .account_id = parent.account_id, .name = STR("Robot"), .scopes = SCOPES, .ttl_s = 60};
    struct key_issued robot;
    assert_none(key_issue(tx, &options, &robot));
    assert_error(oauth_revoke(tx, other.c.id, str_z(c.t.refresh)), ERR_NOT_FOUND);
    assert_error(oauth_revoke(tx, other.c.id, str_z(c.t.access.text)), ERR_NOT_FOUND);
    assert_none(oauth_revoke(tx, other.c.id, str_z(robot.text)));
    assert_none(oauth_revoke(tx, other.c.id, STR("unknown")));
    assert_none(use(tx, &c, &who));
    assert_none(authenticate(tx, &robot, &who));
}

/* OAUTH-16 */
static void test_a_client_that_connects_again_replaces_its_grant(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    struct client c = connected(tx, &parent.account_id), old = c;
    for (int i = 0; i < KEY_ACTIVE_MAX + 5; i++) {
        assert_none(consent(tx, &parent.account_id, &c));
        assert_none(redeem(tx, &c));
    }
    assert_none(use(tx, &c, &who));
    assert_error(use(tx, &old, &who), ERR_INVALID_KEY);
    assert_int_equal(agents(tx, &parent.account_id, NULL), 1);
    CURSOR rows;
    assert_none(db_query(
        tx->db, SQL(export_oauth_grant, .owner = id_str(&parent.account_id), .limit = 100, .after = v_str(STR(""))),
        &rows));
    size_t count = 0;
    for (bool more; !db_next(&rows, &more) && more;)
        count++;
    assert_int_equal(count, 1); /* ended grants are deleted */
}

/* OAUTH-17 */
static void test_assistants_count_as_agent_keys_while_their_grant_lasts(struct tx *tx)
{
    struct principal parent = owner(tx);
    struct client c = client(tx), first = connected(tx, &parent.account_id);
    for (int i = 1; i < KEY_ACTIVE_MAX; i++)
        connected(tx, &parent.account_id);
    assert_error(consent(tx, &parent.account_id, &c), ERR_KEY_LIMIT);
    tx->now_us += 2 * OAUTH_ACCESS_TTL_S * US_PER_S;
    assert_error(consent(tx, &parent.account_id, &c), ERR_KEY_LIMIT);
    assert_none(consent(tx, &parent.account_id, &first));
    tx->now_us += 31 * DAYS;
    assert_none(consent(tx, &parent.account_id, &c));
}

static void test_an_account_has_few_codes_and_they_are_purged(struct tx *tx)
{
    struct principal parent = owner(tx);
    struct client c = client(tx), first;
    int64_t count;
    for (int i = 0; i < OAUTH_CODES_MAX + 10; i++) {
        assert_none(consent(tx, &parent.account_id, &c));
        if (i == 0)
            first = c;
        tx->now_us += US_PER_S;
    }
    assert_error(redeem(tx, &first), ERR_NOT_FOUND);
    assert_none(redeem(tx, &c));
    assert_none(oauth_purge(tx, tx->now_us + DAYS, 200, &count));
    assert_int_equal(count, OAUTH_CODES_MAX);
}

static void test_grants_are_deleted_with_their_keys(struct tx *tx)
{
    struct principal parent = owner(tx);
    struct client c = connected(tx, &parent.account_id);
    int64_t count;
    tx->now_us += 30 * DAYS;
    assert_none(key_purge(tx, tx->now_us + DAYS, 200, &count));
    assert_error(refresh(tx, &c), ERR_NOT_FOUND);
    CURSOR row;
    assert_error(
        db_one(tx->db,
               SQL(export_oauth_grant, .owner = id_str(&parent.account_id), .limit = 100, .after = v_str(STR(""))),
               &row),
        ERR_NOT_FOUND);
}

/* OAUTH-16 */
static void test_a_program_with_a_document_has_a_grant_for_each_installation(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    const struct id account = parent.account_id;
    struct client c = {.c = {.id = STR("https://a.example/client")}};
    const struct oauth_consent given = {.client_id = c.c.id,
                                        .client_name = STR("Program"),
                                        .redirect_uri = REDIRECT,
                                        .challenge = CHALLENGE,
                                        .resource = OAUTH_MCP,
                                        .shared = true,
                                        .scopes = SCOPES};
    assert_none(oauth_code_issue(tx, &account, &given, c.code));
    assert_none(redeem(tx, &c));
    struct client other = c;
    assert_none(oauth_code_issue(tx, &account, &given, other.code));
    assert_none(redeem(tx, &other));
    assert_none(use(tx, &c, &who));
    assert_none(use(tx, &other, &who));
    const struct key_entry *keys;
    size_t count;
    assert_none(key_list(tx, &account, &keys, &count));
    assert_str(keys[0].name, "Program");
    assert_none(oauth_revoke(tx, c.c.id, str_z(other.t.refresh)));
    assert_none(use(tx, &c, &who));
    for (int i = 1; i < KEY_ACTIVE_MAX; i++) {
        assert_none(oauth_code_issue(tx, &account, &given, other.code));
        assert_none(redeem(tx, &other));
    }
    assert_error(oauth_code_issue(tx, &account, &given, other.code), ERR_KEY_LIMIT);
}

#define TESTS(x)                                                                                                       \
    x(test_a_code_gives_a_key_of_the_account_with_the_allowed_scopes)                                                  \
        x(test_a_code_fits_only_its_client_its_redirect_its_verifier_its_resource_and_its_minute)                      \
            x(test_a_code_that_comes_again_ends_its_grant) x(test_a_refresh_replaces_both_tokens_and_keeps_the_key)    \
                x(test_a_refresh_token_that_comes_again_within_a_minute_gives_the_same_tokens)                         \
                    x(test_a_refresh_token_that_another_client_repeats_ends_the_grant) x(                              \
                        test_a_refresh_token_comes_again_while_the_master_key_is_replaced)                             \
                        x(test_a_refresh_token_that_comes_again_after_a_minute_ends_the_grant) x(                      \
                            test_a_refresh_is_for_the_same_client_and_no_further_scope)                                \
                            x(test_a_grant_ends_30_days_after_its_last_refresh) x(                                     \
                                test_each_way_to_revoke_ends_key_and_grant) x(test_a_client_revokes_nothing_of_others) \
                                x(test_a_client_that_connects_again_replaces_its_grant)                                \
                                    x(test_assistants_count_as_agent_keys_while_their_grant_lasts)                     \
                                        x(test_an_account_has_few_codes_and_they_are_purged)                           \
                                            x(test_grants_are_deleted_with_their_keys)                                 \
                                                x(test_a_program_with_a_document_has_a_grant_for_each_installation)
TX_RUN(TESTS)
