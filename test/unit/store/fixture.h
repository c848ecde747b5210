/* A store for one test, on either engine; deleted after the test. For tests of all rooms.
 *
 *     cmocka_unit_test_setup_teardown(test, store_fixture_open, store_fixture_close)
 *     …  struct store_fixture *f = *state; store_run(f->store, …);  f->config is the configuration of the store.
 *
 * For PostgreSQL: store_fixture_open_postgresql, and store_cluster_start and store_cluster_stop as the setup and
 * teardown of the group. The server is the one in $PORTERO_TEST_DSN, or a private one (scripts/pg-cluster). Each test
 * has its own schema, which is empty, or migrated and without rows.
 * reads: scripts/pg-cluster */
#pragma once
#include <ftw.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/store.h"

struct store_fixture {
    struct config config;
    struct store *store;
    char dir[64];
    char dsn[480];
    char schema[64];
    bool again;       /* the schema may be used again by the next test */
    PGconn *conn;     /* for store_schema_empty; NULL: the schema is dropped after the test */
    char catalog[40]; /* store_schema_catalog after the migrations */
};

/* ---- the PostgreSQL server ---- */

static struct {
    char dsn[256];
    char dir[64]; /* "": $PORTERO_TEST_DSN names the server */
} store_cluster;

static inline int store_cluster_start(void **state)
{
    (void)state;
    const char *dsn = getenv("PORTERO_TEST_DSN");
    if (dsn && *dsn) {
        snprintf(store_cluster.dsn, sizeof store_cluster.dsn, "%s", dsn);
        return 0;
    }
    char command[600];
    snprintf(store_cluster.dir, sizeof store_cluster.dir, "/tmp/portero-pg-XXXXXX");
    if (!mkdtemp(store_cluster.dir))
        return -1;
    snprintf(command, sizeof command, "%s/scripts/pg-cluster start %s %ld", SOURCE_DIR, store_cluster.dir,
             (long)getpid());
    FILE *p = popen(command, "r");
    if (!p)
        return -1;
    char *line = fgets(store_cluster.dsn, sizeof store_cluster.dsn, p);
    if (pclose(p) != 0 || !line)
        return -1;
    line[strcspn(line, "\n")] = '\0';
    return 0;
}

static inline int store_cluster_command(const char *what)
{
    char command[600];
    snprintf(command, sizeof command, "%s/scripts/pg-cluster %s %s", SOURCE_DIR, what, store_cluster.dir);
    return system(command);
}

static inline int store_cluster_do(PGconn *conn, const char *statement)
{
    PGresult *r = PQexec(conn, statement);
    int rc = PQresultStatus(r) == PGRES_COMMAND_OK ? 0 : -1;
    if (rc)
        fprintf(stderr, "%s", PQerrorMessage(conn));
    PQclear(r);
    return rc;
}

static inline int store_cluster_sql(const char *format, const char *name)
{
    char sql[200];
    PGconn *conn = PQconnectdb(store_cluster.dsn);
    snprintf(sql, sizeof sql, format, name);
    int rc = store_cluster_do(conn, "SET client_min_messages = warning") || store_cluster_do(conn, sql) ? -1 : 0;
    PQfinish(conn);
    return rc;
}

/* ---- schemas that are used again: the migrations take ten times as long as the removal of a test's rows ---- */

/* The one that the last test left: its members of struct store_fixture. */
static struct {
    char schema[64];
    PGconn *conn; /* NULL: there is none */
    char catalog[40];
} store_left;

/* A hash of the schema's tables, indices and columns, and of its version. Only changes of the schema change it. */
static inline int store_schema_catalog(PGconn *conn, char ret[40])
{
    PGresult *r = PQexec(
        conn, "SELECT md5(string_agg(c.oid::text || c.xmin::text, ' ' ORDER BY c.oid) ||"
              " (SELECT string_agg(a.xmin::text, ' ' ORDER BY a.attrelid, a.attnum) FROM pg_attribute a JOIN pg_class k"
              " ON k.oid = a.attrelid WHERE k.relnamespace = quote_ident(current_schema())::regnamespace) ||"
              " (SELECT max(version) FROM schema_version))"
              " FROM pg_class c WHERE c.relnamespace = quote_ident(current_schema())::regnamespace");
    int rc = PQntuples(r) == 1 ? 0 : -1;
    snprintf(ret, 40, "%s", rc ? "" : PQgetvalue(r, 0, 0));
    PQclear(r);
    return rc;
}

/* Runs a statement for each table that migrations leave empty: %I is the table's name, n counts the rows of the
 * statement. */
#define STORE_EACH_TABLE(statement, then)                                                                              \
    "DO $$ DECLARE name text; n bigint; BEGIN"                                                                         \
    " EXECUTE (SELECT 'LOCK TABLE ' || string_agg(format('%I', tablename), ', ') FROM pg_tables"                       \
    " WHERE schemaname = current_schema());"                                                                           \
    " FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"                                 \
    " AND tablename <> 'schema_version' LOOP EXECUTE format('" statement "', name); " then " END LOOP; END $$"

/* Lets the schema of a store that was just migrated be used again: -1 if a migration wrote a row. */
static inline int store_schema_keep(struct store_fixture *f)
{
    f->conn = PQconnectdb(f->dsn);
    return store_cluster_do(f->conn, "SET session_replication_role = replica") || /* no trigger, no foreign key */
                   store_cluster_do(f->conn,
                                    STORE_EACH_TABLE("SELECT 1 FROM %I",
                                                     "GET DIAGNOSTICS n = ROW_COUNT; IF n > 0 THEN RAISE "
                                                     "'store_schema_empty must keep the rows of %', name; END IF;")) ||
                   store_schema_catalog(f->conn, f->catalog)
               ? -1
               : 0;
}

/* Removes all rows that the test wrote: -1 if the schema is not as the migrations left it. */
static inline int store_schema_empty(struct store_fixture *f)
{
    char now[40];
    return store_cluster_do(f->conn, STORE_EACH_TABLE("DELETE FROM %I", "")) || store_schema_catalog(f->conn, now) ||
                   strcmp(now, f->catalog) != 0
               ? -1
               : 0;
}

/* After a test: leaves its schema to the next, or drops it. */
static inline int store_schema_release(struct store_fixture *f)
{
    if (f->conn && !store_left.conn && !store_schema_empty(f)) {
        store_left.conn = f->conn;
        memcpy(store_left.schema, f->schema, sizeof f->schema);
        memcpy(store_left.catalog, f->catalog, sizeof f->catalog);
        return 0;
    }
    PQfinish(f->conn);
    return f->schema[0] ? store_cluster_sql("DROP SCHEMA \"%s\" CASCADE", f->schema) : 0;
}

static inline int store_cluster_stop(void **state)
{
    (void)state;
    int rc = store_left.conn ? store_cluster_sql("DROP SCHEMA \"%s\" CASCADE", store_left.schema) : 0;
    PQfinish(store_left.conn);
    store_left.conn = NULL;
    return store_cluster.dir[0] ? store_cluster_command("stop") : rc;
}

/* ---- the store ---- */

static inline int store_fixture_unlink(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

/* Opens the store of f->config; also after store_close. */
static inline int store_fixture_open_store(struct store_fixture *f)
{
    char *why = NULL;
    int rc = store_open(&f->config, true, &f->store, &why) ? -1 : 0;
    if (rc)
        fprintf(stderr, "store_open: %s\n", why ? why : "?");
    free(why);
    return !rc && f->again && !f->conn ? store_schema_keep(f) : rc;
}

/* And starts it. */
static inline int store_fixture_start(struct store_fixture *f)
{
    if (store_fixture_open_store(f))
        return -1;
    if (!store_start(f->store))
        return 0;
    store_close(f->store);
    return -1;
}

static inline struct store_fixture *store_fixture_new(void)
{
    struct store_fixture *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    const char *tmp = getenv("TMPDIR");
    snprintf(f->dir, sizeof f->dir, "%s/portero-test-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(f->dir)) {
        free(f);
        return NULL;
    }
    f->config =
        (struct config){.engine = ENGINE_SQLITE, .top_data_dir = f->dir, .privacy_url = "", .privacy_contact = ""};
    return f;
}

static inline int store_fixture_open(void **state)
{
    struct store_fixture *f = store_fixture_new();
    *state = f;
    return f ? store_fixture_start(f) : -1;
}

static inline void store_fixture_set_schema(struct store_fixture *f, const char *schema)
{
    snprintf(f->schema, sizeof f->schema, "%s", schema);
    snprintf(f->dsn, sizeof f->dsn, "%s application_name=%s options='-c search_path=\"%s\"'", store_cluster.dsn,
             f->schema, f->schema);
    f->config = (struct config){.engine = ENGINE_POSTGRESQL,
                                .privacy_url = "",
                                .privacy_contact = "",
                                .top_data_dir = f->dir,
                                .store_dsn = f->dsn,
                                .store_workers = 4,
                                .store_wait_s = 30,
                                .store_queue = 10000,
                                .store_statement_timeout_s = 10,
                                .store_lock_timeout_s = 3,
                                .store_idle_timeout_s = 3};
}

/* With an empty schema of its own. Returns NULL on failure. */
static inline struct store_fixture *store_fixture_new_postgresql(void)
{
    struct store_fixture *f = store_fixture_new();
    if (!f)
        return NULL;
    char name[64];
    snprintf(name, sizeof name, "t%s", strrchr(f->dir, '-') + 1);
    store_fixture_set_schema(f, name);
    if (store_cluster_sql("CREATE SCHEMA \"%s\"", f->schema)) {
        free(f);
        return NULL;
    }
    return f;
}

/* With the schema that the last test left, if there is one. Returns NULL on failure. */
static inline struct store_fixture *store_fixture_next_postgresql(void)
{
    const bool left = store_left.conn != NULL;
    struct store_fixture *f = left ? store_fixture_new() : store_fixture_new_postgresql();
    if (!f)
        return NULL;
    f->again = true;
    if (left) {
        store_fixture_set_schema(f, store_left.schema);
        memcpy(f->catalog, store_left.catalog, sizeof f->catalog);
        f->conn = store_left.conn;
        store_left.conn = NULL;
    }
    return f;
}

static inline int store_fixture_open_postgresql(void **state)
{
    struct store_fixture *f = store_fixture_next_postgresql();
    *state = f;
    return f ? store_fixture_start(f) : -1;
}

static inline int store_fixture_close(void **state)
{
    struct store_fixture *f = *state;
    store_close(f->store);
    int rc = store_schema_release(f);
    nftw(f->dir, store_fixture_unlink, 8, FTW_DEPTH | FTW_PHYS);
    free(f);
    return rc;
}
