#include "tx_fixture.h"

#include "domain/account.h"
#include "domain/key_life.h"
#include "domain/member.h"
#include "domain/session.h"

static struct key_issued agent(struct tx *tx, const struct principal *who, int64_t ttl_s)
{
    struct key_issued key;
    assert_none(key_issue(tx,
                          &(struct key_options){.kind = KEY_AGENT,
                                                .account_id = who->account_id,
                                                .name = STR("Robot"),
                                                .scopes = SCOPE(LOGS_READ),
                                                .ttl_s = ttl_s},
                          &key));
    return key;
}

static struct key_issued bound(struct tx *tx, const struct principal *who, const struct id *building,
                               const struct id *member)
{
    struct key_issued key;
    assert_none(key_issue(tx,
                          &(struct key_options){.kind = KEY_AGENT,
                                                .account_id = who->account_id,
                                                .building_id = *building,
                                                .member_id = member ? *member : (struct id){{0}},
                                                .name = STR("Child"),
                                                .scopes = SCOPE(ACCOUNT_READ),
                                                .ttl_s = 3600},
                          &key));
    return key;
}

/* ---- authentication ---- */

/* KEY-13 */
static void test_an_agent_key_authenticates_its_principal(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    struct key_issued key = agent(tx, &parent, 60);
    assert_memory_equal(key.text, "svc_agent_", 10);
    assert_int_equal(strlen(key.text), 10 + 43);
    assert_none(authenticate(tx, &key, &who));
    assert_id(who.key_id, key.id);
    assert_id(who.account_id, parent.account_id);
    assert_id(who.primary_id, parent.primary_id);
    assert_false(id_given(&who.building_id));
    assert_false(id_given(&who.member_id));
    assert_false(who.web_session);
    assert_false(who.subscribed);
    assert_int_equal(who.scopes, SCOPE(LOGS_READ));
    assert_int_equal(who.expires_at_us, tx->now_us + 60 * US_PER_S);
    assert_int_equal(who.last_used_us, 0);
}

static void test_unknown_expired_and_revoked_keys_are_invalid(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    struct key_issued expiring = agent(tx, &parent, 60), revoked = agent(tx, &parent, 60);
    struct key_issued unknown = {.text = "svc_agent_0000000000000000000000000000000000000000000"};
    assert_error(authenticate(tx, &unknown, &who), ERR_INVALID_KEY);
    assert_none(key_revoke(tx, &parent.account_id, &revoked.id));
    assert_error(authenticate(tx, &revoked, &who), ERR_INVALID_KEY);
    tx->now_us += 60 * US_PER_S - 1;
    assert_none(authenticate(tx, &expiring, &who));
    tx->now_us += 1;
    assert_error(authenticate(tx, &expiring, &who), ERR_INVALID_KEY);
}

/* HTTP-29 */
static void test_a_key_whose_account_or_building_is_deleted_needs_authentication(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    struct key_issued of_account = agent(tx, &parent, 60);
    struct key_issued of_building = bound(tx, &parent, &parent.primary_id, NULL);
    assert_none(authenticate(tx, &of_building, &who));
    assert_id(who.building_id, parent.primary_id);
    tx_sql(tx, "DELETE FROM building");
    assert_error(authenticate(tx, &of_building, &who), ERR_AUTHENTICATION_REQUIRED);
    tx_sql(tx, "DELETE FROM account");
    assert_error(authenticate(tx, &of_account, &who), ERR_AUTHENTICATION_REQUIRED);
}

static void test_buildings_are_counted_and_a_subscription_shows_while_active(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    struct key_issued key = agent(tx, &parent, 60);
    tx_sql(tx, "INSERT INTO building (account_id, id, created_at, is_primary, label) "
               "SELECT id, 'ffffffffffffffffffffffff', 1, 0, 'Annex' FROM account");
    tx_sql(tx, "UPDATE account SET subscription_status = 'active', plan = 'weekly'");
    assert_none(authenticate(tx, &key, &who));
    assert_int_equal(who.building_count, 2);
    assert_true(who.subscribed);
    assert_id(who.primary_id, parent.primary_id);
    tx_sql(tx, "UPDATE account SET subscription_status = 'past_due'");
    assert_none(authenticate(tx, &key, &who));
    assert_false(who.subscribed);
}

/* ACCOUNT-10 */
static void test_a_removed_members_key_is_revoked(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    struct id member;
    assert_none(member_create(
        tx, &(struct member){.building_id = parent.primary_id, .name = STR("Guest"), .email = STR("guest@example.com")},
        &member));
    struct key_issued key = bound(tx, &parent, &parent.primary_id, &member);
    assert_none(authenticate(tx, &key, &who));
    assert_id(who.member_id, member);
    assert_none(member_remove(tx, &member));
    assert_error(authenticate(tx, &key, &who), ERR_INVALID_KEY);
    assert_error(member_remove(tx, &member), ERR_NOT_FOUND);
}

static struct key_issued session_of(struct tx *tx, const struct member *m)
{
    struct key_issued key;
    struct key_options options = session_key(&m->account_id);
    options.building_id = m->building_id;
    options.member_id = m->id;
    options.name = m->name;
    options.scopes = member_scopes(m->role);
    assert_none(key_issue(tx, &options, &key));
    return key;
}

static bool listens(struct tx *tx, const struct id *account, const struct id *key)
{
    bool lives;
    assert_none(key_lives(tx, account, key, &lives));
    return lives;
}

/* ACCOUNT-43 */
static void test_a_members_role_and_name_hold_at_once(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    struct member m = {.building_id = parent.primary_id,
                       .account_id = parent.account_id,
                       .name = STR("Guest"),
                       .email = STR("guest@example.com")};
    assert_none(member_create(tx, &m, &m.id));
    struct key_issued session = session_of(tx, &m), key = bound(tx, &parent, &parent.primary_id, &m.id);
    struct str name;
    assert_true(listens(tx, &parent.account_id, &session.id));
    m.role = MEMBER_MANAGER;
    m.name = STR("Ana");
    assert_none(member_change(tx, &m));
    assert_none(authenticate(tx, &session, &who));
    assert_int_equal(who.scopes, member_scopes(MEMBER_MANAGER));
    assert_false(listens(tx, &parent.account_id, &session.id));
    assert_none(key_name(tx, &parent.account_id, &session.id, &name));
    assert_str(name, "Ana");
    m.role = MEMBER_RESIDENT;
    assert_none(member_change(tx, &m));
    assert_none(authenticate(tx, &session, &who));
    assert_int_equal(who.scopes, member_scopes(MEMBER_RESIDENT));
    assert_none(authenticate(tx, &key, &who)); /* which gets no scope, nor the name */
    assert_int_equal(who.scopes, SCOPE(ACCOUNT_READ));
    assert_none(key_name(tx, &parent.account_id, &key.id, &name));
    assert_str(name, "Child");
}

static void test_an_agents_key_loses_what_the_members_role_lacks(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    struct member m = {.building_id = parent.primary_id,
                       .account_id = parent.account_id,
                       .name = STR("Guest"),
                       .email = STR("guest@example.com")};
    struct key_issued key;
    assert_none(member_create(tx, &m, &m.id));
    assert_none(key_issue(tx,
                          &(struct key_options){.kind = KEY_AGENT,
                                                .account_id = m.account_id,
                                                .building_id = m.building_id,
                                                .member_id = m.id,
                                                .name = STR("Robot"),
                                                .scopes = SCOPE(LOGS_READ) | SCOPE(CALLS_LISTEN),
                                                .ttl_s = 3600},
                          &key));
    m.role = MEMBER_MANAGER;
    assert_none(member_change(tx, &m));
    assert_none(authenticate(tx, &key, &who));
    assert_int_equal(who.scopes, SCOPE(LOGS_READ));
    assert_false(listens(tx, &m.account_id, &key.id));
}

/* ---- scopes ---- */

/* CALL-32, KEY-14 */
static void test_scopes_default_to_four(struct tx *tx)
{
    uint32_t scopes;
    assert_none(key_scopes(tx, &key_scopes_current, (struct val){0}, UINT32_MAX, &scopes));
    assert_int_equal(scopes, SCOPE(ACCOUNT_READ) | SCOPE(ACCESS_READ) | SCOPE(ACCESS_WRITE) | SCOPE(LOGS_READ));
}

/* KEY-14 */
static void test_scopes_that_cannot_be_issued_are_refused(struct tx *tx)
{
    struct val list[2] = {v_str(STR("logs:read")), v_str(STR("keys:write"))};
    uint32_t scopes = 77;
    assert_error(key_scopes(tx, &key_scopes_current, v_list(list, 2), UINT32_MAX, &scopes), ERR_INVALID_KEY_OPTIONS);
    assert_non_null(strstr(tx->why.p, "keys:write"));
    list[1] = v_str(STR("logs:read"));
    assert_error(key_scopes(tx, &key_scopes_current, v_list(list, 2), UINT32_MAX, &scopes), ERR_INVALID_KEY_OPTIONS);
    list[1] = v_str(STR("owner"));
    assert_error(key_scopes(tx, &key_scopes_current, v_list(list, 2), UINT32_MAX, &scopes), ERR_INVALID_KEY_OPTIONS);
    assert_error(key_scopes(tx, &key_scopes_current, v_list(list, 0), UINT32_MAX, &scopes), ERR_INVALID_KEY_OPTIONS);
    list[1] = v_str(STR("billing:write"));
    assert_error(key_scopes(tx, &key_scopes_current, v_list(list, 2), SCOPE(LOGS_READ), &scopes),
                 ERR_INSUFFICIENT_SCOPE);
    assert_int_equal(scopes, 77);
    assert_none(key_scopes(tx, &key_scopes_current, v_list(list, 2), UINT32_MAX, &scopes));
    assert_int_equal(scopes, SCOPE(LOGS_READ) | SCOPE(BILLING_WRITE));
}

static void test_the_earlier_revision_has_one_more_scope(struct tx *tx)
{
    const uint32_t webhooks = SCOPE(WEBHOOKS_WRITE);
    const struct val list[] = {v_str(STR("webhooks:write"))};
    uint32_t scopes = 77;
    assert_int_equal(SCOPE_CURRENT & webhooks, 0);
    assert_int_equal(key_scopes_named(STR("webhooks:write logs:read")), SCOPE(LOGS_READ));
    assert_error(key_scopes(tx, &key_scopes_current, v_list(list, 1), UINT32_MAX, &scopes), ERR_INVALID_KEY_OPTIONS);
    assert_error(key_scopes(tx, &key_scopes_earlier, v_list(list, 1), SCOPE_CURRENT, &scopes), ERR_INSUFFICIENT_SCOPE);
    assert_int_equal(scopes, 77);
    assert_none(key_scopes(tx, &key_scopes_earlier, v_list(list, 1), UINT32_MAX, &scopes));
    assert_int_equal(scopes, webhooks);
    assert_none(key_scopes(tx, &key_scopes_earlier, (struct val){0}, UINT32_MAX, &scopes));
    assert_int_equal(scopes, key_scopes_current.standard | webhooks);
}

/* A stored session has no scope that a program before does not know; a key that is assumed has the same as one read. */
static void test_a_session_has_the_scopes_of_its_accounts_revision(struct tx *tx)
{
    struct key_issued session = sign_in(tx, OWNER);
    struct principal who;
    assert_int_equal(session.scopes, SCOPE_CURRENT);
    assert_none(authenticate(tx, &session, &who));
    assert_int_equal(who.scopes, SCOPE_CURRENT);
    assert_none(account_set_revision(tx, &who.account_id, true));
    assert_none(authenticate(tx, &session, &who));
    assert_int_equal(who.scopes, SCOPE_CURRENT | SCOPE(WEBHOOKS_WRITE));
    struct key_issued robot = agent(tx, &who, 60);
    assert_none(authenticate(tx, &robot, &who));
    assert_int_equal(who.scopes, SCOPE(LOGS_READ));
}

/* ---- owner's credentials ---- */

static enum err own(struct tx *tx, const struct principal *who, struct key_issued *ret)
{
    return key_issue(
        tx, &(struct key_options){.kind = KEY_OWNER, .account_id = who->account_id, .name = STR("Owner key")}, ret);
}

static void test_an_owners_key_has_no_end_and_every_scope_that_its_revision_gives(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    struct key_issued key;
    assert_none(account_set_revision(tx, &parent.account_id, true));
    assert_none(own(tx, &parent, &key));
    assert_memory_equal(key.text, "svc_owner_", 10);
    tx->now_us += 1000LL * 365 * 86400 * US_PER_S / 10;
    assert_none(authenticate(tx, &key, &who));
    assert_int_equal(who.scopes, ((1u << SCOPE_COUNT) - 1) & ~(SCOPE(KEYS_WRITE) | SCOPE(CALLS_LISTEN)));
    assert_int_equal(who.expires_at_us, INT64_MAX);
    assert_false(who.web_session);
    assert_false(id_given(&who.building_id));
}

/* EARLIER-13 */
static void test_owners_keys_are_five_and_apart_from_agents(struct tx *tx)
{
    struct principal parent = owner(tx);
    struct key_issued key;
    assert_none(account_set_revision(tx, &parent.account_id, true));
    for (int i = 0; i < KEY_OWNERS_MAX; i++)
        assert_none(own(tx, &parent, &key));
    struct key_issued last = key;
    assert_error(own(tx, &parent, &key), ERR_KEY_LIMIT);
    for (int i = 0; i < KEY_ACTIVE_MAX; i++)
        agent(tx, &parent, 60);
    assert_error(key_check_limit(tx, &parent.account_id), ERR_KEY_LIMIT);
    assert_none(key_revoke(tx, &parent.account_id, &last.id));
    assert_none(own(tx, &parent, &key));
}

/* A key that a program before has left is not valid either. */
static void test_owners_keys_are_valid_under_the_earlier_revision_alone(struct tx *tx)
{
    struct principal parent = owner(tx), who;
    struct key_issued left, key;
    assert_none(own(tx, &parent, &left));
    assert_error(authenticate(tx, &left, &who), ERR_INVALID_KEY);
    assert_none(account_set_revision(tx, &parent.account_id, true));
    assert_none(own(tx, &parent, &key));
    struct key_issued robot = agent(tx, &parent, 60);
    assert_none(authenticate(tx, &key, &who));
    assert_none(account_set_revision(tx, &parent.account_id, false));
    assert_none(account_set_revision(tx, &parent.account_id, true));
    assert_error(authenticate(tx, &key, &who), ERR_INVALID_KEY);
    assert_error(authenticate(tx, &left, &who), ERR_INVALID_KEY);
    assert_none(authenticate(tx, &robot, &who));
}

static void test_a_revoked_owners_key_is_purged(struct tx *tx)
{
    struct principal parent = owner(tx);
    struct key_issued key;
    int64_t count;
    assert_none(own(tx, &parent, &key));
    assert_none(key_purge(tx, tx->now_us + US_PER_S, 100, &count));
    assert_int_equal(count, 0);
    assert_none(key_revoke(tx, &parent.account_id, &key.id));
    assert_none(key_purge(tx, tx->now_us + US_PER_S, 100, &count));
    assert_int_equal(count, 1);
}

/* ---- keys of an account ---- */

static enum err one_more(struct tx *tx, const struct principal *who)
{
    struct key_issued key;
    return key_issue(
        tx, &(struct key_options){.kind = KEY_AGENT, .account_id = who->account_id, .name = STR("Robot"), .ttl_s = 60},
        &key);
}

static void test_twenty_agent_keys_may_be_active(struct tx *tx)
{
    struct principal who = owner(tx);
    struct key_issued first = agent(tx, &who, 30);
    for (int i = 1; i < KEY_ACTIVE_MAX; i++)
        assert_none(one_more(tx, &who));
    assert_error(one_more(tx, &who), ERR_KEY_LIMIT);
    sign_in(tx, OWNER); /* sessions do not count */
    assert_none(key_revoke(tx, &who.account_id, &first.id));
    assert_none(one_more(tx, &who));
    assert_error(one_more(tx, &who), ERR_KEY_LIMIT);
    tx->now_us += 60 * US_PER_S;
    assert_none(one_more(tx, &who));
}

static void test_the_list_shows_keys_that_are_not_revoked_newest_first(struct tx *tx)
{
    struct principal who = owner(tx);
    struct key_issued revoked = agent(tx, &who, 60), expired = agent(tx, &who, 30);
    tx->now_us += 40 * US_PER_S;
    struct key_issued newest = agent(tx, &who, 60);
    assert_none(key_revoke(tx, &who.account_id, &revoked.id));
    const struct key_entry *keys;
    size_t count;
    assert_none(key_list(tx, &who.account_id, &keys, &count));
    assert_int_equal(count, 3);
    assert_id(keys[0].id, newest.id);
    assert_id(keys[1].id, expired.id);
    assert_id(keys[2].id, who.key_id);
    assert_int_equal(keys[2].kind, KEY_WEB_SESSION);
    assert_str(keys[0].name, "Robot");
    assert_int_equal(keys[0].scopes, SCOPE(LOGS_READ));
    assert_int_equal(keys[0].expires_at_us, newest.expires_at_us);
}

static void test_a_long_list_is_complete(struct tx *tx)
{
    struct principal who = owner(tx);
    for (int i = 0; i < 40; i++)
        sign_in(tx, OWNER);
    const struct key_entry *keys;
    size_t count;
    assert_none(key_list(tx, &who.account_id, &keys, &count));
    assert_int_equal(count, 41);
    assert_id(keys[40].id, who.key_id);
}

static void test_a_key_is_revoked_once_and_only_by_its_account(struct tx *tx)
{
    struct principal who = owner(tx), stranger, found;
    struct key_issued other = sign_in(tx, STR("other@example.com")), key = agent(tx, &who, 60);
    assert_none(authenticate(tx, &other, &stranger));
    assert_error(key_revoke(tx, &stranger.account_id, &key.id), ERR_NOT_FOUND);
    assert_none(authenticate(tx, &key, &found));
    assert_none(key_revoke(tx, &who.account_id, &key.id));
    assert_error(key_revoke(tx, &who.account_id, &key.id), ERR_NOT_FOUND);
}

static void test_revoking_the_others_counts_the_active_ones(struct tx *tx)
{
    struct principal who = owner(tx), found;
    struct key_issued expired = agent(tx, &who, 10), active = agent(tx, &who, 60);
    struct key_issued stranger = sign_in(tx, STR("other@example.com"));
    int64_t count;
    tx->now_us += 10 * US_PER_S;
    assert_none(key_revoke_others(tx, &who.account_id, &who.key_id, &count));
    assert_int_equal(count, 1);
    assert_error(authenticate(tx, &active, &found), ERR_INVALID_KEY);
    assert_error(authenticate(tx, &expired, &found), ERR_INVALID_KEY);
    assert_none(authenticate(tx, &stranger, &found));
    assert_none(key_revoke_others(tx, &who.account_id, &who.key_id, &count));
    assert_int_equal(count, 0);
}

static void test_use_is_recorded_to_the_minute_and_never_goes_back(struct tx *tx)
{
    struct principal who = owner(tx);
    struct key_issued key = agent(tx, &who, 60);
    struct key_use use = {who.account_id, key.id, TX_NOW + 59 * US_PER_S};
    assert_none(key_touch(tx, &use, 1));
    assert_none(authenticate(tx, &key, &who));
    assert_int_equal(who.last_used_us, TX_NOW);
    use.at_us = TX_NOW - 5 * MINUTES;
    assert_none(key_touch(tx, &use, 1));
    assert_none(authenticate(tx, &key, &who));
    assert_int_equal(who.last_used_us, TX_NOW);
}

/* SERVICE-32 */
static void test_the_purge_deletes_keys_by_their_expiry(struct tx *tx)
{
    struct principal who = owner(tx);
    struct key_issued key = agent(tx, &who, 60);
    int64_t count;
    assert_none(key_purge(tx, key.expires_at_us, 10, &count));
    assert_int_equal(count, 0);
    assert_none(key_purge(tx, key.expires_at_us + 1, 10, &count));
    assert_int_equal(count, 1);
    assert_error(key_revoke(tx, &who.account_id, &key.id), ERR_NOT_FOUND);
}

#define TESTS(x)                                                                                                       \
    x(test_an_agent_key_authenticates_its_principal) x(test_unknown_expired_and_revoked_keys_are_invalid)              \
        x(test_a_key_whose_account_or_building_is_deleted_needs_authentication) x(                                     \
            test_buildings_are_counted_and_a_subscription_shows_while_active) x(test_a_removed_members_key_is_revoked) \
            x(test_a_members_role_and_name_hold_at_once) x(test_an_agents_key_loses_what_the_members_role_lacks)       \
                x(test_scopes_default_to_four) x(test_scopes_that_cannot_be_issued_are_refused)                        \
                    x(test_the_earlier_revision_has_one_more_scope)                                                    \
                        x(test_a_session_has_the_scopes_of_its_accounts_revision)                                      \
                            x(test_an_owners_key_has_no_end_and_every_scope_that_its_revision_gives)                   \
                                x(test_owners_keys_are_five_and_apart_from_agents)                                     \
                                    x(test_owners_keys_are_valid_under_the_earlier_revision_alone)                     \
                                        x(test_a_revoked_owners_key_is_purged) x(test_twenty_agent_keys_may_be_active) \
                                            x(test_the_list_shows_keys_that_are_not_revoked_newest_first)              \
                                                x(test_a_long_list_is_complete)                                        \
                                                    x(test_a_key_is_revoked_once_and_only_by_its_account)              \
                                                        x(test_revoking_the_others_counts_the_active_ones)             \
                                                            x(test_use_is_recorded_to_the_minute_and_never_goes_back)  \
                                                                x(test_the_purge_deletes_keys_by_their_expiry)
TX_RUN(TESTS)
