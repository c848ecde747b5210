#include "domain/phone.h"

#include "domain/access_door.h"
#include "domain/building.h"
#include "domain/member.h"
#include "domain/quiet.h"
#include "tx_fixture.h"

#define MINE   STR("+15551110001")
#define THEIRS STR("+15551110002")

static const struct id no_member = {.text = ""};

/* An account that may verify a phone. */
static struct id subscriber(struct tx *tx, const char *email)
{
    struct id account;
    assert_none(account_ensure(tx, str_z(email), &account));
    tx_sql(tx, arena_printf(tx->arena,
                            "UPDATE account SET subscription_status = 'active' WHERE id = '%s';"
                            "UPDATE building SET virtual_number = '+1555%s' WHERE account_id = '%s';",
                            account.text, account.text + ID_LEN - 6, account.text)
                   .p);
    return account;
}

/* Sends a code and returns it; wrong() changes a digit. */
static struct phone_code requested(struct tx *tx, const struct id *account, struct str number)
{
    struct phone_code code;
    assert_none(phone_code_new(tx, account, &no_member, number, &code));
    assert_none(phone_code_sent(tx, account, &code.id));
    return code;
}

static struct str wrong(struct tx *tx, const struct phone_code *code)
{
    uint64_t n;
    assert_true(str_to_u64(str_z(code->text), 999999, &n));
    return arena_printf(tx->arena, "%06llu", (unsigned long long)(n + 1) % 1000000);
}

static enum err confirm(struct tx *tx, const struct id *account, struct str text)
{
    struct phone_status status;
    return phone_confirm(tx, account, &no_member, text, &status);
}

static void verified(struct tx *tx, const struct id *account, struct str number)
{
    struct phone_code code = requested(tx, account, number);
    assert_none(confirm(tx, account, str_z(code.text)));
}

static struct phone_status status_of(struct tx *tx, const struct id *account)
{
    struct phone_status status;
    assert_none(phone_status(tx, account, &no_member, &status));
    return status;
}

static bool was_verified(struct tx *tx, const struct id *account, struct str number)
{
    bool yes;
    assert_none(phone_verified_before(tx, account, number, &yes));
    return yes;
}

static void test_a_code_verifies_the_phone(struct tx *tx)
{
    struct id me = subscriber(tx, "me@example.com");
    assert_null(status_of(tx, &me).number.p);
    assert_null(status_of(tx, &me).pending.number.p);
    struct phone_code code = requested(tx, &me, MINE);
    assert_int_equal(strspn(code.text, "0123456789"), PHONE_CODE_LEN);
    assert_int_equal(code.expires_us, tx->now_us + 10 * MINUTES);
    struct phone_status status = status_of(tx, &me);
    assert_null(status.number.p);
    assert_str(status.pending.number, MINE.p);
    assert_int_equal(status.pending.expires_us, code.expires_us);
    assert_int_equal(status.pending.attempts_left, 5);
    tx->now_us += 10 * MINUTES - 1;
    assert_none(phone_confirm(tx, &me, &no_member, str_z(code.text), &status));
    assert_str(status.number, MINE.p);
    assert_int_equal(status.verified_us, tx->now_us);
    assert_null(status.pending.number.p);
    assert_error(confirm(tx, &me, str_z(code.text)), ERR_PHONE_CODE_EXPIRED);
}

static void test_only_a_keyed_mac_of_a_code_is_stored(struct tx *tx)
{
    struct id me = subscriber(tx, "me@example.com");
    struct phone_code code = requested(tx, &me, MINE);
    CURSOR c;
    assert_none(db_one(tx->db, SQL(phone_code_newest, .account_id = &me, .member_id = &no_member), &c));
    struct str mac = row_phone_code_newest(&c, NULL).code_mac;
    unsigned char plain[SHA256_LEN];
    crypto_sha256(str_z(code.text), plain);
    assert_int_equal(mac.n, SHA256_LEN);
    assert_memory_not_equal(mac.p, plain, SHA256_LEN);
    assert_null(memmem(mac.p, mac.n, code.text, PHONE_CODE_LEN));
}

/* ACCOUNT-19 */
static void test_an_unsent_code_is_invalid_and_keeps_the_pending_one(struct tx *tx)
{
    struct id me = subscriber(tx, "me@example.com");
    struct phone_code unsent;
    assert_none(phone_code_new(tx, &me, &no_member, MINE, &unsent));
    assert_error(confirm(tx, &me, str_z(unsent.text)), ERR_PHONE_CODE_EXPIRED);
    struct phone_code sent = requested(tx, &me, MINE);
    assert_none(phone_code_new(tx, &me, &no_member, THEIRS, &unsent));
    assert_str(status_of(tx, &me).pending.number, MINE.p);
    assert_none(confirm(tx, &me, str_z(sent.text)));
    assert_str(status_of(tx, &me).number, MINE.p);
}

static void test_only_the_newest_code_is_valid(struct tx *tx)
{
    struct id me = subscriber(tx, "me@example.com");
    struct phone_code first = requested(tx, &me, MINE), second = requested(tx, &me, THEIRS);
    if (strcmp(first.text, second.text) != 0)
        assert_error(confirm(tx, &me, str_z(first.text)), ERR_INVALID_PHONE_CODE);
    assert_none(confirm(tx, &me, str_z(second.text)));
    assert_str(status_of(tx, &me).number, THEIRS.p);
    assert_error(confirm(tx, &me, str_z(first.text)), ERR_PHONE_CODE_EXPIRED);
}

static void test_five_wrong_attempts_invalidate_a_code(struct tx *tx)
{
    struct id me = subscriber(tx, "me@example.com");
    struct phone_code code = requested(tx, &me, MINE);
    for (int left = 4; left >= 0; left--) {
        assert_error(confirm(tx, &me, wrong(tx, &code)), ERR_INVALID_PHONE_CODE);
        assert_int_equal(status_of(tx, &me).pending.attempts_left, left);
    }
    assert_error(confirm(tx, &me, str_z(code.text)), ERR_PHONE_CODE_ATTEMPTS);
    assert_int_equal(tx->retry_after_s, 0);
    assert_int_equal(status_of(tx, &me).pending.attempts_left, 0);
    code = requested(tx, &me, MINE);
    assert_none(confirm(tx, &me, str_z(code.text)));
}

/* ACCOUNT-11 */
static void test_a_code_expires_after_ten_minutes(struct tx *tx)
{
    struct id me = subscriber(tx, "me@example.com");
    struct phone_code code = requested(tx, &me, MINE);
    tx->now_us += 10 * MINUTES;
    assert_error(confirm(tx, &me, str_z(code.text)), ERR_PHONE_CODE_EXPIRED);
    assert_null(status_of(tx, &me).pending.number.p);
}

/* ACCOUNT-13 */
static void test_codes_are_limited_by_a_sliding_window(struct tx *tx)
{
    struct id me = subscriber(tx, "me@example.com"), other = subscriber(tx, "other@example.com");
    struct phone_code code;
    requested(tx, &me, MINE);
    tx->now_us += MINUTES;
    assert_none(phone_code_new(tx, &me, &no_member, MINE, &code)); /* counts, although it is never sent */
    requested(tx, &me, MINE);
    assert_error(phone_code_new(tx, &me, &no_member, MINE, &code), ERR_PHONE_CODE_RATE_LIMIT);
    assert_int_equal(tx->retry_after_s, 14 * 60);
    requested(tx, &other, THEIRS);
    tx->now_us += 14 * MINUTES - 1;
    assert_error(phone_code_new(tx, &me, &no_member, MINE, &code), ERR_PHONE_CODE_RATE_LIMIT);
    assert_int_equal(tx->retry_after_s, 1);
    tx->now_us += 1;
    requested(tx, &me, MINE);
    assert_error(phone_code_new(tx, &me, &no_member, MINE, &code), ERR_PHONE_CODE_RATE_LIMIT);
    assert_int_equal(tx->retry_after_s, 60);
}

/* ACCOUNT-14 */
static void test_changes_are_limited_at_the_request_and_at_the_confirmation(struct tx *tx)
{
    struct id me = subscriber(tx, "me@example.com");
    struct phone_code late, code;
    verified(tx, &me, STR("+15551110010"));
    tx->now_us += DAYS / 2;
    verified(tx, &me, STR("+15551110011"));
    assert_none(
        phone_code_new(tx, &me, &no_member, STR("+15551110013"), &late)); /* requested before the third change */
    verified(tx, &me, STR("+15551110012"));
    assert_error(phone_code_new(tx, &me, &no_member, MINE, &code), ERR_PHONE_CHANGE_LIMIT);
    assert_int_equal(tx->retry_after_s, 12 * 3600);
    tx->now_us += 1;
    assert_none(phone_code_sent(tx, &me, &late.id));
    /* The sent code is older than the third change's, so it is not the newest: no code is pending. */
    assert_error(confirm(tx, &me, str_z(late.text)), ERR_PHONE_CODE_EXPIRED);
    tx->now_us += DAYS / 2 - 1;
    verified(tx, &me, MINE);
    assert_str(status_of(tx, &me).number, MINE.p);
}

/* ACCOUNT-15 */
static void test_a_confirmation_beyond_the_limit_keeps_the_code(struct tx *tx)
{
    struct id me = subscriber(tx, "me@example.com");
    verified(tx, &me, STR("+15551110010"));
    verified(tx, &me, STR("+15551110011"));
    tx->now_us += 15 * MINUTES;
    struct phone_code code = requested(tx, &me, MINE);
    tx_sql(tx, arena_printf(tx->arena,
                            "INSERT INTO phone_change (account_id, id, phone, created_at) "
                            "VALUES ('%s', 'third', '+15551110012', %lld)",
                            me.text, (long long)tx->now_us)
                   .p);
    assert_error(confirm(tx, &me, str_z(code.text)), ERR_PHONE_CHANGE_LIMIT);
    assert_int_equal(tx->retry_after_s, 86400 - 15 * 60);
    assert_str(status_of(tx, &me).pending.number, MINE.p);
    assert_int_equal(status_of(tx, &me).pending.attempts_left, 5);
}

/* ACCOUNT-14 */
static void test_a_phone_has_one_account(struct tx *tx)
{
    struct id me = subscriber(tx, "me@example.com"), other = subscriber(tx, "other@example.com");
    struct phone_code code, mine = requested(tx, &me, MINE);
    verified(tx, &other, MINE);
    assert_error(phone_code_new(tx, &me, &no_member, MINE, &code), ERR_PHONE_IN_USE);
    assert_error(phone_code_new(tx, &other, &no_member, MINE, &code), ERR_ALREADY_VERIFIED);
    assert_error(confirm(tx, &me, str_z(mine.text)), ERR_PHONE_IN_USE);
    assert_null(status_of(tx, &me).number.p);
    verified(tx, &other, THEIRS);
    assert_none(confirm(tx, &me, str_z(mine.text)));
    assert_error(phone_code_new(tx, &other, &no_member, MINE, &code), ERR_PHONE_IN_USE);
}

/* ACCOUNT-17 */
static void test_a_verified_phone_is_remembered_until_another_account_has_it(struct tx *tx)
{
    struct id me = subscriber(tx, "me@example.com"), other = subscriber(tx, "other@example.com");
    assert_false(was_verified(tx, &me, MINE));
    requested(tx, &me, MINE);
    assert_false(was_verified(tx, &me, MINE));
    verified(tx, &me, MINE);
    assert_true(was_verified(tx, &me, MINE));
    assert_false(was_verified(tx, &other, MINE));
    tx->now_us += 15 * MINUTES;
    verified(tx, &me, STR("+15551110003"));
    assert_true(was_verified(tx, &me, MINE));
    verified(tx, &other, MINE);
    assert_false(was_verified(tx, &me, MINE));
    assert_true(was_verified(tx, &other, MINE));
    assert_true(was_verified(tx, &me, STR("+15551110003")));
}

/* ACCOUNT-16 */
static void test_an_account_that_may_not_verify_gets_the_reason(struct tx *tx)
{
    struct id me = subscriber(tx, "me@example.com"), nobody = id_new(tx->now_us);
    struct phone_code code;
    struct phone_status status;
    assert_error(phone_status(tx, &nobody, &no_member, &status), ERR_ACCOUNT_NOT_FOUND);
    assert_error(phone_code_new(tx, &nobody, &no_member, MINE, &code), ERR_ACCOUNT_NOT_FOUND);
    assert_error(confirm(tx, &nobody, STR("123456")), ERR_ACCOUNT_NOT_FOUND);
    tx_sql(tx, "UPDATE building SET virtual_number = NULL");
    assert_error(phone_code_new(tx, &me, &no_member, MINE, &code), ERR_NUMBER_NOT_PROVISIONED);
    assert_error(confirm(tx, &me, STR("123456")), ERR_NUMBER_NOT_PROVISIONED);
    static const char *const lost[] = {"UPDATE account SET subscription_status = 'past_due'",
                                       "UPDATE account SET subscription_status = 'none'"};
    for (size_t i = 0; i < 2; i++) {
        tx_sql(tx, lost[i]);
        assert_error(phone_code_new(tx, &me, &no_member, MINE, &code), ERR_SUBSCRIPTION_REQUIRED);
        assert_error(confirm(tx, &me, STR("123456")), ERR_SUBSCRIPTION_REQUIRED);
        assert_none(phone_status(tx, &me, &no_member, &status));
    }
}

static void test_the_purge_deletes_old_codes_in_batches_and_no_changes(struct tx *tx)
{
    struct id me = subscriber(tx, "me@example.com");
    int64_t count;
    requested(tx, &me, MINE), requested(tx, &me, MINE), verified(tx, &me, MINE);
    int64_t expiry_us = tx->now_us + 10 * MINUTES;
    assert_none(phone_purge(tx, expiry_us, 2, &count));
    assert_int_equal(count, 0);
    assert_none(phone_purge(tx, expiry_us + 1, 2, &count));
    assert_int_equal(count, 2);
    assert_none(phone_purge(tx, expiry_us + 1, 2, &count));
    assert_int_equal(count, 1);
    assert_true(was_verified(tx, &me, MINE));
}

/* ---- members ---- */

struct person {
    struct id account, building, member;
};

static struct person joined(struct tx *tx, const struct id *account, const char *email)
{
    const struct building *buildings;
    size_t count;
    struct person p = {.account = *account};
    assert_none(building_list(tx, account, &buildings, &count));
    p.building = buildings[0].id;
    assert_none(member_create(
        tx, &(struct member){.building_id = p.building, .name = STR("Ana"), .email = str_z(email)}, &p.member));
    return p;
}

static struct phone_code requested_by(struct tx *tx, const struct person *p, struct str number)
{
    struct phone_code code;
    assert_none(phone_code_new(tx, &p->account, &p->member, number, &code));
    assert_none(phone_code_sent(tx, &p->account, &code.id));
    return code;
}

static enum err confirm_by(struct tx *tx, const struct person *p, const struct phone_code *code)
{
    struct phone_status status;
    return phone_confirm(tx, &p->account, &p->member, str_z(code->text), &status);
}

static void verified_by(struct tx *tx, const struct person *p, struct str number)
{
    const struct phone_code code = requested_by(tx, p, number);
    assert_none(confirm_by(tx, p, &code));
}

static struct str phone_of(struct tx *tx, const struct person *p)
{
    struct phone_status status;
    assert_none(phone_status(tx, &p->account, &p->member, &status));
    return status.number;
}

/* The phones that a call to the building rings, separated by spaces; "-": no forwarding phone. */
static const char *rings(struct tx *tx, const struct id *building)
{
    struct door door;
    assert_none(door_by_building(tx, building, STR_NONE, &door));
    const struct access_decision *d = &door.decision;
    struct str all = d->forward_to.p ? d->forward_to : STR("-");
    for (size_t i = 0; i < d->ring.count; i++)
        all = arena_printf(tx->arena, "%.*s %.*s", STR_ARG(all), STR_ARG(d->ring.numbers[i]));
    return all.p;
}

/* ACCOUNT-45 */
static void test_a_members_phone_rings_after_its_code_until_the_removal(struct tx *tx)
{
    const struct id me = subscriber(tx, "me@example.com");
    const struct person ana = joined(tx, &me, "ana@example.com");
    const struct phone_code code = requested_by(tx, &ana, MINE);
    assert_string_equal(rings(tx, &ana.building), "-");
    assert_null(status_of(tx, &me).pending.number.p);
    assert_error(confirm(tx, &me, str_z(code.text)), ERR_PHONE_CODE_EXPIRED);
    assert_none(confirm_by(tx, &ana, &code));
    assert_str(phone_of(tx, &ana), MINE.p);
    assert_null(status_of(tx, &me).number.p);
    assert_false(was_verified(tx, &me, MINE));
    verified(tx, &me, THEIRS);
    assert_string_equal(rings(tx, &ana.building), "+15551110002 +15551110001");
    requested_by(tx, &ana, STR("+15551110003"));
    assert_none(member_remove(tx, &ana.member));
    assert_string_equal(rings(tx, &ana.building), "+15551110002");
    CURSOR c;
    assert_error(db_one(tx->db, SQL(phone_code_newest, .account_id = &ana.account, .member_id = &ana.member), &c),
                 ERR_NOT_FOUND);
}

/* ACCOUNT-45 */
static void test_a_member_gives_up_a_phone(struct tx *tx)
{
    const struct id me = subscriber(tx, "me@example.com");
    const struct person ana = joined(tx, &me, "ana@example.com");
    assert_error(phone_give_up(tx, &ana.account, &ana.member), ERR_NOT_FOUND);
    verified(tx, &me, THEIRS);
    verified_by(tx, &ana, MINE);
    assert_none(phone_give_up(tx, &ana.account, &ana.member));
    assert_null(phone_of(tx, &ana).p);
    assert_string_equal(rings(tx, &ana.building), "+15551110002");
    assert_error(phone_give_up(tx, &me, &no_member), ERR_NOT_FOUND);
    assert_str(status_of(tx, &me).number, THEIRS.p);
}

/* ACCOUNT-45 */
static void test_a_member_has_limits_apart_from_the_owners(struct tx *tx)
{
    const struct id me = subscriber(tx, "me@example.com");
    const struct person ana = joined(tx, &me, "ana@example.com");
    struct phone_code code;
    for (int i = 0; i < 3; i++)
        verified_by(tx, &ana, arena_printf(tx->arena, "+1555111001%d", i));
    assert_error(phone_code_new(tx, &ana.account, &ana.member, MINE, &code), ERR_PHONE_CHANGE_LIMIT);
    requested(tx, &me, MINE);
    tx->now_us += 16 * MINUTES;
    assert_error(phone_code_new(tx, &ana.account, &ana.member, MINE, &code), ERR_PHONE_CHANGE_LIMIT);
    tx->now_us += DAYS;
    const struct person eva = joined(tx, &me, "eva@example.com");
    for (int i = 0; i < 3; i++)
        requested_by(tx, i ? &ana : &eva, MINE); /* the members of a building have them together */
    assert_error(phone_code_new(tx, &ana.account, &ana.member, MINE, &code), ERR_PHONE_CODE_RATE_LIMIT);
    assert_error(phone_code_new(tx, &eva.account, &eva.member, MINE, &code), ERR_PHONE_CODE_RATE_LIMIT);
    verified(tx, &me, THEIRS);
}

/* ACCOUNT-45 */
static void test_a_number_has_one_person(struct tx *tx)
{
    const struct id me = subscriber(tx, "me@example.com"), other = subscriber(tx, "other@example.com");
    const struct person ana = joined(tx, &me, "ana@example.com"), eva = joined(tx, &me, "eva@example.com"),
                        also = joined(tx, &me, "other@example.com");
    struct phone_code code;
    verified(tx, &other, THEIRS);
    assert_error(phone_code_new(tx, &ana.account, &ana.member, THEIRS, &code), ERR_PHONE_IN_USE);
    verified_by(tx, &also, THEIRS); /* by the same address */
    assert_str(status_of(tx, &other).number, THEIRS.p);
    verified_by(tx, &ana, MINE);
    verified_by(tx, &eva, MINE); /* the last to prove it has it */
    assert_null(phone_of(tx, &ana).p);
    assert_string_equal(rings(tx, &eva.building), "- +15551110001 +15551110002");
    verified(tx, &me, MINE);
    assert_null(phone_of(tx, &eva).p);
    assert_string_equal(rings(tx, &eva.building), "+15551110001 +15551110002");
}

/* ACCOUNT-45 */
static void test_five_members_phones_ring_and_no_managers(struct tx *tx)
{
    const struct id me = subscriber(tx, "me@example.com");
    struct person people[6];
    struct phone_code code;
    for (int i = 0; i < 6; i++)
        people[i] = joined(tx, &me, arena_printf(tx->arena, "%d@example.com", i).p);
    for (int i = 0; i < 5; i++, tx->now_us += 5 * MINUTES)
        verified_by(tx, &people[i], arena_printf(tx->arena, "+1555111002%d", i));
    assert_error(phone_code_new(tx, &me, &people[5].member, MINE, &code), ERR_MEMBER_LIMIT);
    tx_sql(tx, arena_printf(tx->arena, "UPDATE building SET ring_numbers = '+15551110021 +15551110030' WHERE id = '%s'",
                            people[0].building.text)
                   .p);
    assert_string_equal(rings(tx, &people[0].building),
                        "- +15551110021 +15551110030 +15551110020 +15551110022 +15551110023 +15551110024");
    struct member m = {0};
    assert_none(member_get(tx, &people[4].member, &m));
    m.role = MEMBER_MANAGER;
    assert_none(member_change(tx, &m));
    assert_string_equal(rings(tx, &people[0].building),
                        "- +15551110021 +15551110030 +15551110020 +15551110022 +15551110023");
}

/* ---- quiet hours ---- */

static void test_quiet_hours_are_local_and_may_end_on_the_next_day(struct tx *tx)
{
    static const struct {
        int from, until;
        const char *zone;
        bool quiet;
    } cases[] = {
        {9 * 60 + 30, 9 * 60 + 31, "UTC", true},
        {9 * 60, 9 * 60 + 30, "UTC", false},
        {22 * 60, 7 * 60, "UTC", false},
        {22 * 60, 7 * 60, "America/New_York", true}, /* 04:30 */
        {4 * 60 + 31, 4 * 60 + 30, "America/New_York", false},
        {22 * 60, 7 * 60, "No/Where", false},
        {22 * 60, 7 * 60, NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(quiet_is(v_int(cases[i].from), v_int(cases[i].until),
                                  cases[i].zone ? str_z(cases[i].zone) : STR_NONE, tx->now_us),
                         cases[i].quiet);
    assert_false(quiet_is(v_null(), v_null(), STR("UTC"), tx->now_us));
}

static void rest(struct tx *tx, const struct id *account, const struct id *member, bool quiet)
{
    const struct quiet hours = quiet ? (struct quiet){22 * 60, 7 * 60} : (struct quiet){0, 0};
    struct quiet found;
    assert_none(quiet_set(tx, account, member, &hours));
    assert_none(quiet_get(tx, account, member, &found));
    assert_int_equal(found.from, hours.from);
    assert_int_equal(found.until, hours.until);
}

/* ACCOUNT-46 */
static void test_a_phone_does_not_ring_in_quiet_hours_unless_no_other_does(struct tx *tx)
{
    const struct id me = subscriber(tx, "me@example.com");
    const struct person ana = joined(tx, &me, "ana@example.com");
    struct door door = {0};
    tx_sql(tx, "UPDATE building SET timezone = 'America/New_York'");
    verified(tx, &me, THEIRS);
    verified_by(tx, &ana, MINE);
    rest(tx, &ana.account, &ana.member, true);
    assert_string_equal(rings(tx, &ana.building), "+15551110002");
    assert_none(door_by_building(tx, &ana.building, STR_NONE, &door));
    assert_true(door.decision.ring.resting);
    assert_int_equal(door.decision.ring.quiet, 1);
    assert_str(door.decision.ring.numbers[door.decision.ring.count], MINE.p);
    rest(tx, &me, &no_member, true); /* nobody else */
    assert_string_equal(rings(tx, &ana.building), "+15551110002 +15551110001");
    tx_sql(tx, "UPDATE building SET ring_numbers = '+15551110009'");
    assert_string_equal(rings(tx, &ana.building), "- +15551110009");
    tx_sql(tx, "UPDATE building SET ring_numbers = NULL");
    rest(tx, &ana.account, &ana.member, false);
    assert_string_equal(rings(tx, &ana.building), "- +15551110001");
    tx->now_us += 3 * 3600 * US_PER_S; /* 07:30 */
    assert_string_equal(rings(tx, &ana.building), "+15551110002 +15551110001");
}

#define TESTS(x)                                                                                                       \
    x(test_a_code_verifies_the_phone) x(test_only_a_keyed_mac_of_a_code_is_stored)                                     \
        x(test_an_unsent_code_is_invalid_and_keeps_the_pending_one) x(test_only_the_newest_code_is_valid)              \
            x(test_five_wrong_attempts_invalidate_a_code) x(test_a_code_expires_after_ten_minutes)                     \
                x(test_codes_are_limited_by_a_sliding_window)                                                          \
                    x(test_changes_are_limited_at_the_request_and_at_the_confirmation)                                 \
                        x(test_a_confirmation_beyond_the_limit_keeps_the_code) x(test_a_phone_has_one_account)         \
                            x(test_a_members_phone_rings_after_its_code_until_the_removal)                             \
                                x(test_a_member_gives_up_a_phone) x(test_a_member_has_limits_apart_from_the_owners)    \
                                    x(test_a_number_has_one_person) x(test_five_members_phones_ring_and_no_managers)   \
                                        x(test_quiet_hours_are_local_and_may_end_on_the_next_day)                      \
                                            x(test_a_phone_does_not_ring_in_quiet_hours_unless_no_other_does)          \
                                                x(test_a_verified_phone_is_remembered_until_another_account_has_it)    \
                                                    x(test_an_account_that_may_not_verify_gets_the_reason)             \
                                                        x(test_the_purge_deletes_old_codes_in_batches_and_no_changes)
TX_RUN(TESTS)
