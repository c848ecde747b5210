#include "tx_fixture.h"

#include "domain/member.h"

static const char *add_annex = "INSERT INTO building (account_id, id, created_at, is_primary, label, city, country) "
                               "SELECT id, 'ffffffffffffffffffffffff', 1, 0, 'Annex', 'Reno', 'US' FROM account;";
static const struct id annex = {"ffffffffffffffffffffffff"};

static void test_an_account_is_created_once(struct tx *tx)
{
    struct id a, b, c;
    assert_error(account_find(tx, OWNER, &a), ERR_ACCOUNT_NOT_FOUND);
    assert_none(account_ensure(tx, OWNER, &a));
    assert_none(account_ensure(tx, OWNER, &b));
    assert_none(account_find(tx, OWNER, &c));
    assert_id(a, b);
    assert_id(a, c);
    const struct building *list;
    size_t count;
    assert_none(building_list(tx, &a, &list, &count));
    assert_int_equal(count, 1);
}

static void test_a_missing_account_is_not_found(struct tx *tx)
{
    struct account a;
    assert_error(account_get(tx, &annex, &a), ERR_ACCOUNT_NOT_FOUND);
}

static void test_the_view_of_a_new_account_is_empty(struct tx *tx)
{
    struct principal who = owner(tx);
    struct account_view v;
    assert_none(account_view(tx, &who, &v));
    assert_true(str_eq(v.account.email, OWNER));
    assert_int_equal(v.account.created_us, TX_NOW);
    assert_int_equal(v.account.status, SUBSCRIPTION_NONE);
    assert_null(v.account.plan.p);
    assert_int_equal(v.building_count, 1);
    assert_false(v.selection_required);
    assert_int_equal(v.total_unlocks, 0);
    assert_int_equal(v.active_grants, 0);
    assert_int_equal(v.shared_users, 0);
}

/* One member in each building. */
static void add_grants(struct tx *tx, int number, const char *label, int enabled, int revoked)
{
    const char *const *bytes = tx->db->engine->word_bytes;
    tx_sql(tx,
           arena_printf(tx->arena,
                        "INSERT INTO access_grant (building, id, type, label, enabled, created_at, ends_at, revoked) "
                        "SELECT number, %s'%024d'%s, 0, '%s', %d, 1, 9, %d FROM grant_building",
                        bytes[0], number, bytes[1], label, enabled, revoked)
               .p);
}

static void add_usage(struct tx *tx)
{
    tx_sql(tx, add_annex);
    tx_sql(tx, "UPDATE building SET virtual_number = '+15550100000', unlock_count = 3 WHERE is_primary = 1;"
               "UPDATE building SET unlock_count = 4 WHERE is_primary = 0;"
               "INSERT INTO grant_building (id, number) SELECT id, 1 + is_primary FROM building;");
    add_grants(tx, 1, "enabled", 1, 0);
    add_grants(tx, 2, "disabled", 0, 0);
    add_grants(tx, 3, "revoked", 1, 1);
    tx_sql(tx, "INSERT INTO grant_count (building, enabled) SELECT number, 1 FROM grant_building");
}

static void test_the_parents_view_covers_all_buildings(struct tx *tx)
{
    struct principal who = owner(tx);
    struct account_view v;
    struct id member;
    add_usage(tx);
    who.building_count = 2;
    assert_none(member_create(
        tx, &(struct member){.building_id = who.primary_id, .name = STR("Guest"), .email = STR("guest@example.com")},
        &member));
    assert_none(account_view(tx, &who, &v));
    assert_int_equal(v.building_count, 2);
    assert_true(v.selection_required);
    assert_int_equal(v.total_unlocks, 7);
    assert_int_equal(v.active_grants, 2);
    assert_int_equal(v.shared_users, 2);
    assert_str(v.building.number, "+15550100000");
}

/* ACCOUNT-6 */
static void test_a_bound_keys_view_covers_its_building(struct tx *tx)
{
    struct principal who = owner(tx);
    struct account_view v;
    add_usage(tx);
    who.building_count = 2;
    who.building_id = annex;
    assert_none(account_view(tx, &who, &v));
    assert_int_equal(v.building_count, 1);
    assert_false(v.selection_required);
    assert_int_equal(v.total_unlocks, 4);
    assert_int_equal(v.active_grants, 1);
    assert_int_equal(v.shared_users, 0);
    assert_null(v.building.number.p);
}

static void test_buildings_are_found_only_by_their_account(struct tx *tx)
{
    struct principal who = owner(tx);
    struct building b;
    bool linked = false;
    tx_sql(tx, add_annex);
    assert_none(building_of(tx, &who.account_id, &annex, &linked));
    assert_true(linked);
    assert_none(building_of(tx, &who.account_id, &who.primary_id, &linked));
    assert_false(linked);
    assert_error(building_of(tx, &annex, &who.primary_id, &linked), ERR_BUILDING_NOT_FOUND);
    assert_error(building_get(tx, &annex, &who.primary_id, &b), ERR_BUILDING_NOT_FOUND);
}

static void test_buildings_are_listed_by_creation_time(struct tx *tx)
{
    struct principal who = owner(tx);
    const struct building *list;
    size_t count;
    tx_sql(tx, add_annex); /* created at time 1 */
    assert_none(building_list(tx, &who.account_id, &list, &count));
    assert_int_equal(count, 2);
    assert_id(list[0].id, annex);
    assert_true(list[0].has_address);
    assert_str(list[0].city, "Reno");
    assert_null(list[0].street.p);
    assert_id(list[1].id, who.primary_id);
    assert_false(list[1].has_address);
}

static void test_members_are_listed_with_their_building(struct tx *tx)
{
    struct principal who = owner(tx);
    struct id a, unknown = annex;
    const struct member *list;
    size_t count;
    assert_error(member_create(
                     tx, &(struct member){.building_id = unknown, .name = STR("A"), .email = STR("a@example.com")}, &a),
                 ERR_BUILDING_NOT_FOUND);
    assert_none(member_create(tx,
                              &(struct member){.building_id = who.primary_id,
                                               .name = STR("A"),
                                               .email = STR("a@example.com"),
                                               .phone = STR("+15551234567")},
                              &a));
    assert_none(member_list(tx, &list, &count));
    assert_int_equal(count, 1);
    assert_id(list[0].id, a);
    assert_id(list[0].building_id, who.primary_id);
    assert_str(list[0].email, "a@example.com");
    assert_str(list[0].phone, "+15551234567");
    assert_str(list[0].building_label, "Home");
    assert_none(member_remove(tx, &a));
    assert_none(member_list(tx, &list, &count));
    assert_int_equal(count, 0);
}

static struct member guest(const struct principal *who, int number)
{
    static char email[32];
    snprintf(email, sizeof email, "guest%d@example.com", number);
    return (struct member){
        .building_id = who->primary_id, .account_id = who->account_id, .name = STR("Guest"), .email = str_z(email)};
}

/* ACCOUNT-8 */
static void test_a_building_has_20_members_with_an_address_each(struct tx *tx)
{
    struct principal who = owner(tx);
    struct id id;
    struct member m;
    for (int i = 0; i < MEMBERS_MAX; i++) {
        m = guest(&who, i);
        assert_none(member_create(tx, &m, &id));
    }
    assert_error(member_create(tx, &m, &id), ERR_MEMBER_EXISTS);
    m = guest(&who, MEMBERS_MAX);
    assert_error(member_create(tx, &m, &id), ERR_MEMBER_LIMIT);
    assert_none(member_remove(tx, &id));
    assert_none(member_create(tx, &m, &id));
}

/* ACCOUNT-42 */
static void test_an_account_invites_ten_people_a_day(struct tx *tx)
{
    struct principal who = owner(tx);
    struct member m;
    for (int i = 0; i < INVITATIONS_MAX; i++) {
        m = guest(&who, i);
        assert_none(member_invite(tx, &m));
        assert_none(member_remove(tx, &m.id)); /* and the removed ones count */
    }
    assert_error(member_invite(tx, &m), ERR_RATE_LIMIT_EXCEEDED);
    assert_true(tx->retry_after_s > 0 && tx->retry_after_s <= 86400);
    tx->now_us += tx->retry_after_s * US_PER_S;
    assert_none(member_invite(tx, &m));
    struct account account;
    assert_none(account_get(tx, &who.account_id, &account));
    m.email = account.email;
    assert_error(member_invite(tx, &m), ERR_MEMBER_EXISTS);
}

static void test_members_of_another_building_are_not_listed(struct tx *tx)
{
    struct principal who = owner(tx);
    struct id id;
    const struct member *list;
    size_t count;
    struct member m = guest(&who, 0);
    m.role = MEMBER_MANAGER;
    m.language = STR("fr");
    assert_none(member_create(tx, &m, &id));
    assert_none(member_of_building(tx, &who.primary_id, &list, &count));
    assert_int_equal(count, 1);
    assert_id(list[0].id, id);
    assert_int_equal(list[0].role, MEMBER_MANAGER);
    assert_str(list[0].language, "fr");
    assert_none(member_of_building(tx, &annex, &list, &count));
    assert_int_equal(count, 0);
}

#define TESTS(x)                                                                                                       \
    x(test_an_account_is_created_once) x(test_a_missing_account_is_not_found)                                          \
        x(test_the_view_of_a_new_account_is_empty) x(test_the_parents_view_covers_all_buildings)                       \
            x(test_a_bound_keys_view_covers_its_building) x(test_buildings_are_found_only_by_their_account)            \
                x(test_buildings_are_listed_by_creation_time) x(test_members_are_listed_with_their_building)           \
                    x(test_a_building_has_20_members_with_an_address_each) x(test_an_account_invites_ten_people_a_day) \
                        x(test_members_of_another_building_are_not_listed)
TX_RUN(TESTS)
