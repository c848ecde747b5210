/* Times that a clock wrote while it was ahead: they are void once it is right, whatever kind they are, and times of a
 * clock that was always right never are. */
#include "domain/tx_fixture.h"

#include <sqlite3.h>

#include "jobs/time_bound.h"
#include "oauth/oauth.h"
#include "store/engine.h"

/* ---- the list of all times ---- */

static const char listed[] =
#define BOUND(statement, ahead_s, value, after, columns) " " columns
#define KEPT(columns, reason)                            " " columns
#include "tbl/times.def"
    " job.created_at job.due_at ";

static bool is_time(struct str column)
{
    static const char *const ends[] = {"_at", "_until", "_since"};
    if (str_eq(column, STR("at")) || str_starts(column, STR("failed_")))
        return !str_eq(column, STR("failed_day"));
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t n = strlen(ends[i]);
        if (column.n > n && str_eq(str_from(column, column.n - n), str_z(ends[i])))
            return true;
    }
    return false;
}

/* SERVICE-39 */
static void test_every_column_that_holds_a_time_is_listed_once(void **state)
{
    struct store_fixture *f = *state;
    sqlite3 *db;
    sqlite3_stmt *s;
    char path[256];
    int found = 0, words = 0;
    snprintf(path, sizeof path, "%s/portero.db", f->config.top_data_dir);
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT ' ' || t.name || '.' || c.name || ' ', c.name FROM sqlite_schema t, "
                                        "pragma_table_info(t.name) c WHERE t.type = 'table' AND c.type = 'INTEGER'",
                                        -1, &s, NULL),
                     SQLITE_OK);
    while (sqlite3_step(s) == SQLITE_ROW) {
        const char *place = (const char *)sqlite3_column_text(s, 0);
        if (!is_time(str_z((const char *)sqlite3_column_text(s, 1))))
            continue;
        const char *first = strstr(listed, place);
        if (!first || strstr(first + 1, place))
            fail_msg("%sis %s tbl/times.def", place, first ? "twice in" : "not in");
        found++;
    }
    sqlite3_finalize(s);
    sqlite3_close(db);
    for (const char *p = listed; *p; p++)
        words += *p == '.';
    assert_int_equal(words, found);
}

/* ---- rows ---- */

static int64_t apply(struct tx *tx)
{
    int64_t sum = 0;
    bool more = true;
    for (size_t row = 0; more; row++) {
        int64_t changed = 0;
        assert_none(time_bound_apply(tx, row, &more, &changed));
        sum += changed;
    }
    return sum;
}

#define MINUTE_US (60 * US_PER_S)
#define AHEAD_US  (9 * 3600 * US_PER_S)

#define OPERATION                                                                                                      \
    "building_operation (account_id, id, action, status, created_at, label, building_count, subscription_id, "         \
    "price_id, current_quantity, new_quantity, currency, next_invoice_minor, per_building_minor, proration_s, "        \
    "expires_at, progressed_at)"
#define KEY   "api_key (hash, id, account_id, kind, name, prefix, scopes, created_at, expires_at, last_used_at)"
#define A_KEY "INSERT INTO " KEY " VALUES (%2$s, 'k', 'a', 'agent', '', '', 0, 0, 0, 0); "
#define A_PUSH                                                                                                         \
    A_KEY "INSERT INTO browser (hash, id, account_id, remembered, created_at) VALUES (%2$s, 'b', 'a', 0, 0); "         \
          "INSERT INTO push (building_id, hash, account_id, notices, language, endpoint, p256dh, auth, created_at) "   \
          "VALUES ('b', %2$s, 'a', 1, '', '', %2$s, %2$s, 0); "
#define PUSH  "push_message (building_id, hash, notice, account_id, payload, at, due_at, leased_until)"
#define GUARD "door_guard (building_id, known, failed_1, failed_2, failed_3, failed_4, mailed_at, closed_until)"

/* A row whose times `columns` lie ahead_s after now at most, as the kind allows. Arguments of the formats: the time, a
 * BLOB. `before` makes the rows that it needs. */
static const struct row {
    const char *columns, *table, *values;
    int64_t ahead_s;
    bool settled;
    const char *before;
} rows[] = {
    {"job.leased_until", "job (id, kind, created_at, due_at, payload, leased_until)", "'j', 'mail', 0, 0, %2$s, %1$lld",
     120, .before = ""},
    {"notice_mail.paid_until", "notice_mail (building_id, account_id, notices, language, paid_until)",
     "'b', 'a', 1, 'en', %1$lld", 3600, .before = ""},
    {"member.mail_paid_until", "member (building_id, id, account_id, name, email, created_at, mail_paid_until)",
     "'b', 'm', 'a', '', '', 0, %1$lld", 3600, .before = ""},
    {"push_message.due_at", PUSH, "'b', %2$s, 1, 'a', '', 0, %1$lld, 0", 86400, .before = A_PUSH},
    {"push_message.at", PUSH, "'b', %2$s, 1, 'a', '', %1$lld, 0, 0", 0, .before = A_PUSH},
    {"push_message.leased_until", PUSH, "'b', %2$s, 1, 'a', '', 0, 0, %1$lld", 60, .before = A_PUSH},
    {"door_guard.failed_1 door_guard.closed_until", GUARD, "'b', 0, %1$lld, 0, 0, 0, 0, %1$lld", 0, .before = ""},
    {"door_guard.failed_2", GUARD, "'b', 0, 1, %1$lld, 0, 0, 0, 0", 0, .before = ""},
    {"door_guard.failed_3", GUARD, "'b', 0, 2, 1, %1$lld, 0, 0, 0", 0, .before = ""},
    {"door_guard.failed_4", GUARD, "'b', 0, 3, 2, 1, %1$lld, 0, 0", 0, .before = ""},
    {"door_guard.mailed_at", GUARD, "'b', 0, 1, 0, 0, 0, %1$lld, 0", 0, .before = ""},
    {"door_caller.released_at", "door_caller (building_id, number, released_at)", "'b', '+15550100000', %1$lld", 0,
     .before = ""},
    {"challenge.expires_at", "challenge (id, email, otp_mac, expires_at)", "'c', 'a@example.com', %2$s, %1$lld", 900,
     .before = ""},
    {"phone_code.created_at phone_code.expires_at",
     "phone_code (account_id, id, phone, code_mac, created_at, expires_at)", "'a', 'p', '+1', %2$s, %1$lld, %1$lld",
     600, .before = ""},
    {"phone_change.created_at", "phone_change (account_id, id, phone, created_at)", "'a', 'p', '+1', %1$lld", 0,
     .before = ""},
    {"api_key.expires_at", KEY, "%2$s, 'k', 'a', 'web_session', '', '', 0, 0, %1$lld, 0", 43200, true, ""},
    {"api_key.last_used_at", KEY, "%2$s, 'k', 'a', 'agent', '', '', 0, 0, 0, %1$lld", 0, .before = ""},
    {"oauth_code.expires_at",
     "oauth_code (hash, account_id, client, redirect, challenge, scopes, resource, used, expires_at)",
     "%2$s, 'a', %2$s, %2$s, '', 0, 0, 0, %1$lld", 60, .before = ""},
    {"oauth_grant.expires_at",
     "oauth_grant (account_id, key_id, family, token, client, scopes, resource, created_at, expires_at)",
     "'a', 'k', %2$s, %2$s, %2$s, 0, 0, 0, %1$lld", OAUTH_GRANT_TTL_S, true, A_KEY},
    {"webhook.previous_until", "webhook (account_id, id, created_at, url, events, secret, previous_until)",
     "'a', 'w', 0, '', 0, %2$s, %1$lld", 86400, .before = ""},
    {"member.invited_until", "member (building_id, id, account_id, name, email, created_at, invited_until)",
     "'b', 'm', 'a', 'Ana', 'b@example.com', 0, %1$lld", 7 * 86400, true, ""},
    {"box.registered_until", "box (name, secret, created_at, registered_until)", "'box', %2$s, 0, %1$lld", 3600, true,
     ""},
    {"checkout.checked_at",
     "checkout (account_id, id, request_id, request_hash, status, created_at, plan, quantity, email, return_url, "
     "checked_at)",
     "'a', 'c', 'r', %2$s, 'open', 0, '', 1, '', '', %1$lld", 0, .before = ""},
    {"twilio_call.updated_at", "twilio_call (sid, step, ended, state, answer, updated_at)", "'s', 0, 0, '', '', %1$lld",
     0, .before = ""},
    {"number_purchase.open_until", "number_purchase (reference, open_until)", "'r', %1$lld", 3600, .before = ""},
    {"account.subscription_ended_at", "account (id, email, created_at, subscription_ended_at)",
     "'a', 'a@example.com', 0, %1$lld", 0, true, ""},
    {"building_operation.expires_at", OPERATION,
     "'a', 'o', 'add', 'quoted', 0, '', 1, '', '', 1, 2, 'usd', 0, 0, 0, %1$lld, NULL", 900, .before = ""},
    {"building_operation.progressed_at", OPERATION,
     "'a', 'o', 'add', 'running', 0, '', 1, '', '', 1, 2, 'usd', 0, 0, 0, 0, %1$lld", 0, .before = ""},
};

static const char *a_blob(const struct tx *tx)
{
    return tx->db->engine == &sqlite_engine ? "x'01'" : "'\\x01'::bytea";
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void insert(struct tx *tx, const struct row *r, int64_t at_us)
{
    char format[2048], sql[4096], table[64];
    snprintf(table, sizeof table, "%.*s", (int)strcspn(r->table, " "), r->table);
    snprintf(format, sizeof format, "DELETE FROM api_key; DELETE FROM %s; %sINSERT INTO %s VALUES (%s)", table,
             r->before, r->table, r->values);
    snprintf(sql, sizeof sql, format, (long long)at_us, a_blob(tx));
    tx_sql(tx, sql);
}
#pragma GCC diagnostic pop

/* SERVICE-39 */
static void test_a_time_that_its_kind_can_have_stays_and_a_later_one_is_void(struct tx *tx)
{
    assert_int_equal(apply(tx), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        insert(tx, &rows[i], tx->now_us + rows[i].ahead_s * US_PER_S);
        if (apply(tx) != 0)
            fail_msg("%s: not void", rows[i].columns);
        tx->now_us -= 2 * MINUTE_US;
        if (apply(tx) != 1 || apply(tx) != 0)
            fail_msg("%s: void once", rows[i].columns);
        tx->now_us += 2 * MINUTE_US;
    }
}

/* Last, because the clock is doubted for an hour from then on. */
static void test_a_clock_that_may_be_behind_ends_nothing_that_cannot_begin_again(struct tx *tx)
{
    clock_doubt();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        insert(tx, &rows[i], tx->now_us + rows[i].ahead_s * US_PER_S + 2 * MINUTE_US);
        if (apply(tx) != !rows[i].settled)
            fail_msg("%s: %s", rows[i].columns, rows[i].settled ? "void" : "not void");
    }
}

/* SERVICE-39 */
static void test_every_bound_has_a_row(void **state)
{
    (void)state;
    static const char bounds[] =
#define BOUND(statement, ahead_s, value, after, columns) columns " "
#include "tbl/times.def"
        ;
    char tried[2048] = " delivery.due_at delivery.attempted_at delivery_lane.due_at building_webhook.due_at ";
    for (size_t i = 0, n = strlen(tried); i < sizeof rows / sizeof *rows; i++)
        n += (size_t)snprintf(tried + n, sizeof tried - n, "%s ", rows[i].columns);
    for (struct str rest = str_z(bounds), column; rest.n;) {
        char word[64];
        column = str_cut(rest, ' ', &rest);
        snprintf(word, sizeof word, " %.*s ", STR_ARG(column));
        if (!strstr(tried, word))
            fail_msg("%s", word);
    }
}

/* ---- jobs and deliveries ---- */

static int64_t void_jobs(struct tx *tx, int64_t longest_s)
{
    int64_t changed;
    assert_none(time_bound_apply_jobs(tx, "hourly", longest_s, &changed));
    return changed;
}

static void test_a_job_waits_no_longer_than_its_kind_can(struct tx *tx)
{
    assert_none(job_add_once(tx, STR("periodic"), "hourly", tx->now_us + 3600 * US_PER_S, STR("")));
    assert_int_equal(void_jobs(tx, 3600), 0);
    tx->now_us -= 30 * US_PER_S; /* another node's clock */
    assert_int_equal(void_jobs(tx, 3600), 0);
    tx->now_us -= AHEAD_US;
    assert_int_equal(void_jobs(tx, 86400), 1); /* it was added in the future */
    assert_int_equal(take_jobs(tx, "hourly", NULL), 1);
    assert_int_equal(void_jobs(tx, 86400), 0);
}

static void delivery(struct tx *tx, const char *id, int64_t due_us, int attempts, int64_t attempted_us)
{
    char sql[512];
    snprintf(sql, sizeof sql,
             "INSERT INTO delivery (webhook_id, id, account_id, event_id, created_at, due_at, attempts, attempted_at) "
             "VALUES ('w', '%s', 'a', 'e', 0, %lld, %d, %lld)",
             id, (long long)due_us, attempts, (long long)attempted_us);
    tx_sql(tx, sql);
}

static void test_deliveries_and_their_endpoints_wait_no_longer_than_their_plan(struct tx *tx)
{
    assert_int_equal(apply(tx), 0);
    tx_sql(tx, "INSERT INTO delivery_lane (webhook_id, due_at) VALUES ('w', 9223372036854775806)");
    delivery(tx, "next", tx->now_us + 7200 * US_PER_S, 4, tx->now_us);
    assert_int_equal(apply(tx), 0);
    delivery(tx, "first", tx->now_us, 0, 0);
    delivery(tx, "again", tx->now_us + 60 * US_PER_S, 1, tx->now_us);
    tx->now_us -= AHEAD_US;
    assert_int_equal(apply(tx), 4); /* the three, and the lane */
    assert_int_equal(apply(tx), 0);
}

static void test_an_endpoint_of_the_earlier_revision_waits_no_longer_than_its_deliveries(struct tx *tx)
{
    char sql[512];
    assert_int_equal(apply(tx), 0);
    tx_sql(tx, "INSERT INTO building (account_id, id, created_at, is_primary, label) VALUES ('a', 'b', 0, 1, '')");
    snprintf(sql, sizeof sql,
             "INSERT INTO building_webhook (building_id, id, account_id, created_at, url, events, secret, due_at) "
             "VALUES ('b', 'w', 'a', 0, '', 0, %s, 9223372036854775806)",
             a_blob(tx));
    tx_sql(tx, sql);
    delivery(tx, "next", tx->now_us + 7200 * US_PER_S, 4, tx->now_us);
    assert_int_equal(apply(tx), 0);
    tx->now_us -= AHEAD_US;
    assert_int_equal(apply(tx), 2); /* the delivery and the endpoint */
    assert_int_equal(apply(tx), 0);
}

/* ---- sign-in ---- */

static void test_codes_asked_for_by_a_clock_that_was_ahead_do_not_count_as_pending(struct tx *tx)
{
    struct challenge c;
    tx->now_us += 40 * DAYS;
    for (int i = 0; i < 3; i++)
        assert_none(session_challenge(tx, OWNER, &c));
    assert_error(session_challenge(tx, OWNER, &c), ERR_OTP_RATE_LIMIT);
    tx->now_us -= 40 * DAYS;
    assert_error(session_challenge(tx, OWNER, &c), ERR_OTP_RATE_LIMIT);
    assert_int_equal(apply(tx), 3);
    assert_none(session_challenge(tx, OWNER, &c));
}

#define TESTS(T)                                                                                                       \
    T(test_a_time_that_its_kind_can_have_stays_and_a_later_one_is_void)                                                \
    T(test_a_job_waits_no_longer_than_its_kind_can)                                                                    \
    T(test_deliveries_and_their_endpoints_wait_no_longer_than_their_plan)                                              \
    T(test_an_endpoint_of_the_earlier_revision_waits_no_longer_than_its_deliveries)                                    \
    T(test_codes_asked_for_by_a_clock_that_was_ahead_do_not_count_as_pending)

int main(void)
{
    const struct CMUnitTest schema[] = {
        cmocka_unit_test_setup_teardown(test_every_column_that_holds_a_time_is_listed_once, store_fixture_open,
                                        store_fixture_close),
        cmocka_unit_test(test_every_bound_has_a_row),
    };
    const struct CMUnitTest sqlite[] = {TESTS(TX_SQLITE)};
    const struct CMUnitTest postgresql[] = {TESTS(TX_POSTGRESQL)};
    const struct CMUnitTest doubted[] = {
        TX_SQLITE(test_a_clock_that_may_be_behind_ends_nothing_that_cannot_begin_again)};
    int failed = cmocka_run_group_tests(schema, NULL, NULL) + cmocka_run_group_tests(sqlite, NULL, NULL);
    if (getenv("PORTERO_TEST_DSN"))
        failed += cmocka_run_group_tests(postgresql, store_cluster_start, store_cluster_stop);
    return failed + cmocka_run_group_tests(doubted, NULL, NULL);
}
