#include "domain/phone.h"

#include "tx_fixture.h"

#define MINE   STR("+15551110001")
#define THEIRS STR("+15551110002")

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
    assert_none(phone_code_new(tx, account, number, &code));
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
    return phone_confirm(tx, account, text, &status);
}

static void verified(struct tx *tx, const struct id *account, struct str number)
{
    struct phone_code code = requested(tx, account, number);
    assert_none(confirm(tx, account, str_z(code.text)));
}

static struct phone_status status_of(struct tx *tx, const struct id *account)
{
    struct phone_status status;
    assert_none(phone_status(tx, account, &status));
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
    assert_none(phone_confirm(tx, &me, str_z(code.text), &status));
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
    assert_none(db_one(tx->db, SQL(phone_code_newest, .account_id = &me), &c));
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
    assert_none(phone_code_new(tx, &me, MINE, &unsent));
    assert_error(confirm(tx, &me, str_z(unsent.text)), ERR_PHONE_CODE_EXPIRED);
    struct phone_code sent = requested(tx, &me, MINE);
    assert_none(phone_code_new(tx, &me, THEIRS, &unsent));
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
    assert_none(phone_code_new(tx, &me, MINE, &code)); /* counts, although it is never sent */
    requested(tx, &me, MINE);
    assert_error(phone_code_new(tx, &me, MINE, &code), ERR_PHONE_CODE_RATE_LIMIT);
    assert_int_equal(tx->retry_after_s, 14 * 60);
    requested(tx, &other, THEIRS);
    tx->now_us += 14 * MINUTES - 1;
    assert_error(phone_code_new(tx, &me, MINE, &code), ERR_PHONE_CODE_RATE_LIMIT);
    assert_int_equal(tx->retry_after_s, 1);
    tx->now_us += 1;
    requested(tx, &me, MINE);
    assert_error(phone_code_new(tx, &me, MINE, &code), ERR_PHONE_CODE_RATE_LIMIT);
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
    assert_none(phone_code_new(tx, &me, STR("+15551110013"), &late)); /* requested before the third change */
    verified(tx, &me, STR("+15551110012"));
    assert_error(phone_code_new(tx, &me, MINE, &code), ERR_PHONE_CHANGE_LIMIT);
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
    assert_error(phone_code_new(tx, &me, MINE, &code), ERR_PHONE_IN_USE);
    assert_error(phone_code_new(tx, &other, MINE, &code), ERR_ALREADY_VERIFIED);
    assert_error(confirm(tx, &me, str_z(mine.text)), ERR_PHONE_IN_USE);
    assert_null(status_of(tx, &me).number.p);
    verified(tx, &other, THEIRS);
    assert_none(confirm(tx, &me, str_z(mine.text)));
    assert_error(phone_code_new(tx, &other, MINE, &code), ERR_PHONE_IN_USE);
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
    assert_error(phone_status(tx, &nobody, &status), ERR_ACCOUNT_NOT_FOUND);
    assert_error(phone_code_new(tx, &nobody, MINE, &code), ERR_ACCOUNT_NOT_FOUND);
    assert_error(confirm(tx, &nobody, STR("123456")), ERR_ACCOUNT_NOT_FOUND);
    tx_sql(tx, "UPDATE building SET virtual_number = NULL");
    assert_error(phone_code_new(tx, &me, MINE, &code), ERR_NUMBER_NOT_PROVISIONED);
    assert_error(confirm(tx, &me, STR("123456")), ERR_NUMBER_NOT_PROVISIONED);
    static const char *const lost[] = {"UPDATE account SET subscription_status = 'past_due'",
                                       "UPDATE account SET subscription_status = 'none'"};
    for (size_t i = 0; i < 2; i++) {
        tx_sql(tx, lost[i]);
        assert_error(phone_code_new(tx, &me, MINE, &code), ERR_SUBSCRIPTION_REQUIRED);
        assert_error(confirm(tx, &me, STR("123456")), ERR_SUBSCRIPTION_REQUIRED);
        assert_none(phone_status(tx, &me, &status));
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

#define TESTS(x)                                                                                                       \
    x(test_a_code_verifies_the_phone) x(test_only_a_keyed_mac_of_a_code_is_stored)                                     \
        x(test_an_unsent_code_is_invalid_and_keeps_the_pending_one) x(test_only_the_newest_code_is_valid)              \
            x(test_five_wrong_attempts_invalidate_a_code) x(test_a_code_expires_after_ten_minutes)                     \
                x(test_codes_are_limited_by_a_sliding_window)                                                          \
                    x(test_changes_are_limited_at_the_request_and_at_the_confirmation)                                 \
                        x(test_a_confirmation_beyond_the_limit_keeps_the_code) x(test_a_phone_has_one_account)         \
                            x(test_a_verified_phone_is_remembered_until_another_account_has_it)                        \
                                x(test_an_account_that_may_not_verify_gets_the_reason)                                 \
                                    x(test_the_purge_deletes_old_codes_in_batches_and_no_changes)
TX_RUN(TESTS)
