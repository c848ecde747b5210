/* No statement of a request reads a whole table, or sorts a number of rows that grows with use, according to the
 * planner of SQLite. Exceptions are listed here with their reasons. test/unit/domain/bounded_test.c counts the steps of
 * requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "fixture.h"
#include "store/sql_table.h"

#define START    "once at the start"
#define JOBS     "run by the job threads, over unfinished jobs"
#define OPERATOR "for the operator"
#define SANDBOX  "of the sandbox"
#define ACCOUNT  "of an account's few: limits and the purge see to it"
#define NODES    "of the processes that ran within a day"
#define PAGE     "of a page's rows"
#define CLOCK    "at the start, once an hour, and when the clock was set"
#define USABLE   "of the grants that open one building's door now"

static const struct exception {
    const char *statement, *reason;
} exceptions[] = {
    {"access_usable", USABLE},
    {"access_callers", "of a building's few: the newest callers are kept"},
    {"access_passcodes", USABLE},
    {"access_with_code", "of the grants with one code: the earlier ones have ended"},
    {"access_count", "of rows that a LIMIT has counted"},
    {"account_list_billed", START},
    {"account_usage", "of the passes that a LIMIT has counted"},
    {"account_list_unbilled", START},
    {"activity_merge", PAGE},
    {"activity_kinds", "of rows that a LIMIT has counted"},
    {"browser_end_surplus", ACCOUNT},
    {"browser_list", ACCOUNT},
    {"building_list", ACCOUNT},
    {"call_record_minutes", "of a day's calls that took minutes: their limit bounds them"},
    {"call_record_open", "of the calls in progress, when a process has died"},
    {"checkout_latest", ACCOUNT},
    {"checkout_list_pending", OPERATOR},
    {"commit_mark_expire", "of PostgreSQL's workers: a few hundred rows"},
    {"building_webhook_settle", "of the list it is given"},
    {"delivery_lane_settle", "of the list it is given"},
    {"delivery_log_account", OPERATOR},
    {"delivery_take", "of the list it is given"},
    {"erasure_jobs", JOBS},
    {"erasure_sandbox_customers", SANDBOX},
    {"erasure_sandbox_quantities", SANDBOX},
    {"erasure_sandbox_sessions", SANDBOX},
    {"erasure_sandbox_subscriptions", SANDBOX},
    {"export_push", OPERATOR},
    {"feed_leap", "after a restore, once"},
    {"grant_codes_taken", USABLE},
    {"grant_list_usable", USABLE},
    {"job_list_failing", OPERATOR},
    {"job_next", JOBS},
    {"job_unlease", START},
    {"member_list", OPERATOR},
    {"box_list", OPERATOR},
    {"node_beat", NODES},
    {"node_list", OPERATOR},
    {"node_purge", NODES},
    {"schema_has", "once, at the start"},
    {"schema_users", NODES},
    {"notice_list", "rows of those who wait for messages: gone within seconds"},
    {"number_list", OPERATOR},
    {"number_purchase_purge", "of purchases without an answer"},
    {"operation_list_current", OPERATOR},
    {"operation_stall_all", "of those under way: one an account"},
    {"phone_change_nth", ACCOUNT},
    {"phone_code_newest", ACCOUNT},
    {"phone_code_nth", ACCOUNT},
    {"phone_code_members_nth", ACCOUNT},
    {"phone_code_used_nth", ACCOUNT},
    {"push_list", ACCOUNT},
    {"push_message_take", "of the list it is given"},
    {"push_next", "one row"},
    {"status_counts", "of the first 10,000 rows, for the metrics"},
    {"status_failing", "of the first 1000 rows, for the metrics"},
    {"sandbox_message_list", SANDBOX},
    {"sandbox_number_list", SANDBOX},
    {"schema_exists", START},
    {"sealed_webhook_newest", "one row, by the index"},
    {"time_bound_box", CLOCK},
    {"time_bound_checkout", CLOCK},
    {"time_bound_door_guard", CLOCK},
    {"time_bound_job_lease", CLOCK},
    {"time_bound_key_used", CLOCK},
    {"time_bound_member", CLOCK},
    {"time_bound_member_mail", CLOCK},
    {"time_bound_notice_mail", CLOCK},
    {"time_bound_number_purchase", CLOCK},
    {"time_bound_oauth_grant", CLOCK},
    {"time_bound_operation", CLOCK},
    {"time_bound_phone_change", CLOCK},
    {"time_bound_push_message", CLOCK},
    {"time_bound_quote", CLOCK},
    {"time_bound_subscription", CLOCK},
    {"time_bound_webhook", CLOCK},
    {"visit_list", PAGE},
};

static const char *reason_for(const char *statement)
{
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (strcmp(exceptions[i].statement, statement) == 0)
            return exceptions[i].reason;
    return NULL;
}

/* Sorting behind an ordered prefix is accepted: it only sorts rows with the same prefix, which are few. "old" are rows
 * to delete, which a LIMIT has chosen. */
static bool grows(const char *detail)
{
    const bool scan =
        strncmp(detail, "SCAN ", 5) == 0 && strcmp(detail, "SCAN CONSTANT ROW") != 0 && strcmp(detail, "SCAN old") != 0;
    return scan || strstr(detail, "USE TEMP B-TREE FOR") != NULL;
}

/* Finds the first step of the plan that may read or sort a whole table; "" if there is no such step. */
static void find_step(sqlite3 *handle, const struct sql_statement *s, char ret[static 200])
{
    sqlite3_stmt *stmt;
    char *sql = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", s->sqlite);
    ret[0] = '\0';
    assert_int_equal(sqlite3_prepare_v2(handle, sql, -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW && !ret[0]) {
        const char *detail = (const char *)sqlite3_column_text(stmt, 3);
        if (grows(detail))
            snprintf(ret, 200, "%s", detail);
    }
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
}

static void no_statement_of_a_request_reads_or_sorts_everything(void **state)
{
    struct store_fixture *f = *state;
    char path[100], step[200];
    sqlite3 *handle;
    int wrong = 0;
    snprintf(path, sizeof path, "%s/portero.db", f->dir);
    assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
    for (int i = 0; i < SQL_COUNT; i++) {
        if (strncmp(sql_table[i].name, "check_", 6) == 0)
            continue; /* porterod check-store reads everything */
        const char *reason = reason_for(sql_table[i].name);
        find_step(handle, &sql_table[i], step);
        if (step[0] && !reason)
            print_error("%s: %s. Give it an index, or an exception in this test.\n", sql_table[i].name, step);
        if (!step[0] && reason)
            print_error("%s: needs no exception any more (%s)\n", sql_table[i].name, reason);
        wrong += (step[0] != '\0') != (reason != NULL);
    }
    sqlite3_close(handle);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_statement_of_a_request_reads_or_sorts_everything, store_fixture_open,
                                        store_fixture_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
