/* A building with a store of its own, for tests of what happens in it: its account is subscribed, its door is set up,
 * its clock is the test's. On SQLite, and with PORTERO_TEST_DSN on PostgreSQL too (HOUSE_RUN); or on both in any case
 * (HOUSE_RUN_BOTH). */
#pragma once
#include <pthread.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "domain/grant.h"
#include "store/fixture.h"

#define HOUSE_NOW (1795167000LL * US_PER_S) /* 2026-11-20T09:30:00Z, a Friday */
#define MINUTES   (60 * US_PER_S)
#define HOURS     (60 * MINUTES)
#define DAYS      (24 * HOURS)

#define HOUSE_NUMBER "+15550100001"
#define OWNER_PHONE  "+15557654321"
#define VISITOR      "+15551112222"

struct house {
    struct store_fixture *fixture;
    struct arena arena;
    int64_t now_us;
    struct id account, building;
    struct tx tx; /* of the last transaction: its message */
    unsigned requests;
};

/* ---- transactions ---- */

struct house_call {
    struct house *house;
    enum err (*run)(struct tx *tx, void *arg);
    void *arg;
};

static inline enum err house_call_run(void *arg, struct db *db)
{
    struct house_call *call = arg;
    struct house *h = call->house;
    h->tx = (struct tx){.arena = &h->arena, .db = db, .config = &h->fixture->config, .now_us = h->now_us};
    return call->run(&h->tx, call->arg);
}

static inline enum err house_run(struct house *h, enum store_mode mode, enum err (*run)(struct tx *, void *), void *arg)
{
    return store_run(h->fixture->store, mode, house_call_run, &(struct house_call){h, run, arg});
}

/* ---- SQL around the store's back ---- */

static inline int house_sql_row(void *arg, int n, char **values, char **names)
{
    (void)names;
    struct house_text {
        char *p;
        size_t n, max;
    } *out = arg;
    for (int i = 0; i < n; i++)
        out->n +=
            (size_t)snprintf(out->p + out->n, out->max - out->n, "%s%s", i ? "|" : "", values[i] ? values[i] : "");
    out->n += (size_t)snprintf(out->p + out->n, out->max - out->n, "\n");
    return 0;
}

/* Runs one statement, gives its rows as text: columns joined by |, rows ended by a line feed. In the house's arena. */
static inline const char *house_sql(struct house *h, const char *sql)
{
    struct {
        char *p;
        size_t n, max;
    } out = {arena_zalloc(&h->arena, 65536), 0, 65536};
    if (h->fixture->config.engine == ENGINE_SQLITE) {
        char path[128], *why = NULL;
        sqlite3 *db;
        snprintf(path, sizeof path, "%s/portero.db", h->fixture->dir);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        sqlite3_busy_timeout(db, 5000);
        if (sqlite3_exec(db, sql, house_sql_row, &out, &why) != SQLITE_OK)
            fail_msg("%s: %s", sql, why);
        sqlite3_close(db);
        return out.p;
    }
    PGconn *conn = PQconnectdb(h->fixture->dsn);
    PGresult *r = PQexec(conn, sql);
    if (PQresultStatus(r) != PGRES_COMMAND_OK && PQresultStatus(r) != PGRES_TUPLES_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(conn));
    for (int row = 0; row < PQntuples(r); row++) {
        char *values[16];
        for (int i = 0; i < PQnfields(r); i++)
            values[i] = PQgetisnull(r, row, i) ? NULL : PQgetvalue(r, row, i);
        house_sql_row(&out, PQnfields(r), values, NULL);
    }
    PQclear(r);
    PQfinish(conn);
    return out.p;
}

static inline void house_expect(struct house *h, const char *sql, const char *rows)
{
    const char *got = house_sql(h, sql);
    if (strcmp(got, rows) != 0)
        fail_msg("%s\ngave:\n%swanted:\n%s", sql, got, rows);
}

/* ---- the house ---- */

/* Another building of the account, with a number of its own. */
static inline struct id house_add_building(struct house *h, const char *label, const char *number)
{
    struct id id = id_new(h->now_us);
    house_sql(h, arena_printf(&h->arena,
                              "INSERT INTO building (account_id, id, created_at, is_primary, label, virtual_number, "
                              "unlock_tone, greeting_granted) VALUES ('%s', '%s', 0, 0, '%s', '%s', '9', '')",
                              h->account.text, id.text, label, number)
                     .p);
    return id;
}

/* An endpoint that listens to every type of event, so that there are any; its secret is none. */
static inline void house_add_webhook(struct house *h)
{
    const bool sqlite = h->fixture->config.engine == ENGINE_SQLITE;
    house_sql(h, arena_printf(&h->arena,
                              "INSERT INTO webhook (account_id, id, created_at, url, events, secret) "
                              "VALUES ('%s', '%s', 0, 'https://example.com/', 31, %s)",
                              h->account.text, id_new(h->now_us).text, sqlite ? "x'00'" : "'\\x00'")
                     .p);
}

static inline int house_build(void **state)
{
    struct store_fixture *f = *state;
    static const unsigned char master[SHA256_LEN] = {1, 2, 3};
    struct house *h = calloc(1, sizeof *h);
    if (!h)
        return -1;
    crypto_set_master(master, NULL);
    h->fixture = f;
    f->config.greetings_welcome = "code?";
    f->config.greetings_granted = "welcome";
    f->config.greetings_denied = "wrong";
    f->config.greetings_forwarding = "wait";
    h->now_us = HOUSE_NOW;
    arena_init(&h->arena, NULL, 0);
    h->account = id_new(h->now_us);
    h->building = house_add_building(h, "Home", HOUSE_NUMBER);
    house_sql(h, arena_printf(&h->arena,
                              "INSERT INTO account (id, email, created_at, plan, subscription_status, phone) "
                              "VALUES ('%s', 'owner@example.com', 0, 'weekly', 'active', '" OWNER_PHONE "')",
                              h->account.text)
                     .p);
    house_add_webhook(h);
    *state = h;
    return 0;
}

static inline int house_open(void **state)
{
    return store_fixture_open(state) ? -1 : house_build(state);
}

static inline int house_open_postgresql(void **state)
{
    return store_fixture_open_postgresql(state) ? -1 : house_build(state);
}

static inline int house_close(void **state)
{
    struct house *h = *state;
    void *fixture = h->fixture;
    arena_done(&h->arena);
    free(h);
    return store_fixture_close(&fixture);
}

/* ---- grants ---- */

static inline struct val text(const char *z)
{
    return v_str(str_z(z));
}

struct house_create {
    struct grant_place place;
    const struct grant_input *in;
    struct str key;
    unsigned char hash[SHA256_LEN];
    struct grant grant;
    bool replayed;
};

static inline enum err house_create_run(struct tx *tx, void *arg)
{
    struct house_create *c = arg;
    return grant_create(tx, &c->place, c->in, c->key, c->hash, &c->grant, &c->replayed);
}

/* `body` stands for the request's canonical body. */
static inline enum err house_create(struct house *h, const struct grant_input *in, const char *key, const char *body,
                                    struct grant *ret, bool *ret_replayed)
{
    struct house_create c = {.place = {&h->building, false, 0}, .in = in, .key = str_z(key)};
    crypto_sha256(str_z(body), c.hash);
    enum err e = house_run(h, STORE_WRITE, house_create_run, &c);
    if (!e) {
        *ret = c.grant;
        if (ret_replayed)
            *ret_replayed = c.replayed;
    }
    return e;
}

/* With a key of its own; the test fails if it is refused. */
static inline struct grant house_grant(struct house *h, struct grant_input in)
{
    char key[40];
    struct grant g;
    snprintf(key, sizeof key, "house-request-%06u", h->requests++);
    enum err e = house_create(h, &in, key, key, &g, NULL);
    if (e)
        fail_msg("%s: %.*s", err_info(e)->code, STR_ARG(h->tx.why));
    return g;
}

struct house_get {
    struct id id;
    struct grant grant;
    const struct id *building;
    int64_t number; /* the building's, as struct grant_place has it */
};

static inline enum err house_get_run(struct tx *tx, void *arg)
{
    struct house_get *c = arg;
    return grant_get(tx, &(struct grant_place){.building = c->building, .number = c->number}, &c->id, &c->grant);
}

static inline struct grant house_get(struct house *h, const struct id *id)
{
    struct house_get c = {.id = *id, .building = &h->building};
    assert_int_equal(house_run(h, STORE_READ, house_get_run, &c), ERR_NONE);
    return c.grant;
}

struct house_update {
    struct grant_place place;
    struct id id;
    int64_t version;
    const struct grant_input *in;
    struct grant grant;
};

static inline enum err house_update_run(struct tx *tx, void *arg)
{
    struct house_update *c = arg;
    return grant_update(tx, &c->place, &c->id, c->version, c->in, &c->grant);
}

/* *g is the grant to change, and then the changed one. */
static inline enum err house_update(struct house *h, struct grant *g, struct grant_input in)
{
    struct house_update c = {{&h->building, false, 0}, g->id, g->version, &in, {.version = 0}};
    enum err e = house_run(h, STORE_WRITE, house_update_run, &c);
    if (!e)
        *g = c.grant;
    return e;
}

static inline enum err house_revoke_run(struct tx *tx, void *arg)
{
    struct house_get *c = arg;
    return grant_revoke(tx, c->building, &c->id);
}

static inline enum err house_revoke(struct house *h, const struct id *id)
{
    return house_run(h, STORE_WRITE, house_revoke_run, &(struct house_get){.id = *id, .building = &h->building});
}

/* ---- running ---- */

#define HOUSE_SQLITE(name) cmocka_unit_test_setup_teardown(name, house_open, house_close)
#define HOUSE_POSTGRESQL(name)                                                                                         \
    {                                                                                                                  \
#name " on postgresql", name, house_open_postgresql, house_close, NULL                                         \
    }

/* `TESTS(x)` expands to x(test), for each test. */
#define HOUSE_RUN(TESTS)      HOUSE_RUN_IF(TESTS, getenv("PORTERO_TEST_DSN"))
#define HOUSE_RUN_BOTH(TESTS) HOUSE_RUN_IF(TESTS, true)
#define HOUSE_RUN_IF(TESTS, on_postgresql)                                                                             \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        const struct CMUnitTest sqlite[] = {TESTS(HOUSE_SQLITE)};                                                      \
        const struct CMUnitTest postgresql[] = {TESTS(HOUSE_POSTGRESQL)};                                              \
        int failed = cmocka_run_group_tests(sqlite, NULL, NULL);                                                       \
        if (on_postgresql)                                                                                             \
            failed += cmocka_run_group_tests(postgresql, store_cluster_start, store_cluster_stop);                     \
        return failed;                                                                                                 \
    }
