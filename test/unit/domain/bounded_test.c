/* Requests read a bounded number of rows, however many a building has: counted in the steps of SQLite's machine, of
 * which a row takes 10 to 40. And what they answer is what reading every row would give. */
#include "domain/account.h"
#include "domain/activity.h"
#include "domain/house.h"
#include "store/sqlite.h"

#define ENTRIES 200000

#define PAGE_STEPS   20000   /* of what runs on an HTTP thread */
#define SEARCH_STEPS 1500000 /* of what has a thread apart: some 50,000 rows */

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
static void bounded(struct house *h, const char *what, int64_t most, enum err (*run)(struct tx *, void *), void *arg)
{
    struct counted c = {run, arg, 0};
    assert_int_equal(house_run(h, STORE_READ, counted_run, &c), ERR_NONE);
    if (c.steps > most)
        fail_msg("%s took %lld steps, more than %lld", what, (long long)c.steps, (long long)most);
}

/* ---- the log ---- */

/* Entries newest last, a second apart, whose names are "name 0" to "name <names - 1>" in turn; each tenth is a call,
 * each seventh failed. The oldest is "first". All of even names are of one grant. */
static void fill_log(struct house *h, int names)
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
    const char *b = h->building.text;
    house_sql(h, arena_printf(&h->arena, kinds, names, b, names, names).p);
    house_sql(h, arena_printf(&h->arena, entries, ENTRIES - 1, b, b, names, names, names, h->account.text).p);
    if (h->fixture->config.engine == ENGINE_POSTGRESQL)
        house_sql(h, "ANALYZE");
}

struct reading {
    struct house *house;
    struct activity_filter filter;
    struct activity_page page;
};

static enum err list_run(struct tx *tx, void *arg)
{
    struct reading *r = arg;
    return activity_list(tx, &r->house->building, &r->filter, &r->page);
}

static struct val seconds(int64_t s)
{
    return v_time(s * US_PER_S);
}

/* Follows every page, or as many as `pages`, and returns how many entries there were. */
static int64_t read_log(struct house *h, const char *what, int64_t steps, struct activity_filter filter, int pages)
{
    struct reading r = {h, filter, {.more = true}};
    int64_t n = 0, last_us = INT64_MAX;
    for (; r.page.more && pages > 0; pages--) {
        bounded(h, what, steps, list_run, &r);
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

/* How many entries match, by reading all. */
static int64_t matching(struct house *h, const char *where)
{
    return number(house_sql(h, arena_printf(&h->arena,
                                            "SELECT count(*) FROM activity a JOIN activity_kind k "
                                            "ON k.building_id = a.building_id AND k.kind = a.kind "
                                            "WHERE a.building_id = '%s' AND %s",
                                            h->building.text, where)
                                   .p));
}

static void search_everything(struct house *h, int names)
{
    fill_log(h, names);
    const struct val most = v_int(ACTIVITY_PAGE_MAX), grant = text(h->account.text);
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
        const int64_t wanted = matching(h, cases[i].where);
        const int64_t n = read_log(h, cases[i].where, SEARCH_STEPS, f, 2000);
        if (n != wanted)
            fail_msg("%s: %lld entries in place of %lld", cases[i].where, (long long)n, (long long)wanted);
    }
    assert_int_equal(read_log(h, "everything", PAGE_STEPS, (struct activity_filter){.limit = most}, 3), 300);
    assert_int_equal(read_log(h, "long ago", PAGE_STEPS, (struct activity_filter){.until = seconds(99)}, 9), 100);
    assert_int_equal(read_log(h, "a grant", PAGE_STEPS, (struct activity_filter){.unlock_id = grant, .limit = most}, 3),
                     300);
}

static void test_a_search_of_few_names_finds_everything_in_few_steps(void **state)
{
    search_everything(*state, 40);
}

static void test_a_search_of_names_of_which_many_match_finds_everything_in_few_steps(void **state)
{
    search_everything(*state, 400);
}

static void test_a_search_of_more_names_than_are_merged_finds_everything_in_few_steps(void **state)
{
    search_everything(*state, 4000);
}

static void test_a_search_of_more_names_than_are_looked_through_finds_everything_in_few_steps(void **state)
{
    search_everything(*state, 30000);
}

/* ---- grants ---- */

#define GRANTS 100000

/* Passcodes without end but a few of each other state, and a few timers, all the oldest. */
static void fill_grants(struct house *h)
{
    static const char grants[] =
        "INSERT INTO access_grant (building, id, type, label, enabled, created_at, ends_at, starts_at, remaining_uses, "
        "access_code) "
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
        "SELECT 1, %s, CASE WHEN i < 60 THEN 0 ELSE 1 END, 'x', CASE WHEN i %% 1000 = 1 THEN 0 ELSE 1 END, 0, "
        "CASE WHEN i %% 5000 = 3 THEN 1000 ELSE 9223372036854775807 END, "
        "CASE WHEN i %% 5000 = 5 THEN 9000000000000000 ELSE 0 END, CASE WHEN i %% 2000 = 2 THEN 0 END, "
        "CASE WHEN i >= 60 THEN 'c' || i END FROM n";
    const bool sqlite = h->fixture->config.engine == ENGINE_SQLITE;
    house_sql(h,
              arena_printf(&h->arena, "INSERT INTO grant_building (id, number) VALUES ('%s', 1)", h->building.text).p);
    house_sql(
        h, arena_printf(&h->arena, grants, GRANTS - 1,
                        sqlite ? "CAST(printf('%012d', i) AS BLOB)" : "CAST(lpad(CAST(i AS TEXT), 12, '0') AS BYTEA)")
               .p);
    house_sql(h, "INSERT INTO grant_count (building, enabled) SELECT 1, count(*) FROM access_grant WHERE enabled = 1");
    if (!sqlite)
        house_sql(h, "ANALYZE");
}

struct grant_reading {
    struct house *house;
    struct grant_filter filter;
    struct grant_page page;
};

static enum err grant_list_run(struct tx *tx, void *arg)
{
    struct grant_reading *r = arg;
    return grant_list(tx, &r->house->building, &r->filter, &r->page);
}

static int64_t read_grants(struct house *h, const char *what, struct grant_filter filter, int pages, int64_t steps)
{
    struct grant_reading r = {h, filter, {.more = true}};
    int64_t n = 0;
    for (; r.page.more && pages > 0; pages--) {
        bounded(h, what, steps, grant_list_run, &r);
        n += (int64_t)r.page.count;
        r.filter.cursor = v_str(arena_str(&h->arena, id_str(&r.page.end)));
    }
    return n;
}

static void test_a_filtered_list_of_grants_finds_everything_in_few_steps(void **state)
{
    struct house *h = *state;
    fill_grants(h);
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
        const int64_t wanted = number(house_sql(
            h,
            arena_printf(&h->arena, "SELECT count(*) FROM access_grant WHERE revoked = 0 AND %s", cases[i].where).p));
        const int64_t n = read_grants(h, cases[i].where, f, 2000, SEARCH_STEPS);
        if (n != wanted)
            fail_msg("%s: %lld grants in place of %lld", cases[i].where, (long long)n, (long long)wanted);
    }
    assert_int_equal(read_grants(h, "all", (struct grant_filter){.limit = most}, 3, PAGE_STEPS), 300);
    assert_int_equal(
        read_grants(h, "active", (struct grant_filter){.limit = most, .status = text("active")}, 3, SEARCH_STEPS), 300);
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
    struct house *h = *state;
    house_sql(h, "UPDATE building SET is_primary = 1");
    fill_grants(h);
    struct account_reading r = {.who = {.account_id = h->account, .primary_id = h->building, .building_count = 1}};
    bounded(h, "the account", PAGE_STEPS, account_run, &r);
    assert_int_equal(r.view.active_grants, GRANTS - GRANTS / 1000);
}

#define TESTS(T)                                                                                                       \
    T(test_a_search_of_few_names_finds_everything_in_few_steps),                                                       \
        T(test_a_search_of_names_of_which_many_match_finds_everything_in_few_steps),                                   \
        T(test_a_search_of_more_names_than_are_merged_finds_everything_in_few_steps),                                  \
        T(test_a_search_of_more_names_than_are_looked_through_finds_everything_in_few_steps),                          \
        T(test_a_filtered_list_of_grants_finds_everything_in_few_steps),                                               \
        T(test_an_account_with_many_grants_is_shown_in_few_steps)

HOUSE_RUN(TESTS)
