/* A person's places, and the switch of a browser between them (KEY-34, KEY-35). */
#include "tx_fixture.h"

#include "domain/browser.h"
#include "domain/place.h"

#define ANA STR("ana@example.com")

struct signed_in {
    struct browser_issued issued;
    unsigned char hash[SHA256_LEN];
    struct principal who;
};

static struct principal owner_of(struct tx *tx, struct str email)
{
    struct key_issued issued;
    struct principal who;
    struct id account;
    assert_none(account_ensure(tx, email, &account));
    const struct key_options key = session_key(&account);
    assert_none(key_issue(tx, &key, &issued));
    assert_none(authenticate(tx, &issued, &who));
    return who;
}

/* In the building of the account, whose owner is `who`. */
static struct member joined(struct tx *tx, const struct principal *who, enum member_role role)
{
    struct member m = {
        .building_id = who->primary_id, .account_id = who->account_id, .name = STR("Ana"), .email = ANA, .role = role};
    assert_none(member_create(tx, &m, &m.id));
    return m;
}

static enum err ask(struct tx *tx, struct signed_in *b)
{
    return key_authenticate(tx, b->hash, &b->who);
}

static struct signed_in browser_of(struct tx *tx, const struct key_options *key)
{
    struct signed_in b;
    assert_none(browser_issue(tx, key, STR_NONE, true, &b.issued));
    browser_hash(str_z(b.issued.cookie), b.hash);
    assert_none(ask(tx, &b));
    return b;
}

static enum err enter(struct tx *tx, struct signed_in *b, const struct id *building)
{
    struct key_options key;
    enum err e = place_switch(tx, &b->who, building, &key);
    if (!e)
        e = browser_switch(tx, b->hash, &b->who.key_id, &key);
    return e ? e : ask(tx, b);
}

static void test_a_browser_becomes_the_owners_or_a_members_by_the_same_cookie(struct tx *tx)
{
    const struct principal other = owner_of(tx, OWNER);
    const struct member m = joined(tx, &other, MEMBER_MANAGER);
    const struct key_options key = session_key_of_member(&m);
    struct signed_in b = browser_of(tx, &key);
    const struct principal first = b.who, own = owner_of(tx, ANA);
    tx->now_us += MINUTES;
    assert_none(enter(tx, &b, &own.primary_id));
    assert_id(b.who.account_id, own.account_id);
    assert_false(id_given(&b.who.member_id) || id_given(&b.who.building_id));
    assert_int_equal(b.who.scopes, own.scopes);
    assert_int_equal(b.who.expires_at_us, first.expires_at_us);
    assert_string_not_equal(b.who.key_id.text, first.key_id.text);
    assert_none(enter(tx, &b, &other.primary_id));
    assert_id(b.who.account_id, other.account_id);
    assert_id(b.who.building_id, other.primary_id);
    assert_id(b.who.member_id, m.id);
    assert_int_equal(b.who.scopes, member_scopes(MEMBER_MANAGER));
    assert_int_equal(b.who.expires_at_us, first.expires_at_us);
}

static void test_a_place_of_another_address_is_not_found(struct tx *tx)
{
    const struct principal other = owner_of(tx, OWNER), third = owner_of(tx, STR("third@example.com"));
    const struct member m = joined(tx, &other, MEMBER_RESIDENT);
    const struct key_options key = session_key_of_member(&m), theirs = session_key(&other.account_id);
    struct signed_in b = browser_of(tx, &key), owners = browser_of(tx, &theirs);
    const struct principal before = b.who, own = owner_of(tx, ANA);
    assert_error(enter(tx, &b, &third.primary_id), ERR_NOT_FOUND);
    assert_error(enter(tx, &owners, &own.primary_id), ERR_NOT_FOUND);
    assert_none(ask(tx, &b));
    assert_id(b.who.key_id, before.key_id);
}

static void test_a_removed_member_switches_nowhere(struct tx *tx)
{
    const struct principal other = owner_of(tx, OWNER), own = owner_of(tx, ANA);
    const struct member m = joined(tx, &other, MEMBER_RESIDENT);
    const struct key_options key = session_key_of_member(&m), mine = session_key(&own.account_id);
    struct signed_in b = browser_of(tx, &key), at_home = browser_of(tx, &mine);
    assert_none(member_remove(tx, &m.id));
    assert_error(enter(tx, &b, &own.primary_id), ERR_INVALID_KEY);
    assert_error(enter(tx, &at_home, &other.primary_id), ERR_NOT_FOUND);
    /* Nor does a request that found its key before. */
    assert_error(browser_switch(tx, b.hash, &b.who.key_id, &mine), ERR_INVALID_KEY);
    assert_error(ask(tx, &b), ERR_INVALID_KEY);
}

/* ACCOUNT-44 */
static void test_an_invitation_that_has_ended_is_no_place(struct tx *tx)
{
    const struct principal other = owner_of(tx, OWNER), own = owner_of(tx, ANA);
    struct member m = {
        .building_id = other.primary_id, .account_id = other.account_id, .name = STR("Ana"), .email = ANA};
    struct places places;
    assert_none(member_invite(tx, &m));
    const struct key_options mine = session_key(&own.account_id);
    tx->now_us = m.invited_until_us;
    struct signed_in b = browser_of(tx, &mine);
    assert_none(place_list(tx, &b.who, &places));
    assert_int_equal(places.member_count, 0);
    assert_error(enter(tx, &b, &other.primary_id), ERR_NOT_FOUND);
    assert_none(member_remove(tx, &m.id));
    assert_none(member_invite(tx, &m));
    assert_none(enter(tx, &b, &other.primary_id));
    tx->now_us = m.invited_until_us;
    assert_none(place_list(tx, &b.who, &places));
    assert_int_equal(places.member_count, 1);
}

static void test_two_switches_at_once_do_not_both_happen(struct tx *tx)
{
    const struct principal other = owner_of(tx, OWNER), own = owner_of(tx, ANA);
    joined(tx, &other, MEMBER_RESIDENT);
    const struct key_options mine = session_key(&own.account_id);
    struct signed_in b = browser_of(tx, &mine);
    const struct id was = b.who.key_id;
    assert_none(enter(tx, &b, &other.primary_id));
    assert_error(browser_switch(tx, b.hash, &was, &mine), ERR_INVALID_KEY);
    assert_none(ask(tx, &b));
    assert_id(b.who.account_id, other.account_id);
}

/* The engine's other functions are as before. */
static const struct db_assumption *assumed;

static void note_assumption(struct db *db, const struct db_assumption *a)
{
    (void)db;
    assumed = a;
}

static bool still_known(struct tx *tx, const struct signed_in *b, const struct principal *known)
{
    struct key_assumption a = {.given = true, .who = *known};
    memcpy(a.hash, b->hash, sizeof a.hash);
    const struct engine *engine = tx->db->engine;
    struct engine noting = *engine;
    noting.assume = note_assumption;
    tx->db->engine = &noting;
    key_assume(tx, &a);
    tx->db->engine = engine;
    CURSOR c;
    assert_none(db_one(tx->db, SQL(key_confirm, .hash = str_bytes(b->hash, SHA256_LEN)), &c));
    return assumed->holds(assumed->context, &c);
}

/* Two memberships of the same role differ in no other column that is confirmed. */
static void test_a_remembered_principal_does_not_survive_a_switch(struct tx *tx)
{
    const struct principal one = owner_of(tx, OWNER), two = owner_of(tx, STR("third@example.com"));
    const struct member m = joined(tx, &one, MEMBER_RESIDENT);
    joined(tx, &two, MEMBER_RESIDENT);
    const struct key_options key = session_key_of_member(&m);
    struct signed_in b = browser_of(tx, &key);
    const struct principal before = b.who;
    assert_true(still_known(tx, &b, &before));
    assert_none(enter(tx, &b, &two.primary_id));
    assert_false(still_known(tx, &b, &before));
    assert_true(still_known(tx, &b, &b.who));
}

static void test_places_are_those_of_the_address(struct tx *tx)
{
    const struct principal other = owner_of(tx, OWNER);
    const struct member m = joined(tx, &other, MEMBER_MANAGER);
    const struct key_options key = session_key_of_member(&m);
    struct signed_in b = browser_of(tx, &key);
    struct places places;
    struct key_options own;
    assert_none(place_list(tx, &b.who, &places));
    assert_true(places.can_create);
    assert_int_equal(places.building_count, 0);
    assert_int_equal(places.member_count, 1);
    assert_id(places.members[0].id, m.id);
    assert_str(places.members[0].building_label, "Home");
    assert_none(place_own(tx, &b.who, &own));
    assert_none(browser_switch(tx, b.hash, &b.who.key_id, &own));
    assert_none(ask(tx, &b));
    assert_none(place_list(tx, &b.who, &places));
    assert_false(places.can_create);
    assert_int_equal(places.building_count, 1);
    assert_int_equal(places.member_count, 1);
}

static void test_only_listed_addresses_can_have_an_account(struct tx *tx)
{
    const struct principal other = owner_of(tx, OWNER);
    const struct member m = joined(tx, &other, MEMBER_RESIDENT);
    const struct key_options key = session_key_of_member(&m);
    struct signed_in b = browser_of(tx, &key);
    struct places places;
    struct key_options own;
    struct config listed = *tx->config;
    const struct config *config = tx->config;
    listed.listed = true;
    tx->config = &listed;
    assert_none(place_list(tx, &b.who, &places));
    assert_false(places.can_create);
    assert_error(place_own(tx, &b.who, &own), ERR_NOT_FOUND);
    tx->config = config;
}

static void test_all_sessions_of_a_person_end_wherever_they_are(struct tx *tx)
{
    const struct principal other = owner_of(tx, OWNER), own = owner_of(tx, ANA);
    const struct member m = joined(tx, &other, MEMBER_RESIDENT);
    const struct key_options visit = session_key_of_member(&m), mine = session_key(&own.account_id),
                             owners = session_key(&other.account_id);
    struct signed_in away = browser_of(tx, &visit), home = browser_of(tx, &mine), host = browser_of(tx, &owners);
    assert_none(place_end_visits(tx, &home.who));
    assert_error(ask(tx, &away), ERR_INVALID_KEY);
    assert_none(ask(tx, &home));
    away = browser_of(tx, &visit);
    assert_none(place_end_sessions(tx, &away.who));
    assert_error(ask(tx, &away), ERR_INVALID_KEY);
    assert_error(ask(tx, &home), ERR_INVALID_KEY);
    assert_none(ask(tx, &host));
}

#define TESTS(x)                                                                                                       \
    x(test_a_browser_becomes_the_owners_or_a_members_by_the_same_cookie)                                               \
        x(test_a_place_of_another_address_is_not_found) x(test_a_removed_member_switches_nowhere)                      \
            x(test_an_invitation_that_has_ended_is_no_place) x(test_two_switches_at_once_do_not_both_happen)           \
                x(test_a_remembered_principal_does_not_survive_a_switch) x(test_places_are_those_of_the_address)       \
                    x(test_only_listed_addresses_can_have_an_account)                                                  \
                        x(test_all_sessions_of_a_person_end_wherever_they_are)
TX_RUN(TESTS)
