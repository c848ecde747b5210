#include "tx_fixture.h"

#include "base/config_check.h"
#include "base/config_table.h"
#include "domain/settings.h"

static struct principal provisioned(struct tx *tx)
{
    struct principal who = owner(tx);
    tx_sql(tx, "UPDATE building SET virtual_number = '+15550100000'");
    return who;
}

static struct settings current(struct tx *tx, const struct principal *who)
{
    struct settings s;
    assert_none(settings_get(tx, &who->account_id, &who->primary_id, &s));
    return s;
}

static enum err save(struct tx *tx, const struct principal *who, bool linked, struct settings *s,
                     struct settings_patch p)
{
    p.door = door_unchanged;
    return settings_patch(tx, who, &who->primary_id, linked, s->version, &p, s);
}

static enum err save_door(struct tx *tx, const struct principal *who, struct settings *s, struct door_patch p)
{
    const struct settings_patch patch = {.door = p};
    return settings_patch(tx, who, &who->primary_id, false, s->version, &patch, s);
}

static void test_without_a_number_there_are_only_defaults(struct tx *tx)
{
    struct principal who = owner(tx);
    struct settings s = current(tx, &who);
    assert_null(s.number.p);
    assert_null(s.unlock_tone.p);
    assert_null(s.version.p);
    assert_str(s.greetings[GREETING_WELCOME], "Code?");
    assert_str(s.greetings[GREETING_FORWARDING], "Wait.");
    s.version = STR("0");
    assert_error(save(tx, &who, false, &s, (struct settings_patch){.unlock_tone = STR("9")}), ERR_NUMBER_NOT_FOUND);
}

/* BUILDING-40 */
static void test_given_settings_change_and_the_others_stay(struct tx *tx)
{
    struct principal who = provisioned(tx);
    struct settings s = current(tx, &who);
    struct str first = s.version;
    assert_int_equal(first.n, SETTINGS_VERSION_LEN);
    assert_none(save(tx, &who, false, &s, (struct settings_patch){.unlock_tone = STR("9#")}));
    assert_str(s.unlock_tone, "9#");
    assert_str(s.greetings[GREETING_DENIED], "Wrong.");
    assert_false(str_eq(s.version, first));
    assert_none(save(tx, &who, false, &s, (struct settings_patch){.greetings = {[GREETING_DENIED] = STR(" No.\n")}}));
    struct settings again = current(tx, &who);
    assert_str(again.unlock_tone, "9#");
    assert_str(again.greetings[GREETING_DENIED], " No.\n");
    assert_str(again.greetings[GREETING_GRANTED], "Welcome.");
    assert_true(str_eq(again.version, s.version));
}

/* BUILDING-34, BUILDING-40 */
static void test_the_release_form_has_defaults_and_changes_by_member(struct tx *tx)
{
    struct principal who = provisioned(tx);
    struct settings s = current(tx, &who);
    struct door_patch p = door_unchanged;
    assert_int_equal(s.release.repeat, 1);
    assert_int_equal(s.release.delay_ms, 0);
    assert_false(s.release.before_greeting);
    p.gap_ms = 500;
    p.mode = RELEASE_INFO;
    assert_none(save_door(tx, &who, &s, p));
    p = door_unchanged;
    p.before_greeting = 1;
    assert_none(save_door(tx, &who, &s, p));
    s = current(tx, &who);
    assert_int_equal(s.release.gap_ms, 500);
    assert_int_equal(s.release.mode, RELEASE_INFO);
    assert_true(s.release.before_greeting);
    assert_int_equal(s.release.repeat, 1);
}

/* BUILDING-36 */
static void test_a_ring_group_asks_to_accept_by_default(struct tx *tx)
{
    struct principal who = provisioned(tx);
    struct settings s = current(tx, &who);
    struct door_patch p = door_unchanged;
    assert_int_equal(s.ring.count, 0);
    assert_int_equal(s.ring.seconds, RING_SECONDS);
    assert_false(s.ring.accept);
    p.numbers = STR("+15551112222 +15553334444");
    assert_none(save_door(tx, &who, &s, p));
    assert_int_equal(s.ring.count, 2);
    assert_str(s.ring.numbers[1], "+15553334444");
    assert_true(s.ring.accept);
    p = door_unchanged;
    p.accept = 0;
    assert_none(save_door(tx, &who, &s, p));
    assert_int_equal(s.ring.count, 2);
    assert_false(s.ring.accept);
    p = door_unchanged;
    p.numbers = STR("");
    assert_none(save_door(tx, &who, &s, p));
    assert_int_equal(s.ring.count, 0);
}

/* BUILDING-37 */
static void test_a_building_does_not_ring_its_own_number(struct tx *tx)
{
    struct principal who = provisioned(tx);
    struct settings s = current(tx, &who);
    struct door_patch p = door_unchanged;
    p.numbers = STR("+15550100000");
    assert_error(save_door(tx, &who, &s, p), ERR_INVALID_SETTINGS);
}

static void test_an_empty_greeting_is_kept_and_is_not_the_default(struct tx *tx)
{
    struct principal who = provisioned(tx);
    struct settings s = current(tx, &who);
    struct str with_default = s.version;
    assert_none(save(tx, &who, false, &s, (struct settings_patch){.greetings = {[GREETING_WELCOME] = STR("")}}));
    assert_non_null(s.greetings[GREETING_WELCOME].p);
    assert_int_equal(s.greetings[GREETING_WELCOME].n, 0);
    assert_int_equal(current(tx, &who).greetings[GREETING_WELCOME].n, 0);
    assert_false(str_eq(s.version, with_default));
}

static void test_a_save_that_changes_nothing_makes_the_old_version_stale(struct tx *tx)
{
    struct principal who = provisioned(tx);
    struct settings s = current(tx, &who), stale = s;
    struct settings_patch tone = {.unlock_tone = STR("9")};
    assert_none(save(tx, &who, false, &s, tone));
    struct settings before = s;
    assert_none(save(tx, &who, false, &s, tone));
    assert_error(save(tx, &who, false, &before, tone), ERR_SETTINGS_VERSION_CONFLICT);
    assert_error(save(tx, &who, false, &stale, tone), ERR_SETTINGS_VERSION_CONFLICT);
}

/* BUILDING-43 */
static void test_two_buildings_never_share_a_version(struct tx *tx)
{
    struct principal who = provisioned(tx);
    struct settings a = current(tx, &who), b;
    tx_sql(tx, "INSERT INTO building (account_id, id, created_at, is_primary, label, virtual_number) "
               "SELECT id, 'ffffffffffffffffffffffff', 1, 0, 'Annex', '+15550100001' FROM account");
    assert_none(settings_get(tx, &who.account_id, &(struct id){"ffffffffffffffffffffffff"}, &b));
    assert_false(str_eq(a.version, b.version));
}

/* ACCOUNT-9, BUILDING-44 */
static void test_members_change_nothing(struct tx *tx)
{
    struct principal who = provisioned(tx);
    struct settings s = current(tx, &who);
    who.member_id = who.account_id;
    assert_error(save(tx, &who, false, &s, (struct settings_patch){.unlock_tone = STR("9")}),
                 ERR_NUMBER_OWNER_REQUIRED);
}

static void test_a_linked_building_needs_an_active_subscription(struct tx *tx)
{
    struct principal who = provisioned(tx);
    struct settings s = current(tx, &who);
    struct settings_patch tone = {.unlock_tone = STR("9")};
    assert_error(save(tx, &who, true, &s, tone), ERR_MULTI_BUILDING_REQUIRED);
    who.subscribed = true;
    assert_none(save(tx, &who, true, &s, tone));
}

/* CALL-39 */
static void test_the_text_before_a_message_names_no_days_that_are_not_kept(struct tx *tx)
{
    struct config c = *tx->config;
    const struct config_row *row = config_rows;
    while (strcmp(row->section, "greetings") != 0 || strcmp(row->key, "message") != 0)
        row++;
    c.greetings_message = row->dflt;
    c.retention_calls_days = 30;
    assert_non_null(strstr(greeting_or_default(&c, GREETING_MESSAGE, STR_NONE).p, "kept for 30 days"));
    for (c.retention_calls_days = 0; c.retention_calls_days < 30; c.retention_calls_days += 7) {
        const struct str said = greeting_or_default(&c, GREETING_MESSAGE, STR_NONE);
        assert_non_null(strstr(said.p, "It is recorded, sent to the resident and kept."));
        assert_true(config_is_sentence(said.p));
    }
    c.greetings_message = "Speak after the tone: kept for a week.";
    assert_true(str_eq(greeting_or_default(&c, GREETING_MESSAGE, STR_NONE), str_z(c.greetings_message)));
    assert_true(str_eq(greeting_or_default(&c, GREETING_MESSAGE, STR("Mine")), STR("Mine")));
}

#define TESTS(x)                                                                                                       \
    x(test_without_a_number_there_are_only_defaults) x(test_given_settings_change_and_the_others_stay)                 \
        x(test_an_empty_greeting_is_kept_and_is_not_the_default)                                                       \
            x(test_a_save_that_changes_nothing_makes_the_old_version_stale)                                            \
                x(test_two_buildings_never_share_a_version) x(test_members_change_nothing)                             \
                    x(test_a_linked_building_needs_an_active_subscription)                                             \
                        x(test_the_release_form_has_defaults_and_changes_by_member)                                    \
                            x(test_a_ring_group_asks_to_accept_by_default)                                             \
                                x(test_a_building_does_not_ring_its_own_number)                                        \
                                    x(test_the_text_before_a_message_names_no_days_that_are_not_kept)
TX_RUN(TESTS)
