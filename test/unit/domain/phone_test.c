#include "domain/phone.h"

#include "rules.h"

#define MINE   STR("+15551110001")
#define THEIRS STR("+15551110002")

/* An account that may verify a phone. */
static struct id subscriber(struct op *op, const char *email)
{
    struct id account;
    assert_none(account_ensure(op, str_z(email), &account));
    rules_sql(op, arena_printf(op->arena,
                               "UPDATE account SET subscription_status = 'active' WHERE id = '%s';"
                               "UPDATE building SET virtual_number = '+1555%s' WHERE account_id = '%s';",
                               account.text, account.text + ID_LEN - 6, account.text)
                      .p);
    return account;
}

/* Its code is sent, and wrong by one with `wrong`. */
static struct phone_code requested(struct op *op, const struct id *account, struct str number)
{
    struct phone_code code;
    assert_none(phone_code_new(op, account, number, &code));
    assert_none(phone_code_sent(op, account, &code.id));
    return code;
}

static struct str wrong(struct op *op, const struct phone_code *code)
{
    uint64_t n;
    assert_true(str_to_u64(str_z(code->text), 999999, &n));
    return arena_printf(op->arena, "%06llu", (unsigned long long)(n + 1) % 1000000);
}

static enum err confirm(struct op *op, const struct id *account, struct str text)
{
    struct phone_status status;
    return phone_confirm(op, account, text, &status);
}

static void verified(struct op *op, const struct id *account, struct str number)
{
    struct phone_code code = requested(op, account, number);
    assert_none(confirm(op, account, str_z(code.text)));
}

static struct phone_status status_of(struct op *op, const struct id *account)
{
    struct phone_status status;
    assert_none(phone_status(op, account, &status));
    return status;
}

static bool was_verified(struct op *op, const struct id *account, struct str number)
{
    bool yes;
    assert_none(phone_verified_before(op, account, number, &yes));
    return yes;
}

static void test_a_code_makes_the_phone_the_accounts(struct op *op)
{
    struct id me = subscriber(op, "me@example.com");
    assert_null(status_of(op, &me).number.p);
    assert_null(status_of(op, &me).pending.number.p);
    struct phone_code code = requested(op, &me, MINE);
    assert_int_equal(strspn(code.text, "0123456789"), PHONE_CODE_LEN);
    assert_int_equal(code.expires_us, op->now_us + 10 * MINUTES);
    struct phone_status status = status_of(op, &me);
    assert_null(status.number.p);
    assert_str(status.pending.number, MINE.p);
    assert_int_equal(status.pending.expires_us, code.expires_us);
    assert_int_equal(status.pending.attempts_left, 5);
    op->now_us += 10 * MINUTES - 1;
    assert_none(phone_confirm(op, &me, str_z(code.text), &status));
    assert_str(status.number, MINE.p);
    assert_int_equal(status.verified_us, op->now_us);
    assert_null(status.pending.number.p);
    assert_error(confirm(op, &me, str_z(code.text)), ERR_PHONE_CODE_EXPIRED);
}

static void test_only_a_keyed_mac_of_a_code_is_stored(struct op *op)
{
    struct id me = subscriber(op, "me@example.com");
    struct phone_code code = requested(op, &me, MINE);
    CURSOR c;
    assert_none(db_one(op->db, SQL_PHONE_CODE_NEWEST, DB_ARGS(v_str(id_str(&me))), &c));
    struct str mac = col_blob(&c, 2);
    unsigned char plain[SHA256_LEN];
    crypto_sha256(str_z(code.text), plain);
    assert_int_equal(mac.n, SHA256_LEN);
    assert_memory_not_equal(mac.p, plain, SHA256_LEN);
    assert_null(memmem(mac.p, mac.n, code.text, PHONE_CODE_LEN));
}

static void test_what_was_not_sent_confirms_nothing_and_leaves_what_waits(struct op *op)
{
    struct id me = subscriber(op, "me@example.com");
    struct phone_code unsent;
    assert_none(phone_code_new(op, &me, MINE, &unsent));
    assert_error(confirm(op, &me, str_z(unsent.text)), ERR_PHONE_CODE_EXPIRED);
    struct phone_code sent = requested(op, &me, MINE);
    assert_none(phone_code_new(op, &me, THEIRS, &unsent));
    assert_str(status_of(op, &me).pending.number, MINE.p);
    assert_none(confirm(op, &me, str_z(sent.text)));
    assert_str(status_of(op, &me).number, MINE.p);
}

static void test_the_newest_code_counts(struct op *op)
{
    struct id me = subscriber(op, "me@example.com");
    struct phone_code first = requested(op, &me, MINE), second = requested(op, &me, THEIRS);
    if (strcmp(first.text, second.text) != 0)
        assert_error(confirm(op, &me, str_z(first.text)), ERR_INVALID_PHONE_CODE);
    assert_none(confirm(op, &me, str_z(second.text)));
    assert_str(status_of(op, &me).number, THEIRS.p);
    assert_error(confirm(op, &me, str_z(first.text)), ERR_PHONE_CODE_EXPIRED);
}

static void test_five_wrong_codes_kill_it(struct op *op)
{
    struct id me = subscriber(op, "me@example.com");
    struct phone_code code = requested(op, &me, MINE);
    for (int left = 4; left >= 0; left--) {
        assert_error(confirm(op, &me, wrong(op, &code)), ERR_INVALID_PHONE_CODE);
        assert_int_equal(status_of(op, &me).pending.attempts_left, left);
    }
    assert_error(confirm(op, &me, str_z(code.text)), ERR_PHONE_CODE_ATTEMPTS);
    assert_int_equal(op->retry_after_s, 0);
    assert_int_equal(status_of(op, &me).pending.attempts_left, 0);
    code = requested(op, &me, MINE);
    assert_none(confirm(op, &me, str_z(code.text)));
}

static void test_a_code_expires_after_ten_minutes(struct op *op)
{
    struct id me = subscriber(op, "me@example.com");
    struct phone_code code = requested(op, &me, MINE);
    op->now_us += 10 * MINUTES;
    assert_error(confirm(op, &me, str_z(code.text)), ERR_PHONE_CODE_EXPIRED);
    assert_null(status_of(op, &me).pending.number.p);
}

static void test_codes_are_limited_by_a_sliding_window(struct op *op)
{
    struct id me = subscriber(op, "me@example.com"), other = subscriber(op, "other@example.com");
    struct phone_code code;
    requested(op, &me, MINE);
    op->now_us += MINUTES;
    assert_none(phone_code_new(op, &me, MINE, &code)); /* counts, though it is never sent */
    requested(op, &me, MINE);
    assert_error(phone_code_new(op, &me, MINE, &code), ERR_PHONE_CODE_RATE_LIMIT);
    assert_int_equal(op->retry_after_s, 14 * 60);
    requested(op, &other, THEIRS);
    op->now_us += 14 * MINUTES - 1;
    assert_error(phone_code_new(op, &me, MINE, &code), ERR_PHONE_CODE_RATE_LIMIT);
    assert_int_equal(op->retry_after_s, 1);
    op->now_us += 1;
    requested(op, &me, MINE);
    assert_error(phone_code_new(op, &me, MINE, &code), ERR_PHONE_CODE_RATE_LIMIT);
    assert_int_equal(op->retry_after_s, 60);
}

static void test_changes_are_limited_at_the_request_and_at_the_confirmation(struct op *op)
{
    struct id me = subscriber(op, "me@example.com");
    struct phone_code late, code;
    verified(op, &me, STR("+15551110010"));
    op->now_us += DAYS / 2;
    verified(op, &me, STR("+15551110011"));
    assert_none(phone_code_new(op, &me, STR("+15551110013"), &late)); /* asked for before the third change */
    verified(op, &me, STR("+15551110012"));
    assert_error(phone_code_new(op, &me, MINE, &code), ERR_PHONE_CHANGE_LIMIT);
    assert_int_equal(op->retry_after_s, 12 * 3600);
    op->now_us += 1;
    assert_none(phone_code_sent(op, &me, &late.id));
    /* The one that was sent is older than the third change's, so it is not the newest: nothing waits. */
    assert_error(confirm(op, &me, str_z(late.text)), ERR_PHONE_CODE_EXPIRED);
    op->now_us += DAYS / 2 - 1;
    verified(op, &me, MINE);
    assert_str(status_of(op, &me).number, MINE.p);
}

static void test_a_confirmation_beyond_the_limit_leaves_the_code(struct op *op)
{
    struct id me = subscriber(op, "me@example.com");
    verified(op, &me, STR("+15551110010"));
    verified(op, &me, STR("+15551110011"));
    op->now_us += 15 * MINUTES;
    struct phone_code code = requested(op, &me, MINE);
    rules_sql(op, arena_printf(op->arena,
                               "INSERT INTO phone_change (account_id, id, phone, created_at) "
                               "VALUES ('%s', 'third', '+15551110012', %lld)",
                               me.text, (long long)op->now_us)
                      .p);
    assert_error(confirm(op, &me, str_z(code.text)), ERR_PHONE_CHANGE_LIMIT);
    assert_int_equal(op->retry_after_s, 86400 - 15 * 60);
    assert_str(status_of(op, &me).pending.number, MINE.p);
    assert_int_equal(status_of(op, &me).pending.attempts_left, 5);
}

static void test_a_phone_has_one_account(struct op *op)
{
    struct id me = subscriber(op, "me@example.com"), other = subscriber(op, "other@example.com");
    struct phone_code code, mine = requested(op, &me, MINE);
    verified(op, &other, MINE);
    assert_error(phone_code_new(op, &me, MINE, &code), ERR_PHONE_IN_USE);
    assert_error(phone_code_new(op, &other, MINE, &code), ERR_ALREADY_VERIFIED);
    assert_error(confirm(op, &me, str_z(mine.text)), ERR_PHONE_IN_USE);
    assert_null(status_of(op, &me).number.p);
    verified(op, &other, THEIRS);
    assert_none(confirm(op, &me, str_z(mine.text)));
    assert_error(phone_code_new(op, &other, MINE, &code), ERR_PHONE_IN_USE);
}

static void test_what_was_verified_before_is_remembered_until_it_is_anothers(struct op *op)
{
    struct id me = subscriber(op, "me@example.com"), other = subscriber(op, "other@example.com");
    assert_false(was_verified(op, &me, MINE));
    requested(op, &me, MINE);
    assert_false(was_verified(op, &me, MINE));
    verified(op, &me, MINE);
    assert_true(was_verified(op, &me, MINE));
    assert_false(was_verified(op, &other, MINE));
    op->now_us += 15 * MINUTES;
    verified(op, &me, STR("+15551110003"));
    assert_true(was_verified(op, &me, MINE));
    verified(op, &other, MINE);
    assert_false(was_verified(op, &me, MINE));
    assert_true(was_verified(op, &other, MINE));
    assert_true(was_verified(op, &me, STR("+15551110003")));
}

static void test_who_may_not_is_told_why(struct op *op)
{
    struct id me = subscriber(op, "me@example.com"), nobody = id_new(op->now_us);
    struct phone_code code;
    struct phone_status status;
    assert_error(phone_status(op, &nobody, &status), ERR_ACCOUNT_NOT_FOUND);
    assert_error(phone_code_new(op, &nobody, MINE, &code), ERR_ACCOUNT_NOT_FOUND);
    assert_error(confirm(op, &nobody, STR("123456")), ERR_ACCOUNT_NOT_FOUND);
    rules_sql(op, "UPDATE building SET virtual_number = NULL");
    assert_error(phone_code_new(op, &me, MINE, &code), ERR_NUMBER_NOT_PROVISIONED);
    assert_error(confirm(op, &me, STR("123456")), ERR_NUMBER_NOT_PROVISIONED);
    static const char *const lost[] = {"UPDATE account SET subscription_status = 'past_due'",
                                       "UPDATE account SET subscription_status = 'none'"};
    for (size_t i = 0; i < 2; i++) {
        rules_sql(op, lost[i]);
        assert_error(phone_code_new(op, &me, MINE, &code), ERR_SUBSCRIPTION_REQUIRED);
        assert_error(confirm(op, &me, STR("123456")), ERR_SUBSCRIPTION_REQUIRED);
        assert_none(phone_status(op, &me, &status));
    }
}

static void test_the_purge_takes_old_codes_in_batches_and_no_changes(struct op *op)
{
    struct id me = subscriber(op, "me@example.com");
    int64_t count;
    requested(op, &me, MINE), requested(op, &me, MINE), verified(op, &me, MINE);
    int64_t expiry_us = op->now_us + 10 * MINUTES;
    assert_none(phone_purge(op, expiry_us, 2, &count));
    assert_int_equal(count, 0);
    assert_none(phone_purge(op, expiry_us + 1, 2, &count));
    assert_int_equal(count, 2);
    assert_none(phone_purge(op, expiry_us + 1, 2, &count));
    assert_int_equal(count, 1);
    assert_true(was_verified(op, &me, MINE));
}

#define TESTS(x)                                                                                                       \
    x(test_a_code_makes_the_phone_the_accounts) x(test_only_a_keyed_mac_of_a_code_is_stored)                           \
        x(test_what_was_not_sent_confirms_nothing_and_leaves_what_waits) x(test_the_newest_code_counts)                \
            x(test_five_wrong_codes_kill_it) x(test_a_code_expires_after_ten_minutes)                                  \
                x(test_codes_are_limited_by_a_sliding_window)                                                          \
                    x(test_changes_are_limited_at_the_request_and_at_the_confirmation)                                 \
                        x(test_a_confirmation_beyond_the_limit_leaves_the_code) x(test_a_phone_has_one_account)        \
                            x(test_what_was_verified_before_is_remembered_until_it_is_anothers)                        \
                                x(test_who_may_not_is_told_why)                                                        \
                                    x(test_the_purge_takes_old_codes_in_batches_and_no_changes)
RULES_RUN(TESTS)
