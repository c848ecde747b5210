/* A move of a SQLite store into PostgreSQL: every value arrives as it was, and a target that differs is refused. */
#include "store/move.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "store/fixture.h"

/* Both stores are closed: a move must not meet a service. */
struct stores {
    struct store_fixture *from, *to;
    char path[96];
    char *why;
    int64_t rows, tables, before;
};

static int open_closed(struct store_fixture *f)
{
    if (!f || store_fixture_start(f))
        return -1;
    store_close(f->store);
    f->store = NULL;
    return 0;
}

static int set_up(void **state)
{
    struct stores *s = mem_new(struct stores);
    *state = s;
    s->from = store_fixture_new();
    s->to = store_fixture_new_postgresql();
    if (open_closed(s->from) || open_closed(s->to))
        return -1;
    snprintf(s->path, sizeof s->path, "%s/portero.db", s->from->dir);
    return 0;
}

static int tear_down(void **state)
{
    struct stores *s = *state;
    void *from = s->from, *to = s->to;
    free(s->why);
    free(s);
    return store_fixture_close(&from) | store_fixture_close(&to);
}

/* ---- both databases ---- */

static void sqlite_sql(const struct stores *s, const char *sql)
{
    sqlite3 *db;
    char *why = NULL;
    assert_int_equal(sqlite3_open(s->path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", sql, why);
    sqlite3_close(db);
}

static char *postgresql_sql(const struct stores *s, const char *sql)
{
    PGconn *conn = PQconnectdb(s->to->dsn);
    PGresult *r = PQexec(conn, sql);
    if (PQresultStatus(r) != PGRES_TUPLES_OK && PQresultStatus(r) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(conn));
    char *first = mem_strdup(PQntuples(r) ? PQgetvalue(r, 0, 0) : "");
    PQclear(r);
    PQfinish(conn);
    return first;
}

static void expect_first(const struct stores *s, const char *sql, const char *wanted)
{
    char *found = postgresql_sql(s, sql);
    assert_string_equal(found, wanted);
    free(found);
}

static void run_postgresql(const struct stores *s, const char *sql)
{
    free(postgresql_sql(s, sql));
}

/* A table of both databases that holds whatever COPY carries. */
static void add_table(const struct stores *s, const char *values)
{
    char *sql = mem_printf("CREATE TABLE various (id INTEGER PRIMARY KEY, t TEXT, b BLOB); %s", values);
    sqlite_sql(s, sql);
    run_postgresql(s, "CREATE TABLE various (id BIGINT PRIMARY KEY, t TEXT, b BYTEA)");
    free(sql);
}

/* ---- the move ---- */

static void note(void *context, const struct move_table *t)
{
    struct stores *s = context;
    s->tables++;
    s->rows += t->rows;
    s->before += t->before;
}

static enum err move(struct stores *s)
{
    free(s->why);
    s->why = NULL;
    s->rows = s->tables = s->before = 0;
    return move_store(s->path, s->to->dsn, note, s, &s->why);
}

static void moves(struct stores *s, int64_t rows)
{
    const enum err e = move(s);
    if (e)
        fail_msg("%s", s->why);
    assert_int_equal(s->rows, rows);
}

static void is_refused(struct stores *s, const char *why)
{
    assert_int_not_equal(move(s), ERR_NONE);
    if (!s->why || !strstr(s->why, why))
        fail_msg("%s: instead of %s", s->why, why);
}

/* ---- tests ---- */

static void every_value_arrives_as_it_was(void **state)
{
    struct stores *s = *state;
    add_table(s, "INSERT INTO various VALUES (-9223372036854775808, NULL, NULL), (9223372036854775807, '', x''),"
                 " (-1, char(92) || 'N' || char(9, 10, 13, 92, 8, 127), x'00ff0a0d5c2e'),"
                 " (0, char(92) || '.' || char(10), x'5047434f50590aff0d0a00'),"
                 " (1, 'd' || char(233, 8364, 128273), x'ffff'), (2, 'NULL', x'ffffffff');");
    moves(s, 6);
    expect_first(s,
                 "SELECT string_agg(coalesce(encode(convert_to(t, 'UTF8'), 'hex'), '-') || ':' ||"
                 " coalesce(encode(b, 'hex'), '-'), ' ' ORDER BY id) FROM various",
                 "-:- 5c4e090a0d5c087f:00ff0a0d5c2e 5c2e0a:5047434f50590aff0d0a00 64c3a9e282acf09f9491:ffff "
                 "4e554c4c:ffffffff :");
    expect_first(s, "SELECT min(id) || ' ' || max(id) FROM various", "-9223372036854775808 9223372036854775807");
}

static size_t read_bytes(const char *path, const char *suffix, char *to, size_t size)
{
    char *name = mem_printf("%s%s", path, suffix);
    FILE *f = fopen(name, "re");
    const size_t n = f ? fread(to, 1, size, f) : 0;
    if (f)
        fclose(f);
    free(name);
    return n;
}

/* STORE-1: the database of a service that crashed, with its WAL. */
static void the_source_keeps_its_wal_and_all_its_bytes(void **state)
{
    static const char *const suffixes[] = {"", "-wal"};
    static char before[2][4 << 20], after[4 << 20];
    size_t bytes[2];
    struct stores *s = *state;
    sqlite3 *db;
    add_table(s, "INSERT INTO various VALUES (1, 'x', NULL);");
    assert_int_equal(sqlite3_open(s->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "INSERT INTO various VALUES (2, 'in the WAL', NULL)", NULL, NULL, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
    for (int i = 0; i < 2; i++)
        bytes[i] = read_bytes(s->path, suffixes[i], before[i], sizeof before[i]);
    assert_true(bytes[1] > 0);
    moves(s, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(read_bytes(s->path, suffixes[i], after, sizeof after), bytes[i]);
        assert_memory_equal(after, before[i], bytes[i]);
    }
}

static void a_row_may_be_longer_than_a_portion(void **state)
{
    struct stores *s = *state;
    add_table(s, "INSERT INTO various VALUES (1, printf('%.*c', 300000, 'x'), zeroblob(65536)),"
                 " (2, 'y', zeroblob(3000000)), (3, NULL, zeroblob(65535));");
    moves(s, 3);
    expect_first(s, "SELECT string_agg(coalesce(length(t), -1) || '/' || length(b), ' ' ORDER BY id) FROM various",
                 "300000/65536 1/3000000 -1/65535");
}

static void many_rows_fill_several_portions(void **state)
{
    struct stores *s = *state;
    add_table(s, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
                 " INSERT INTO various SELECT i, 'row ' || i, randomblob(1 + i % 40) FROM n;");
    moves(s, 20000);
    expect_first(s, "SELECT count(*) || ' ' || sum(id) || ' ' || sum(length(b)) FROM various",
                 "20000 200010000 410000");
}

static void a_value_of_another_type_is_refused_and_nothing_of_its_table_is_moved(void **state)
{
    struct stores *s = *state;
    add_table(s, "INSERT INTO various VALUES (1, 'good', NULL), (2, x'00', NULL);");
    is_refused(s, "table various, row 2: column t has a value of another type");
    expect_first(s, "SELECT count(*) FROM various", "0");
    sqlite_sql(s, "UPDATE various SET t = 1.5 WHERE id = 2; UPDATE various SET b = 'text' WHERE id = 1");
    is_refused(s, "table various, row 1: column b has a value of another type");
    sqlite_sql(s, "UPDATE various SET t = 'good', b = NULL");
    moves(s, 2);
}

/* PostgreSQL's text has no NUL. Its own message names the table. */
static void a_text_that_postgresql_cannot_hold_is_refused(void **state)
{
    struct stores *s = *state;
    add_table(s, "INSERT INTO various VALUES (1, 'a' || char(0) || 'b', NULL);");
    is_refused(s, "PostgreSQL: various: invalid byte sequence");
    assert_null(strchr(s->why, '\n'));
    sqlite_sql(s, "UPDATE various SET t = CAST(x'c328' AS TEXT)");
    is_refused(s, "PostgreSQL: various: invalid byte sequence");
    expect_first(s, "SELECT count(*) FROM various", "0");
}

static void a_table_or_column_that_is_not_in_both_is_refused(void **state)
{
    struct stores *s = *state;
    sqlite_sql(s, "CREATE TABLE various (id INTEGER PRIMARY KEY, t TEXT)");
    is_refused(s, "relation \"various\" does not exist");
    run_postgresql(s, "CREATE TABLE various (id BIGINT, other TEXT)");
    is_refused(s, "column various.t is not the same in both databases");
    run_postgresql(s, "ALTER TABLE various ADD t INTEGER");
    is_refused(s, "column various.t is not the same in both databases");
    run_postgresql(s, "ALTER TABLE various ALTER t TYPE TEXT");
    is_refused(s, "table various has other columns in PostgreSQL");
    run_postgresql(s, "ALTER TABLE various DROP other");
    moves(s, 0);
}

static void a_target_with_rows_is_refused(void **state)
{
    struct stores *s = *state;
    add_table(s, "INSERT INTO various VALUES (1, 'mine', NULL);");
    run_postgresql(s, "INSERT INTO various VALUES (1, 'theirs', NULL)");
    is_refused(s, "the PostgreSQL database is not empty: table various has rows");
    expect_first(s, "SELECT t FROM various", "theirs");
}

/* A move that ends in the middle goes on with the next table, and compares the tables that it moved before. */
static void an_interrupted_move_goes_on_and_finds_what_was_changed(void **state)
{
    struct stores *s = *state;
    add_table(s, "INSERT INTO various VALUES (1, 'one', x'01'), (2, NULL, NULL);"
                 "CREATE TABLE zebra (id INTEGER PRIMARY KEY); INSERT INTO zebra VALUES (7);");
    run_postgresql(s, "CREATE TABLE zebra (id BIGINT CHECK (id <> 7))");
    is_refused(s, "PostgreSQL: zebra: new row for relation");
    assert_null(strstr(s->why, "(7)")); /* no value of a row */
    expect_first(s, "SELECT count(*) FROM various", "2");

    run_postgresql(s,
                   "ALTER TABLE zebra DROP CONSTRAINT zebra_id_check; UPDATE various SET t = 'changed' WHERE id = 1");
    is_refused(s, "table various: SQLite has 2 rows, PostgreSQL 2, with other contents");
    run_postgresql(s, "UPDATE various SET t = 'one' WHERE id = 1; DELETE FROM various WHERE id = 2");
    is_refused(s, "table various: SQLite has 2 rows, PostgreSQL 1:");
    run_postgresql(s, "INSERT INTO various VALUES (2, '', NULL)");
    is_refused(s, "PostgreSQL 2, with other contents"); /* an empty text is not NULL */
    run_postgresql(s, "UPDATE various SET t = NULL WHERE id = 2");
    moves(s, 3);
    assert_true(s->before > 0 && s->before < s->tables);
    expect_first(s, "SELECT count(*) FROM pg_class WHERE oid = to_regclass('moving')", "0");
}

static void a_file_that_is_no_store_is_refused(void **state)
{
    struct stores *s = *state;
    snprintf(s->path, sizeof s->path, "%s/absent.db", s->from->dir);
    is_refused(s, "SQLite: ");
    FILE *f = fopen(s->path, "we");
    assert_non_null(f);
    for (int i = 0; i < 1000; i++)
        fputs("not a database\n", f);
    fclose(f);
    is_refused(s, "file is not a database");
}

static void a_store_in_use_is_refused(void **state)
{
    struct stores *s = *state;
    assert_int_equal(store_fixture_start(s->from), 0);
    assert_int_not_equal(move(s), ERR_NONE);
    assert_non_null(s->why);
    store_close(s->from->store);
    s->from->store = NULL;
    moves(s, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_value_arrives_as_it_was),
        TEST(the_source_keeps_its_wal_and_all_its_bytes),
        TEST(a_row_may_be_longer_than_a_portion),
        TEST(many_rows_fill_several_portions),
        TEST(a_value_of_another_type_is_refused_and_nothing_of_its_table_is_moved),
        TEST(a_text_that_postgresql_cannot_hold_is_refused),
        TEST(a_table_or_column_that_is_not_in_both_is_refused),
        TEST(a_target_with_rows_is_refused),
        TEST(an_interrupted_move_goes_on_and_finds_what_was_changed),
        TEST(a_file_that_is_no_store_is_refused),
        TEST(a_store_in_use_is_refused),
    };
    return cmocka_run_group_tests(tests, store_cluster_start, store_cluster_stop);
}
