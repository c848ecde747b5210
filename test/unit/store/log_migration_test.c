/* Migrations that rewrite rows of the activity log keep its entries, on both engines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/buf.h"
#include "fixture.h"
#include "store/engine.h"

/* An empty database with one connection. */
struct bare {
    const struct engine *engine;
    struct store_fixture *fixture;
    sqlite3 *lite;
    PGconn *pg;
    struct buf rows; /* of the last query: columns joined by |, rows ended by a line feed */
};

static int add_row(void *arg, int n, char **values, char **names)
{
    struct bare *b = arg;
    (void)names;
    for (int i = 0; i < n; i++)
        buf_printf(&b->rows, "%s%s", i ? "|" : "", values[i] ? values[i] : "null");
    buf_char(&b->rows, '\n');
    return 0;
}

static void sql(struct bare *b, const char *text)
{
    char *why = NULL;
    b->rows.n = 0;
    if (b->lite) {
        if (sqlite3_exec(b->lite, text, add_row, b, &why) != SQLITE_OK)
            fail_msg("%s: %s", text, why);
        return;
    }
    PGresult *r = PQexec(b->pg, text);
    if (PQresultStatus(r) != PGRES_COMMAND_OK && PQresultStatus(r) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", text, PQerrorMessage(b->pg));
    for (int row = 0; row < PQntuples(r); row++) {
        char *values[16];
        for (int i = 0; i < PQnfields(r); i++)
            values[i] = PQgetisnull(r, row, i) ? NULL : PQgetvalue(r, row, i);
        add_row(b, PQnfields(r), values, NULL);
    }
    PQclear(r);
}

static void expect(struct bare *b, const char *query, const char *rows)
{
    sql(b, query);
    buf_char(&b->rows, '\0');
    assert_string_equal(b->rows.p, rows);
}

/* Runs a migration with the words of the engine. */
static void apply(struct bare *b, const char *migration)
{
    struct buf text = BUF(1 << 20);
    for (const char *p = migration; *p;) {
        const char *word = strncmp(p, "{int}", 5) == 0          ? b->engine->word_int
                           : strncmp(p, "{blob}", 6) == 0       ? b->engine->word_blob
                           : strncmp(p, "{desc}", 6) == 0       ? b->engine->word_desc
                           : strncmp(p, "{clustered}", 11) == 0 ? b->engine->word_clustered
                                                                : NULL;
        if (!word) {
            buf_char(&text, *p++);
            continue;
        }
        buf_str(&text, str_z(word));
        p = strchr(p, '}') + 1;
    }
    buf_char(&text, '\0');
    sql(b, text.p);
    buf_done(&text);
}

/* Runs all migrations before the one that contains `mark`, and returns that one. */
static const char *migrate_before(struct bare *b, const char *mark)
{
    int i = 0;
    for (; !strstr(sql_migrations[i], mark); i++)
        apply(b, sql_migrations[i]);
    return sql_migrations[i];
}

static int open_lite(void **state)
{
    struct bare *b = calloc(1, sizeof *b);
    *state = b;
    b->engine = &sqlite_engine;
    b->rows = BUF(1 << 20);
    return sqlite3_open(":memory:", &b->lite);
}

static int open_pg(void **state)
{
    struct bare *b = calloc(1, sizeof *b);
    *state = b;
    b->engine = &postgresql_engine;
    b->rows = BUF(1 << 20);
    b->fixture = store_fixture_new_postgresql();
    b->pg = b->fixture ? PQconnectdb(b->fixture->dsn) : NULL;
    return PQstatus(b->pg) == CONNECTION_OK ? 0 : -1;
}

static int close_bare(void **state)
{
    struct bare *b = *state;
    void *fixture = b->fixture;
    sqlite3_close(b->lite);
    PQfinish(b->pg);
    buf_done(&b->rows);
    free(b);
    return fixture ? store_fixture_close(&fixture) : 0;
}

static void entries_keep_their_content_when_it_moves_to_activity_kind(void **state)
{
    struct bare *b = *state;
    const char *migration = migrate_before(b, "CREATE TABLE activity_kind");
    sql(b,
        "INSERT INTO activity (building_id, created_at, id, type, unlock_id, unlock_type, name, name_folded, succeeded)"
        " VALUES ('b1', 1000, 'e1', 'unlock', 'g1', 'timer', 'Ana', 'ana', 1),"
        " ('b1', 1000, 'e2', 'unlock', 'g2', 'timer', 'Ana', 'ana', 1),"
        " ('b1', 2000, 'e3', 'unlock', NULL, 'passcode', 'Wrong passcode', 'wrong passcode', 0),"
        " ('b1', 3000, 'e4', 'unlock', 'g1', 'unknown(7)', 'ANA', 'ana', 1),"
        " ('b1', 4000, 'e5', 'call', NULL, NULL, 'Forwarded call', 'forwarded call', 1),"
        " ('b2', 1000, 'e6', 'call', NULL, NULL, 'Forwarded call', 'forwarded call', 1)");
    apply(b, migration);
    expect(b,
           "SELECT a.building_id, a.created_at, a.id, type, unlock_id, unlock_type, name, name_folded, succeeded "
           "FROM activity a JOIN activity_kind k ON k.building_id = a.building_id AND k.kind = a.kind ORDER BY a.id",
           "b1|1000|e1|unlock|g1|timer|Ana|ana|1\n"
           "b1|1000|e2|unlock|g2|timer|Ana|ana|1\n"
           "b1|2000|e3|unlock|null|passcode|Wrong passcode|wrong passcode|0\n"
           "b1|3000|e4|unlock|g1|unknown(7)|ANA|ana|1\n"
           "b1|4000|e5|call|null||Forwarded call|forwarded call|1\n"
           "b2|1000|e6|call|null||Forwarded call|forwarded call|1\n");
    expect(b, "SELECT building_id, count(*), min(kind), max(kind) FROM activity_kind GROUP BY building_id ORDER BY 1",
           "b1|4|1|4\nb2|1|1|1\n");
}

#define BOTH(test)                                                                                                     \
    {#test "/sqlite", test, open_lite, close_bare, NULL},                                                              \
    {                                                                                                                  \
#test "/postgresql", test, open_pg, close_bare, NULL                                                           \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(entries_keep_their_content_when_it_moves_to_activity_kind),
    };
    return cmocka_run_group_tests(tests, store_cluster_start, store_cluster_stop);
}
