/* The store can grow and be spread: statements that someone waits for find their rows through an index that begins with
 * the account or the building (spread.def), and examine a bounded number, according to PostgreSQL's plans for known and
 * for unknown arguments. PORTERO_TEST_ROWS is the number of grants and of log entries; `make test-plans` takes ten
 * million. plan_test.c has the plans of SQLite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "store/spread.h"

#define ROWS      "200000"
#define ROWS_MOST 250   /* that a statement examines, if its row in spread.def has no number */
#define ROWS_FEW  25000 /* that work may examine that nobody waits for: a small table is read faster than its index */

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
    PGresult *indexes; /* index, table, first column */
    const char *kind;  /* of plan */
    double examined;
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

static double examined(const json_t *node)
{
    return count(node, "Actual Loops") * (count(node, "Actual Rows") + count(node, "Rows Removed by Filter") +
                                          count(node, "Rows Removed by Index Recheck"));
}

static void judge_node(struct judged *j, const json_t *node)
{
    const char *type = text(node, "Node Type"), *table = text(node, "Relation Name"), *index = text(node, "Index Name");
    if (strcmp(type, "Seq Scan") == 0 && table_named(table) && j->statement->path <= CALL)
        fault(j, "reads the whole table", table, "");
    if (*index && strcmp(type, "ModifyTable") != 0)
        judge_index(j, index, text(node, "Index Cond"));
    if (*table && strcmp(type, "ModifyTable") != 0)
        j->examined += examined(node);
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
    json_t *plan = spread_explain(conn, "ANALYZE, TIMING OFF, ", s->name, s->arguments);
    judge_node(&j, json_object_get(plan, "Plan"));
    if (j.examined > most)
        fault(&j, "examines too many rows", "", "");
    if (j.faults) {
        char *all = json_dumps(plan, JSON_INDENT(1));
        print_error("%.0f rows: %s\n", j.examined, all);
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

/* The row of the table begins with "| `name` | `owner` | `directories` |". */
static void the_documentation_names_each_owner(void **state)
{
    (void)state;
    char *page = NULL, row[200];
    FILE *file = fopen(SOURCE_DIR "/docs/scaling.md", "r");
    assert_non_null(file);
    assert_true(getdelim(&page, &(size_t){0}, '\0', file) > 0);
    fclose(file);
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

static void no_statement_that_someone_waits_for_grows_with_the_number_of_buildings(void **state)
{
    struct store_fixture *f = *state;
    const char *rows = getenv("PORTERO_TEST_ROWS") ? getenv("PORTERO_TEST_ROWS") : ROWS;
    const long at[] = {0, strtol(rows, NULL, 10) / 20}; /* a large building and a usual one */
    PGconn *conn = PQconnectdb(f->dsn);
    spread_fill(conn, rows);
    spread_prepare(conn, rows);
    PGresult *indexes =
        spread_query(conn, "SELECT i.relname, t.relname, a.attname FROM pg_index x "
                           "JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid "
                           "JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = x.indkey[0]");
    int faults = 0;
    for (const char *const *kind = (const char *const[]){"generic", "custom", NULL}; *kind; kind++) {
        spread_do(conn, "SET plan_cache_mode = force_%s_plan", *kind);
        for (int i = 0; i < 2; i++) {
            spread_at(conn, at[i]);
            for (size_t k = 0; k < SPREAD_STATEMENTS; k++)
                if (spread_statements[k].path != OTHER && *spread_statements[k].arguments)
                    faults += judge(conn, indexes, &spread_statements[k], *kind);
        }
    }
    PQclear(indexes);
    PQfinish(conn);
    assert_int_equal(faults, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_statement_names_who_uses_it),
        cmocka_unit_test(the_documentation_names_each_owner),
        cmocka_unit_test_setup_teardown(no_statement_that_someone_waits_for_grows_with_the_number_of_buildings,
                                        store_fixture_open_postgresql, store_fixture_close),
    };
    return cmocka_run_group_tests(tests, store_cluster_start, store_cluster_stop);
}
