/* Requests read a bounded number of rows, however many a building has, and return the same as reading every row. The
 * cost is counted in steps of SQLite's virtual machine; a row takes 10 to 40. */
#include "domain/account.h"
#include "domain/activity.h"
#include "domain/building_fixture.h"
#include "store/sqlite.h"

#define ENTRIES 200000

#define PAGE_STEPS   20000   /* of a read on an HTTP thread */
#define SEARCH_STEPS 1500000 /* of a read on a thread of the store: about 50,000 rows */

/* ---- counting ---- */

struct counted {
    enum err (*run)(struct tx *tx, void *arg);
    void *arg;
    int64_t steps; /* 0 on PostgreSQL */
};

static int64_t take_steps(struct db *db)
{
    int64_t steps = 0;
    if (db->engine != &sqlite_engine)
        return 0;
    for (int i = 0; i < SQL_COUNT; i++)
        if (((struct sqlite_db *)db)->statements[i].handle)
            steps += sqlite3_stmt_status(((struct sqlite_db *)db)->statements[i].handle, SQLITE_STMTSTATUS_VM_STEP, 1);
    return steps;
}

static enum err counted_run(struct tx *tx, void *arg)
{
    struct counted *c = arg;
    (void)take_steps(tx->db);
    enum err e = c->run(tx, c->arg);
    c->steps = take_steps(tx->db);
    return e;
}

/* Runs a read; the test fails if it takes more steps than `most`. */
static void bounded(struct building_fixture *fx, const char *what, int64_t most, enum err (*run)(struct tx *, void *),
                    void *arg)
{
    struct counted c = {run, arg, 0};
    assert_int_equal(fixture_run(fx, STORE_READ, counted_run, &c), ERR_NONE);
    if (c.steps > most)
        fail_msg("%s took %lld steps, more than %lld", what, (long long)c.steps, (long long)most);
}

/* ---- the log ---- */

/* Adds entries, a second apart, with the names "name 0" to "name <names - 1>" in turn; every tenth is a call, every
 * seventh failed. The oldest is "first". Entries with even names belong to one grant. */
static void fill_log(struct building_fixture *fx, int names)
{
    static const char kinds[] =
        "INSERT INTO activity_kind (building_id, kind, type, unlock_type, name, name_folded, succeeded) "
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
        "SELECT '%s', i + 1, CASE WHEN i %% 10 = 0 THEN 'call' ELSE 'unlock' END, '', "
        "CASE WHEN i = %d THEN 'First' ELSE 'Name ' || i END, CASE WHEN i = %d THEN 'first' ELSE 'name ' || i END, "
        "CASE WHEN i %% 7 = 0 THEN 0 ELSE 1 END FROM n";
    static const char entries[] =
        "INSERT INTO activity (building_id, created_at, id, kind, unlock_id) "
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
        "SELECT '%s', CAST(i AS BIGINT) * 1000000, 'e' || substr('%s', 2, 15) || (10000000 + i), "
        "CASE WHEN i = 0 THEN %d ELSE i %% %d END + 1, "
        "CASE WHEN i > 0 AND i %% %d %% 2 = 0 THEN '%s' END FROM n";
    const char *b = fx->building.text;
    fixture_sql(fx, arena_printf(&fx->arena, kinds, names, b, names, names).p);
    fixture_sql(fx, arena_printf(&fx->arena, entries, ENTRIES - 1, b, b, names, names, names, fx->account.text).p);
    if (fx->fixture->config.engine == ENGINE_POSTGRESQL)
        fixture_sql(fx, "ANALYZE");
}

struct reading {
    struct building_fixture *fx;
    struct activity_filter filter;
    struct activity_page page;
};

static enum err list_run(struct tx *tx, void *arg)
{
    struct reading *r = arg;
    return activity_list(tx, &r->fx->building, &r->filter, &r->page);
}

static struct val seconds(int64_t s)
{
    return v_time(s * US_PER_S);
}

/* Reads every page, or the first `pages`. Returns the number of entries. */
static int64_t read_log(struct building_fixture *fx, const char *what, int64_t steps, struct activity_filter filter,
                        int pages)
{
    struct reading r = {fx, filter, {.more = true}};
    int64_t n = 0, last_us = INT64_MAX;
    for (; r.page.more && pages > 0; pages--) {
        bounded(fx, what, steps, list_run, &r);
        for (size_t i = 0; i < r.page.count; i++) {
            assert_true(r.page.items[i].created_us < last_us);
            last_us = r.page.items[i].created_us;
        }
        n += (int64_t)r.page.count;
        r.filter.cursor = v_str(r.page.cursor);
    }
    return n;
}

static int64_t number(const char *text)
{
    return strtoll(text, NULL, 10);
}

/* Counts the matching entries by reading all. */
static int64_t matching(struct building_fixture *fx, const char *where)
{
    return number(fixture_sql(fx, arena_printf(&fx->arena,
                                               "SELECT count(*) FROM activity a JOIN activity_kind k "
                                               "ON k.building_id = a.building_id AND k.kind = a.kind "
                                               "WHERE a.building_id = '%s' AND %s",
                                               fx->building.text, where)
                                      .p));
}

static void search_everything(struct building_fixture *fx, int names)
{
    fill_log(fx, names);
    const struct val most = v_int(ACTIVITY_PAGE_MAX), grant = text(fx->account.text);
    const struct {
        const char *where;
        struct activity_filter filter;
    } cases[] = {
        {"name = 'First'", {.q = text("first")}},
        {"name LIKE 'x%'", {.q = text("nobody")}},
        {"type = 'call' AND succeeded = 0 AND name LIKE '%11%'",
         {.q = text("11"), .type = text("call"), .succeeded = v_bool(false)}},
        {"a.created_at BETWEEN 100000000 AND 3000000000 AND succeeded = 0",
         {.since = seconds(100), .until = seconds(3000), .succeeded = v_bool(false)}},
        {"a.created_at <= 5000000000 AND name LIKE '%19%'", {.until = seconds(5000), .q = text("19")}},
        {"unlock_id IS NOT NULL AND name LIKE 'Name 12%' AND type = 'unlock'",
         {.unlock_id = grant, .q = text("name 12"), .type = text("unlock")}},
        {"unlock_id IS NOT NULL AND a.created_at <= 4000000000 AND succeeded = 0",
         {.unlock_id = grant, .until = seconds(4000), .succeeded = v_bool(false)}},
        {"name LIKE 'Name 13%' AND a.created_at >= 195000000000", {.q = text("NAME 13"), .since = seconds(195000)}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct activity_filter f = cases[i].filter;
        f.limit = most;
        const int64_t wanted = matching(fx, cases[i].where);
        const int64_t n = read_log(fx, cases[i].where, SEARCH_STEPS, f, 2000);
        if (n != wanted)
            fail_msg("%s: %lld entries in place of %lld", cases[i].where, (long long)n, (long long)wanted);
    }
    assert_int_equal(read_log(fx, "everything", PAGE_STEPS, (struct activity_filter){.limit = most}, 3), 300);
    assert_int_equal(read_log(fx, "long ago", PAGE_STEPS, (struct activity_filter){.until = seconds(99)}, 9), 100);
    assert_int_equal(
        read_log(fx, "a grant", PAGE_STEPS, (struct activity_filter){.unlock_id = grant, .limit = most}, 3), 300);
}

static void test_a_search_of_few_names_finds_everything_in_few_steps(void **state)
{
    search_everything(*state, 40);
}

/* LOG-7 */
static void test_a_search_with_many_matching_names_finds_everything_in_few_steps(void **state)
{
    search_everything(*state, 400);
}

static void test_a_search_beyond_the_merge_limit_finds_everything_in_few_steps(void **state)
{
    search_everything(*state, 4000);
}

/* LOG-7 */
static void test_a_search_beyond_the_limit_on_kinds_finds_everything_in_few_steps(void **state)
{
    search_everything(*state, 30000);
}

/* ---- grants ---- */

#define GRANTS 100000

/* Adds passcodes without end. The oldest grants are a few of each other status, and a few timers. */
static void fill_grants(struct building_fixture *fx)
{
    static const char grants[] =
        "INSERT INTO access_grant (building, id, type, label, enabled, created_at, ends_at, starts_at, remaining_uses, "
        "access_code) "
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
        "SELECT 1, %s, CASE WHEN i < 60 THEN 0 ELSE 1 END, 'x', CASE WHEN i %% 1000 = 1 THEN 0 ELSE 1 END, 0, "
        "CASE WHEN i %% 5000 = 3 THEN 1000 ELSE 9223372036854775807 END, "
        "CASE WHEN i %% 5000 = 5 THEN 9000000000000000 ELSE 0 END, CASE WHEN i %% 2000 = 2 THEN 0 END, "
        "CASE WHEN i >= 60 THEN 'c' || i END FROM n";
    const bool sqlite = fx->fixture->config.engine == ENGINE_SQLITE;
    fixture_sql(
        fx, arena_printf(&fx->arena, "INSERT INTO grant_building (id, number) VALUES ('%s', 1)", fx->building.text).p);
    fixture_sql(
        fx, arena_printf(&fx->arena, grants, GRANTS - 1,
                         sqlite ? "CAST(printf('%012d', i) AS BLOB)" : "CAST(lpad(CAST(i AS TEXT), 12, '0') AS BYTEA)")
                .p);
    fixture_sql(fx,
                "INSERT INTO grant_count (building, enabled) SELECT 1, count(*) FROM access_grant WHERE enabled = 1");
    if (!sqlite)
        fixture_sql(fx, "ANALYZE");
}

struct grant_reading {
    struct building_fixture *fx;
    struct grant_filter filter;
    struct grant_page page;
};

static enum err grant_list_run(struct tx *tx, void *arg)
{
    struct grant_reading *r = arg;
    return grant_list(tx, &r->fx->building, &r->filter, &r->page);
}

static int64_t read_grants(struct building_fixture *fx, const char *what, struct grant_filter filter, int pages,
                           int64_t steps)
{
    struct grant_reading r = {fx, filter, {.more = true}};
    int64_t n = 0;
    for (; r.page.more && pages > 0; pages--) {
        bounded(fx, what, steps, grant_list_run, &r);
        n += (int64_t)r.page.count;
        r.filter.cursor = v_str(arena_str(&fx->arena, id_str(&r.page.end)));
    }
    return n;
}

/* GRANT-27 */
static void test_a_filtered_list_of_grants_finds_everything_in_few_steps(void **state)
{
    struct building_fixture *fx = *state;
    fill_grants(fx);
    const struct val most = v_int(GRANT_PAGE_MAX);
    const struct {
        const char *where;
        struct grant_filter filter;
    } cases[] = {
        {"type = 0", {.type = text("timer")}},
        {"type = 2", {.type = text("routine")}},
        {"enabled = 0", {.status = text("inactive")}},
        {"enabled = 0 AND type = 0", {.status = text("inactive"), .type = text("timer")}},
        {"enabled = 1 AND remaining_uses = 0", {.status = text("exhausted")}},
        {"enabled = 1 AND remaining_uses = 0 AND type = 2", {.status = text("exhausted"), .type = text("routine")}},
        {"enabled = 1 AND remaining_uses IS NULL AND ends_at = 1000", {.status = text("expired")}},
        {"enabled = 1 AND remaining_uses IS NULL AND starts_at > 0", {.status = text("scheduled")}},
        {"enabled = 1 AND type = 0 AND remaining_uses IS NULL AND starts_at = 0 AND ends_at > 1000",
         {.status = text("active"), .type = text("timer")}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct grant_filter f = cases[i].filter;
        f.limit = most;
        const int64_t wanted = number(fixture_sql(
            fx,
            arena_printf(&fx->arena, "SELECT count(*) FROM access_grant WHERE revoked = 0 AND %s", cases[i].where).p));
        const int64_t n = read_grants(fx, cases[i].where, f, 2000, SEARCH_STEPS);
        if (n != wanted)
            fail_msg("%s: %lld grants in place of %lld", cases[i].where, (long long)n, (long long)wanted);
    }
    assert_int_equal(read_grants(fx, "all", (struct grant_filter){.limit = most}, 3, PAGE_STEPS), 300);
    assert_int_equal(
        read_grants(fx, "active", (struct grant_filter){.limit = most, .status = text("active")}, 3, SEARCH_STEPS),
        300);
}

/* ---- the account ---- */

struct account_reading {
    struct principal who;
    struct account_view view;
};

static enum err account_run(struct tx *tx, void *arg)
{
    struct account_reading *r = arg;
    return account_view(tx, &r->who, &r->view);
}

static void test_an_account_with_many_grants_is_shown_in_few_steps(void **state)
{
    struct building_fixture *fx = *state;
    fixture_sql(fx, "UPDATE building SET is_primary = 1");
    fill_grants(fx);
    struct account_reading r = {.who = {.account_id = fx->account, .primary_id = fx->building, .building_count = 1}};
    bounded(fx, "the account", PAGE_STEPS, account_run, &r);
    assert_int_equal(r.view.active_grants, GRANTS - GRANTS / 1000);
}

#define TESTS(T)                                                                                                       \
    T(test_a_search_of_few_names_finds_everything_in_few_steps),                                                       \
        T(test_a_search_with_many_matching_names_finds_everything_in_few_steps),                                       \
        T(test_a_search_beyond_the_merge_limit_finds_everything_in_few_steps),                                         \
        T(test_a_search_beyond_the_limit_on_kinds_finds_everything_in_few_steps),                                      \
        T(test_a_filtered_list_of_grants_finds_everything_in_few_steps),                                               \
        T(test_an_account_with_many_grants_is_shown_in_few_steps)

FIXTURE_RUN(TESTS)
