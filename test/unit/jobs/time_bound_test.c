/* Times that a clock wrote while it was ahead: they are void once it is right, whatever kind they are, and times of a
 * clock that was always right never are. */
#include "domain/tx_fixture.h"

#include <sqlite3.h>

#include "jobs/time_bound.h"
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

/* A row whose time lies ahead_s after now at most, as the kind allows. Arguments of the format: the time, a BLOB. */
static const struct row {
    const char *table, *values;
    int64_t ahead_s;
} rows[] = {
    {"job (id, kind, created_at, due_at, payload, leased_until)", "'j', 'mail', 0, 0, %2$s, %1$lld", 120},
    {"notice_mail (building_id, account_id, notices, language, paid_until)", "'b', 'a', 1, 'en', %1$lld", 3600},
    {"member (building_id, id, account_id, name, email, created_at, mail_paid_until)",
     "'b', 'm', 'a', '', '', 0, %1$lld", 3600},
    {"door_guard (building_id, known, failed_1)", "'b', 0, %1$lld", 0},
    {"door_caller (building_id, number, released_at)", "'b', '+15550100000', %1$lld", 0},
    {"challenge (id, email, otp_mac, expires_at)", "'c', 'a@example.com', %2$s, %1$lld", 900},
    {"phone_code (account_id, id, phone, code_mac, created_at, expires_at)", "'a', 'p', '+1', %2$s, 0, %1$lld", 600},
    {"phone_change (account_id, id, phone, created_at)", "'a', 'p', '+1', %1$lld", 0},
    {"api_key (hash, id, account_id, kind, name, prefix, scopes, created_at, expires_at)",
     "%2$s, 'k', 'a', 'web_session', '', '', 0, 0, %1$lld", 43200},
    {"oauth_code (hash, account_id, client, redirect, challenge, scopes, resource, used, expires_at)",
     "%2$s, 'a', %2$s, %2$s, '', 0, 0, 0, %1$lld", 60},
    {"webhook (account_id, id, created_at, url, events, secret, previous_until)", "'a', 'w', 0, '', 0, %2$s, %1$lld",
     86400},
    {"member (building_id, id, account_id, name, email, created_at, invited_until)",
     "'b', 'm', 'a', 'Ana', 'b@example.com', 0, %1$lld", 7 * 86400},
    {"box (name, secret, created_at, registered_until)", "'box', %2$s, 0, %1$lld", 3600},
    {"checkout (account_id, id, request_id, request_hash, status, created_at, plan, quantity, email, return_url, "
     "checked_at)",
     "'a', 'c', 'r', %2$s, 'open', 0, '', 1, '', '', %1$lld", 0},
    {"twilio_call (sid, step, ended, state, answer, updated_at)", "'s', 0, 0, '', '', %1$lld", 0},
    {"number_purchase (reference, open_until)", "'r', %1$lld", 3600},
    {"account (id, email, created_at, subscription_ended_at)", "'a', 'a@example.com', 0, %1$lld", 0},
    {"building_operation (account_id, id, action, status, created_at, label, building_count, subscription_id, "
     "price_id, "
     "current_quantity, new_quantity, currency, next_invoice_minor, per_building_minor, proration_s, expires_at)",
     "'a', 'o', 'add', 'quoted', 0, '', 1, '', '', 1, 2, 'usd', 0, 0, 0, %1$lld", 900},
    {"building_operation (account_id, id, action, status, created_at, label, building_count, subscription_id, "
     "price_id, "
     "current_quantity, new_quantity, currency, next_invoice_minor, per_building_minor, proration_s, expires_at, "
     "progressed_at)",
     "'a', 'o', 'add', 'running', 0, '', 1, '', '', 1, 2, 'usd', 0, 0, 0, 0, %1$lld", 0},
};

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void insert(struct tx *tx, const struct row *r, int64_t at_us)
{
    char values[512], sql[1024], table[64];
    const char *blob = tx->db->engine == &sqlite_engine ? "x'01'" : "'\\x01'::bytea";
    snprintf(table, sizeof table, "%.*s", (int)strcspn(r->table, " "), r->table);
    snprintf(values, sizeof values, r->values, (long long)at_us, blob);
    snprintf(sql, sizeof sql, "DELETE FROM %s; INSERT INTO %s VALUES (%s)", table, r->table, values);
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
            fail_msg("%s: not void", rows[i].table);
        tx->now_us -= 2 * MINUTE_US;
        if (apply(tx) != 1 || apply(tx) != 0)
            fail_msg("%s: void once", rows[i].table);
        tx->now_us += 2 * MINUTE_US;
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
    T(test_codes_asked_for_by_a_clock_that_was_ahead_do_not_count_as_pending)

int main(void)
{
    const struct CMUnitTest schema[] = {cmocka_unit_test_setup_teardown(
        test_every_column_that_holds_a_time_is_listed_once, store_fixture_open, store_fixture_close)};
    const struct CMUnitTest sqlite[] = {TESTS(TX_SQLITE)};
    const struct CMUnitTest postgresql[] = {TESTS(TX_POSTGRESQL)};
    int failed = cmocka_run_group_tests(schema, NULL, NULL) + cmocka_run_group_tests(sqlite, NULL, NULL);
    if (getenv("PORTERO_TEST_DSN"))
        failed += cmocka_run_group_tests(postgresql, store_cluster_start, store_cluster_stop);
    return failed;
}
