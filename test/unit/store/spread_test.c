/* The store can grow and be spread: statements that someone waits for find their rows through an index that begins with
 * the account or the building (spread.def), and examine a bounded number, according to PostgreSQL's plans for known and
 * for unknown arguments. Statements examine no more rows in a store than in a tenth of it. PORTERO_TEST_ROWS is the
 * number of grants and of log entries; `make test-plans` takes ten million. plan_test.c has the plans of SQLite.
 * reads: docs/scaling.md */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "store/spread.h"

#define ROWS      160000
#define SMALLER   10    /* times smaller is the store to compare with */
#define ROWS_MOST 250   /* that a statement examines, if its row in spread.def has no number */
#define ROWS_FEW  25000 /* that work may examine that nobody waits for: a small table is read faster than its index */

static const char *const kinds[] = {"generic", "custom"}; /* of plan: for unknown and for known arguments */
#define KINDS (sizeof kinds / sizeof *kinds)

/* ---- names ---- */

static const struct spread_table *table_named(const char *name)
{
    for (size_t i = 0; i < SPREAD_TABLES; i++)
        if (strcmp(spread_tables[i].name, name) == 0)
            return &spread_tables[i];
    return NULL;
}

static bool has_word(const char *words, const char *word)
{
    const size_t n = strlen(word);
    for (const char *p = words; (p = strstr(p, word)); p += n)
        if ((p == words || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
            return true;
    return false;
}

static bool is_listed(const char *name)
{
    for (size_t i = 0; i < SPREAD_STATEMENTS; i++)
        if (strcmp(spread_statements[i].name, name) == 0)
            return true;
    return strncmp(name, "check_", 6) == 0 || strncmp(name, "sandbox_", 8) == 0 || strncmp(name, "schema_", 7) == 0;
}

/* ---- a plan ---- */

struct judged {
    const struct spread_statement *statement;
    PGresult *indexes; /* index, table, first column or expression */
    const char *kind;  /* of plan */
    int faults;
};

static const char *text(const json_t *node, const char *name)
{
    const char *value = json_string_value(json_object_get(node, name));
    return value ? value : "";
}

static double count(const json_t *node, const char *name)
{
    return json_number_value(json_object_get(node, name));
}

static void fault(struct judged *j, const char *what, const char *on, const char *condition)
{
    j->faults++;
    print_error("%s (%s plan): %s %s %s\n", j->statement->name, j->kind, what, on, condition);
}

/* The condition has an equality of the column: "(id = $1)", "((b.id = $1) AND …". */
static bool is_equality(const char *condition, const char *column)
{
    const size_t n = strlen(column);
    for (const char *p = condition; (p = strstr(p, column)); p += n)
        if (p > condition && strchr("(.", p[-1]) && strncmp(p + n, " = ", 3) == 0)
            return true;
    return false;
}

static void judge_index(struct judged *j, const char *index, const char *condition)
{
    int i = 0;
    while (i < PQntuples(j->indexes) && strcmp(PQgetvalue(j->indexes, i, 0), index) != 0)
        i++;
    assert_true(i < PQntuples(j->indexes));
    const struct spread_table *t = table_named(PQgetvalue(j->indexes, i, 1));
    const char *first = PQgetvalue(j->indexes, i, 2);
    if (!t || j->statement->path > CALL)
        return;
    if (!is_equality(condition, first))
        fault(j, "does not name the first column of", index, condition);
    else if (strcmp(first, t->owner) != 0 && !has_word(t->directories, first))
        fault(j, "uses neither owner nor directory, but", index, condition);
}

/* The rows of tables that a plan has read, with its children. */
static double examined(const json_t *node)
{
    double rows = 0;
    if (*text(node, "Relation Name") && strcmp(text(node, "Node Type"), "ModifyTable") != 0)
        rows = count(node, "Actual Loops") * (count(node, "Actual Rows") + count(node, "Rows Removed by Filter") +
                                              count(node, "Rows Removed by Index Recheck"));
    size_t i;
    json_t *child;
    json_array_foreach (json_object_get(node, "Plans"), i, child)
        rows += examined(child);
    return rows;
}

static json_t *explain(PGconn *conn, const struct spread_statement *s)
{
    return spread_explain(conn, "ANALYZE, TIMING OFF, ", s->name, s->arguments);
}

static void judge_node(struct judged *j, const json_t *node)
{
    const char *type = text(node, "Node Type"), *table = text(node, "Relation Name"), *index = text(node, "Index Name");
    if (strcmp(type, "Seq Scan") == 0 && table_named(table) && j->statement->path <= CALL)
        fault(j, "reads the whole table", table, "");
    if (*index && strcmp(type, "ModifyTable") != 0)
        judge_index(j, index, text(node, "Index Cond"));
    size_t i;
    json_t *child;
    json_array_foreach (json_object_get(node, "Plans"), i, child)
        judge_node(j, child);
}

/* Returns the number of faults. */
static int judge(PGconn *conn, PGresult *indexes, const struct spread_statement *s, const char *kind)
{
    struct judged j = {.statement = s, .indexes = indexes, .kind = kind};
    const int most = s->rows ? s->rows : s->path == BACKGROUND ? ROWS_FEW : ROWS_MOST;
    json_t *plan = explain(conn, s), *top = json_object_get(plan, "Plan");
    const double rows = examined(top);
    judge_node(&j, top);
    if (rows > most)
        fault(&j, "examines too many rows", "", "");
    if (j.faults) {
        char *all = json_dumps(plan, JSON_INDENT(1));
        print_error("%.0f rows: %s\n", rows, all);
        free(all);
    }
    json_decref(plan);
    return j.faults;
}

/* ---- tests ---- */

static void each_statement_names_who_uses_it(void **state)
{
    (void)state;
    int missing = 0;
    for (int i = 0; i < SQL_COUNT; i++)
        if (!is_listed(sql_table[i].name) && ++missing)
            print_error("%s: add it to test/unit/store/spread.def\n", sql_table[i].name);
    assert_int_equal(missing, 0);
}

/* The caller frees it. */
static char *read_page(void)
{
    char *page = NULL;
    FILE *file = fopen(SOURCE_DIR "/docs/scaling.md", "r");
    assert_non_null(file);
    assert_true(getdelim(&page, &(size_t){0}, '\0', file) > 0);
    fclose(file);
    return page;
}

/* The row of the table begins with "| `name` | `owner` | `directories` |". */
static void the_documentation_names_each_owner(void **state)
{
    (void)state;
    char *page = read_page(), row[200];
    for (size_t i = 0; i < SPREAD_TABLES; i++) {
        const struct spread_table *t = &spread_tables[i];
        const char *quote = *t->directories ? "`" : "";
        snprintf(row, sizeof row, "\n| `%s` | `%s` | %s%s%s |", t->name, t->owner, quote,
                 *t->directories ? t->directories : "–", quote);
        if (!strstr(page, row))
            fail_msg("docs/scaling.md has no row%s", row);
    }
    free(page);
}

/* The tables without a row are a sentence, "Small tables … are not in the list: `name` …, and the sandbox's." */
static void the_documentation_names_each_table_without_an_owner(void **state)
{
    const struct store_fixture *f = *state;
    char *page = read_page(), name[80];
    char *list = strstr(page, "are not in the list: ");
    assert_non_null(list);
    *strstr(list, " the sandbox's.") = '\0';
    PGconn *conn = PQconnectdb(f->dsn);
    PGresult *tables = spread_query(conn, "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()");
    int missing = 0;
    for (int i = 0; i < PQntuples(tables); i++) {
        const char *table = PQgetvalue(tables, i, 0);
        snprintf(name, sizeof name, "`%s`", table);
        if (!table_named(table) && strncmp(table, "sandbox_", 8) != 0 && !strstr(list, name) && ++missing)
            print_error("%s: neither in test/unit/store/spread.def nor in docs/scaling.md\n", table);
    }
    assert_true(PQntuples(tables) > (int)SPREAD_TABLES);
    assert_int_equal(missing, 0);
    PQclear(tables);
    PQfinish(conn);
    free(page);
}

static PGconn *connect_filled(const struct store_fixture *f, long rows, long more)
{
    PGconn *conn = PQconnectdb(f->dsn);
    spread_fill(conn, rows, more);
    spread_prepare(conn, rows);
    return conn;
}

static bool runs(const struct spread_statement *s)
{
    return s->path != OTHER && *s->arguments;
}

static int judge_all(PGconn *conn, long building)
{
    PGresult *indexes =
        spread_query(conn, "SELECT i.relname, t.relname, pg_get_indexdef(i.oid, 1, true) FROM pg_index x "
                           "JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid");
    int faults = 0;
    spread_at(conn, building);
    for (size_t kind = 0; kind < KINDS; kind++) {
        spread_do(conn, "SET plan_cache_mode = force_%s_plan", kinds[kind]);
        for (size_t k = 0; k < SPREAD_STATEMENTS; k++)
            if (runs(&spread_statements[k]))
                faults += judge(conn, indexes, &spread_statements[k], kinds[kind]);
    }
    PQclear(indexes);
    return faults;
}

struct rows {
    double of[KINDS][SPREAD_STATEMENTS];
};

/* Counts the rows that each statement examines if the planner avoids to read whole tables, which it prefers to an index
 * as long as they are small. */
static void count_rows(PGconn *conn, long building, struct rows *ret)
{
    spread_at(conn, building);
    spread_do(conn, "DISCARD PLANS; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off");
    for (size_t kind = 0; kind < KINDS; kind++) {
        spread_do(conn, "SET plan_cache_mode = force_%s_plan", kinds[kind]);
        for (size_t k = 0; k < SPREAD_STATEMENTS; k++) {
            json_t *plan = runs(&spread_statements[k]) ? explain(conn, &spread_statements[k]) : NULL;
            ret->of[kind][k] = examined(json_object_get(plan, "Plan"));
            json_decref(plan);
        }
    }
}

/* Statements whose row in spread.def has a number may grow up to that number. Others may examine up to twice the rows
 * in a store SMALLER times as large: the planner's samples of a table differ from run to run. */
static int compare(const struct rows *few, const struct rows *many)
{
    int faults = 0;
    for (size_t kind = 0; kind < KINDS; kind++)
        for (size_t k = 0; k < SPREAD_STATEMENTS; k++)
            if (!spread_statements[k].rows && many->of[kind][k] > 2 * few->of[kind][k] && ++faults)
                print_error("%s (%s plan): examines %.0f rows, and %.0f in a store %d times as large\n",
                            spread_statements[k].name, kinds[kind], few->of[kind][k], many->of[kind][k], SMALLER);
    return faults;
}

static void no_statement_that_someone_waits_for_grows_with_the_number_of_buildings(void **state)
{
    const long rows = getenv("PORTERO_TEST_ROWS") ? strtol(getenv("PORTERO_TEST_ROWS"), NULL, 10) : ROWS;
    const long usual = rows / 20, compared = rows / SMALLER / 50, more = spread_more(rows); /* buildings */
    struct rows few, many;
    void *smaller;
    assert_int_equal(store_fixture_open_postgresql(&smaller), 0);
    PGconn *conn = connect_filled(smaller, rows / SMALLER, more);
    count_rows(conn, compared, &few);
    PQfinish(conn);
    store_fixture_close(&smaller);
    conn = connect_filled(*state, rows, more);
    int faults = judge_all(conn, 0) + judge_all(conn, usual);
    count_rows(conn, compared, &many);
    PQfinish(conn);
    assert_int_equal(faults + compare(&few, &many), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_statement_names_who_uses_it),
        cmocka_unit_test(the_documentation_names_each_owner),
        cmocka_unit_test_setup_teardown(the_documentation_names_each_table_without_an_owner,
                                        store_fixture_open_postgresql, store_fixture_close),
        cmocka_unit_test_setup_teardown(no_statement_that_someone_waits_for_grows_with_the_number_of_buildings,
                                        store_fixture_open_postgresql, store_fixture_close),
    };
    return cmocka_run_group_tests(tests, store_cluster_start, store_cluster_stop);
}
