/* A fixture with one building in a new store: its account is subscribed, its door is set up, and now_us is its clock.
 * FIXTURE_RUN runs the tests on SQLite, and with PORTERO_TEST_DSN on PostgreSQL too; FIXTURE_RUN_BOTH runs them on both
 * engines always. */
#pragma once
#include <pthread.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "configure.h"
#include "domain/grant.h"
#include "store/fixture.h"

#define FIXTURE_NOW (1795167000LL * US_PER_S) /* 2026-11-20T09:30:00Z, a Friday */
#define MINUTES     (60 * US_PER_S)
#define HOURS       (60 * MINUTES)
#define DAYS        (24 * HOURS)

#define FIXTURE_NUMBER "+15550100001"
#define OWNER_PHONE    "+15557654321"
#define VISITOR        "+15551112222"

struct building_fixture {
    struct store_fixture *fixture;
    struct arena arena;
    int64_t now_us;
    struct id account, building;
    struct tx tx; /* of the last transaction, for its message */
    unsigned requests;
};

/* ---- transactions ---- */

struct fixture_call {
    struct building_fixture *fx;
    enum err (*run)(struct tx *tx, void *arg);
    void *arg;
};

static inline enum err fixture_call_run(void *arg, struct db *db)
{
    struct fixture_call *call = arg;
    struct building_fixture *fx = call->fx;
    fx->tx = (struct tx){.arena = &fx->arena, .db = db, .config = &fx->fixture->config, .now_us = fx->now_us};
    return call->run(&fx->tx, call->arg);
}

static inline enum err fixture_run(struct building_fixture *fx, enum store_mode mode,
                                   enum err (*run)(struct tx *, void *), void *arg)
{
    return store_run(fx->fixture->store, mode, fixture_call_run, &(struct fixture_call){fx, run, arg});
}

/* ---- SQL on a second connection ---- */

static inline int fixture_sql_row(void *arg, int n, char **values, char **names)
{
    (void)names;
    struct fixture_text {
        char *p;
        size_t n, max;
    } *out = arg;
    for (int i = 0; i < n; i++)
        out->n +=
            (size_t)snprintf(out->p + out->n, out->max - out->n, "%s%s", i ? "|" : "", values[i] ? values[i] : "");
    out->n += (size_t)snprintf(out->p + out->n, out->max - out->n, "\n");
    return 0;
}

/* Runs one statement. Returns its rows as text in the arena: columns joined by |, each row with a line feed. */
static inline const char *fixture_sql(struct building_fixture *fx, const char *sql)
{
    struct {
        char *p;
        size_t n, max;
    } out = {arena_zalloc(&fx->arena, 65536), 0, 65536};
    if (fx->fixture->config.engine == ENGINE_SQLITE) {
        char path[128], *why = NULL;
        sqlite3 *db;
        snprintf(path, sizeof path, "%s/portero.db", fx->fixture->dir);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        sqlite3_busy_timeout(db, 5000);
        if (sqlite3_exec(db, sql, fixture_sql_row, &out, &why) != SQLITE_OK)
            fail_msg("%s: %s", sql, why);
        sqlite3_close(db);
        return out.p;
    }
    PGconn *conn = PQconnectdb(fx->fixture->dsn);
    PGresult *r = PQexec(conn, sql);
    if (PQresultStatus(r) != PGRES_COMMAND_OK && PQresultStatus(r) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(conn));
    for (int row = 0; row < PQntuples(r); row++) {
        char *values[16];
        for (int i = 0; i < PQnfields(r); i++)
            values[i] = PQgetisnull(r, row, i) ? NULL : PQgetvalue(r, row, i);
        fixture_sql_row(&out, PQnfields(r), values, NULL);
    }
    PQclear(r);
    PQfinish(conn);
    return out.p;
}

static inline void fixture_expect(struct building_fixture *fx, const char *sql, const char *rows)
{
    const char *got = fixture_sql(fx, sql);
    if (strcmp(got, rows) != 0)
        fail_msg("%s\ngave:\n%swanted:\n%s", sql, got, rows);
}

/* ---- the building ---- */

/* Adds another building to the account, with its number. */
static inline struct id fixture_add_building(struct building_fixture *fx, const char *label, const char *number)
{
    struct id id = id_new(fx->now_us);
    fixture_sql(fx, arena_printf(&fx->arena,
                                 "INSERT INTO building (account_id, id, created_at, is_primary, label, virtual_number, "
                                 "unlock_tone, greeting_granted) VALUES ('%s', '%s', 0, 0, '%s', '%s', '9', '')",
                                 fx->account.text, id.text, label, number)
                        .p);
    return id;
}

/* Adds an endpoint for every type of event, so that events are written; its secret is invalid. */
static inline void fixture_add_webhook(struct building_fixture *fx)
{
    const bool sqlite = fx->fixture->config.engine == ENGINE_SQLITE;
    fixture_sql(fx, arena_printf(&fx->arena,
                                 "INSERT INTO webhook (account_id, id, created_at, url, events, secret) "
                                 "VALUES ('%s', '%s', 0, 'https://example.com/', 31, %s)",
                                 fx->account.text, id_new(fx->now_us).text, sqlite ? "x'00'" : "'\\x00'")
                        .p);
}

static inline int fixture_build(void **state)
{
    struct store_fixture *f = *state;
    struct building_fixture *fx = calloc(1, sizeof *fx);
    if (!fx)
        return -1;
    fx->fixture = f;
    configure(&f->config);
    fx->now_us = FIXTURE_NOW;
    arena_init(&fx->arena, NULL, 0);
    fx->account = id_new(fx->now_us);
    fx->building = fixture_add_building(fx, "Home", FIXTURE_NUMBER);
    fixture_sql(fx, arena_printf(&fx->arena,
                                 "INSERT INTO account (id, email, created_at, plan, subscription_status, phone) "
                                 "VALUES ('%s', 'owner@example.com', 0, 'weekly', 'active', '" OWNER_PHONE "')",
                                 fx->account.text)
                        .p);
    fixture_add_webhook(fx);
    *state = fx;
    return 0;
}

static inline int fixture_open(void **state)
{
    return store_fixture_open(state) ? -1 : fixture_build(state);
}

static inline int fixture_open_postgresql(void **state)
{
    return store_fixture_open_postgresql(state) ? -1 : fixture_build(state);
}

static inline int fixture_close(void **state)
{
    struct building_fixture *fx = *state;
    void *fixture = fx->fixture;
    arena_done(&fx->arena);
    free(fx);
    return store_fixture_close(&fixture);
}

/* Makes the account one that has never subscribed. */
static inline void fixture_unsubscribe(struct building_fixture *fx)
{
    fixture_sql(fx, "UPDATE account SET plan = NULL, subscription_status = 'none'");
}

/* ---- grants ---- */

static inline struct val text(const char *z)
{
    return v_str(str_z(z));
}

struct create_grant {
    struct grant_place place;
    const struct grant_input *in;
    struct str key;
    unsigned char hash[SHA256_LEN];
    struct grant grant;
    bool replayed;
};

static inline enum err create_grant_run(struct tx *tx, void *arg)
{
    struct create_grant *c = arg;
    return grant_create(tx, &c->place, c->in, &(struct grant_request){.id = c->key, .hash = c->hash}, &c->grant,
                        &c->replayed);
}

/* `body` is hashed in place of the canonical body. */
static inline enum err create_grant(struct building_fixture *fx, const struct grant_input *in, const char *key,
                                    const char *body, struct grant *ret, bool *ret_replayed)
{
    struct create_grant c = {.place = {.building = &fx->building}, .in = in, .key = str_z(key)};
    crypto_sha256(str_z(body), c.hash);
    enum err e = fixture_run(fx, STORE_WRITE, create_grant_run, &c);
    if (!e) {
        *ret = c.grant;
        if (ret_replayed)
            *ret_replayed = c.replayed;
    }
    return e;
}

/* Creates a grant with a new key. The test fails if it is refused. */
static inline struct grant add_grant(struct building_fixture *fx, struct grant_input in)
{
    char key[40];
    struct grant g;
    snprintf(key, sizeof key, "fixture-request-%06u", fx->requests++);
    enum err e = create_grant(fx, &in, key, key, &g, NULL);
    if (e)
        fail_msg("%s: %.*s", err_info(e)->code, STR_ARG(fx->tx.why));
    return g;
}

struct get_grant {
    struct id id;
    struct grant grant;
    const struct id *building;
    int64_t number; /* as in struct grant_place */
};

static inline enum err get_grant_run(struct tx *tx, void *arg)
{
    struct get_grant *c = arg;
    return grant_get(tx, &(struct grant_place){.building = c->building, .number = c->number}, &c->id, &c->grant);
}

static inline struct grant get_grant(struct building_fixture *fx, const struct id *id)
{
    struct get_grant c = {.id = *id, .building = &fx->building};
    assert_int_equal(fixture_run(fx, STORE_READ, get_grant_run, &c), ERR_NONE);
    return c.grant;
}

struct update_grant {
    struct grant_place place;
    struct id id;
    int64_t version;
    const struct grant_input *in;
    struct grant grant;
};

static inline enum err update_grant_run(struct tx *tx, void *arg)
{
    struct update_grant *c = arg;
    return grant_update(tx, &c->place, &c->id, c->version, c->in, &c->grant);
}

/* Updates *g. */
static inline enum err update_grant(struct building_fixture *fx, struct grant *g, struct grant_input in)
{
    struct update_grant c = {{.building = &fx->building}, g->id, g->version, &in, {.version = 0}};
    enum err e = fixture_run(fx, STORE_WRITE, update_grant_run, &c);
    if (!e)
        *g = c.grant;
    return e;
}

struct revoke_grant {
    const struct id *account, *building, *id;
};

static inline enum err revoke_grant_run(struct tx *tx, void *arg)
{
    const struct revoke_grant *c = arg;
    return grant_revoke(tx, c->account, c->building, c->id);
}

static inline enum err revoke_grant(struct building_fixture *fx, const struct id *id)
{
    return fixture_run(fx, STORE_WRITE, revoke_grant_run, &(struct revoke_grant){&fx->account, &fx->building, id});
}

/* ---- running ---- */

#define FIXTURE_SQLITE(name) cmocka_unit_test_setup_teardown(name, fixture_open, fixture_close)
#define FIXTURE_POSTGRESQL(name)                                                                                       \
    {                                                                                                                  \
#name " on postgresql", name, fixture_open_postgresql, fixture_close, NULL                                     \
    }

/* `TESTS(x)` expands to x(test), for each test. */
#define FIXTURE_RUN(TESTS)      FIXTURE_RUN_IF(TESTS, getenv("PORTERO_TEST_DSN"))
#define FIXTURE_RUN_BOTH(TESTS) FIXTURE_RUN_IF(TESTS, true)
#define FIXTURE_RUN_IF(TESTS, on_postgresql)                                                                           \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        const struct CMUnitTest sqlite[] = {TESTS(FIXTURE_SQLITE)};                                                    \
        const struct CMUnitTest postgresql[] = {TESTS(FIXTURE_POSTGRESQL)};                                            \
        int failed = cmocka_run_group_tests(sqlite, NULL, NULL);                                                       \
        if (on_postgresql)                                                                                             \
            failed += cmocka_run_group_tests(postgresql, store_cluster_start, store_cluster_stop);                     \
        return failed;                                                                                                 \
    }
