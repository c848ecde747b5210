/* A store for one test, on either engine; deleted after the test. For tests of all rooms.
 *
 *     cmocka_unit_test_setup_teardown(test, store_fixture_open, store_fixture_close)
 *     …  struct store_fixture *f = *state; store_run(f->store, …);  f->config is the configuration of the store.
 *
 * For PostgreSQL: store_fixture_open_postgresql, and store_cluster_start and store_cluster_stop as the setup and
 * teardown of the group. The server is the one in $PORTERO_TEST_DSN, or a private one (scripts/pg-cluster); each test
 * has its own schema. */
#pragma once
#include <ftw.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/store.h"

struct store_fixture {
    struct config config;
    struct store *store;
    char dir[64];
    char dsn[480];
    char schema[64];
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

static inline int store_cluster_stop(void **state)
{
    (void)state;
    return store_cluster.dir[0] ? store_cluster_command("stop") : 0;
}

static inline int store_cluster_sql(const char *format, const char *name)
{
    char sql[200];
    PGconn *conn = PQconnectdb(store_cluster.dsn);
    snprintf(sql, sizeof sql, format, name);
    PGresult *r = PQexec(conn, "SET client_min_messages = warning");
    PQclear(r);
    r = PQexec(conn, sql);
    int rc = PQresultStatus(r) == PGRES_COMMAND_OK ? 0 : -1;
    if (rc)
        fprintf(stderr, "%s", PQerrorMessage(conn));
    PQclear(r);
    PQfinish(conn);
    return rc;
}

/* ---- the store ---- */

static inline int store_fixture_unlink(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

/* Opens and starts the store of f->config; also after store_close. */
static inline int store_fixture_start(struct store_fixture *f)
{
    char *why = NULL;
    if (store_open(&f->config, true, &f->store, &why)) {
        fprintf(stderr, "store_open: %s\n", why ? why : "?");
        free(why);
        return -1;
    }
    if (store_start(f->store)) {
        store_close(f->store);
        return -1;
    }
    return 0;
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
    f->config = (struct config){.engine = ENGINE_SQLITE, .top_data_dir = f->dir};
    return f;
}

static inline int store_fixture_open(void **state)
{
    struct store_fixture *f = store_fixture_new();
    *state = f;
    return f ? store_fixture_start(f) : -1;
}

/* With its own schema. Returns NULL on failure. */
static inline struct store_fixture *store_fixture_new_postgresql(void)
{
    struct store_fixture *f = store_fixture_new();
    if (!f)
        return NULL;
    snprintf(f->schema, sizeof f->schema, "t%s", strrchr(f->dir, '-') + 1);
    snprintf(f->dsn, sizeof f->dsn, "%s application_name=%s options='-c search_path=\"%s\"'", store_cluster.dsn,
             f->schema, f->schema);
    f->config = (struct config){.engine = ENGINE_POSTGRESQL,
                                .top_data_dir = f->dir,
                                .store_dsn = f->dsn,
                                .store_workers = 4,
                                .store_wait_s = 30,
                                .store_queue = 10000,
                                .store_statement_timeout_s = 10,
                                .store_lock_timeout_s = 3,
                                .store_idle_timeout_s = 3};
    if (store_cluster_sql("CREATE SCHEMA \"%s\"", f->schema)) {
        free(f);
        return NULL;
    }
    return f;
}

static inline int store_fixture_open_postgresql(void **state)
{
    struct store_fixture *f = store_fixture_new_postgresql();
    *state = f;
    return f ? store_fixture_start(f) : -1;
}

static inline int store_fixture_close(void **state)
{
    struct store_fixture *f = *state;
    store_close(f->store);
    int rc = f->schema[0] ? store_cluster_sql("DROP SCHEMA \"%s\" CASCADE", f->schema) : 0;
    nftw(f->dir, store_fixture_unlink, 8, FTW_DEPTH | FTW_PHYS);
    free(f);
    return rc;
}
