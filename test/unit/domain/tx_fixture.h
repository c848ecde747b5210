/* A fixture with a new store. A whole test runs in one write transaction on the test's thread, so that it can call
 * rules one by one and check their results in between; tx->now_us is its clock.
 *
 *     static void test_x(struct tx *tx) { … }
 *     #define TESTS(x) x(test_x) x(test_y)
 *     TX_RUN(TESTS)
 *
 * TX_RUN runs the tests on SQLite, and with PORTERO_TEST_DSN on PostgreSQL too. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "configure.h"
#include "domain/account.h"
#include "domain/job.h"
#include "domain/key.h"
#include "domain/mail.h"
#include "domain/session.h"
#include "domain/tx.h"
#include "store/engine.h"
#include "store/fixture.h"

#define TX_NOW  (1795167000LL * US_PER_S) /* 2026-11-20T09:30:00Z */
#define MINUTES (60 * US_PER_S)
#define DAYS    (86400 * US_PER_S)
#define OWNER   STR("owner@example.com")

#define assert_none(e)          assert_int_equal((e), ERR_NONE)
#define assert_error(e, wanted) assert_string_equal(err_info(e)->code, err_info(wanted)->code)
#define assert_str(s, wanted)   assert_true(str_eq((s), str_z(wanted)))
#define assert_id(a, b)         assert_string_equal((a).text, (b).text)

struct tx_test {
    void (*run)(struct tx *tx);
    bool postgresql;
    struct store_fixture *fixture;
};

/* Runs SQL: one statement or several. */
static inline void tx_sql(struct tx *tx, const char *sql)
{
    assert_none(tx->db->engine->script(tx->db, sql));
}

/* Takes every due job. Returns how many were of the kind; *ret_payload (may be NULL) is the last one's payload.
 */
static inline int64_t take_jobs(struct tx *tx, const char *kind, struct str *ret_payload)
{
    int64_t count = 0;
    int64_t now_us = tx->now_us;
    if (ret_payload)
        *ret_payload = STR_NONE;
    for (;;) {
        CURSOR c;
        enum err e = db_one(tx->db, SQL(job_take, .now = now_us, .lasts = US_PER_S * 3600, .leased_by = NULL), &c);
        if (e == ERR_NOT_FOUND)
            return count;
        assert_none(e);
        const struct row_job_take row = row_job_take(&c, tx->arena);
        if (!str_eq(row.job.kind, str_z(kind)))
            continue;
        count++;
        if (ret_payload)
            *ret_payload = row.payload;
    }
}

/* Takes every due job. Returns the code of the last mail. */
static inline struct str mailed_code(struct tx *tx)
{
    struct str payload;
    struct mail_intent mail;
    assert_true(take_jobs(tx, JOB_MAIL, &payload) > 0);
    assert_none(mail_read(payload, tx->arena, &mail));
    return mail.code;
}

static inline struct key_issued sign_in(struct tx *tx, struct str email)
{
    struct challenge c;
    struct key_issued key;
    assert_none(session_challenge(tx, email, &c));
    assert_none(session_verify(tx, email, str_z(c.id), mailed_code(tx), &key));
    return key;
}

static inline enum err authenticate(struct tx *tx, const struct key_issued *key, struct principal *ret)
{
    unsigned char hash[SHA256_LEN];
    key_hash(str_z(key->text), hash);
    return key_authenticate(tx, hash, ret);
}

/* Signs the owner in. */
static inline struct principal owner(struct tx *tx)
{
    struct key_issued key = sign_in(tx, OWNER);
    struct principal who;
    assert_none(authenticate(tx, &key, &who));
    return who;
}

/* ---- running ---- */

static inline int tx_test_open(void **state)
{
    struct tx_test *t = *state;
    t->fixture = t->postgresql ? store_fixture_next_postgresql() : store_fixture_new();
    if (!t->fixture)
        return -1;
    configure(&t->fixture->config);
    return store_fixture_open_store(t->fixture);
}

static inline enum err tx_test_body(void *arg, struct db *db)
{
    struct tx_test *t = arg;
    struct arena arena;
    arena_init(&arena, NULL, 0);
    struct tx tx = {.arena = &arena, .db = db, .config = &t->fixture->config, .now_us = TX_NOW};
    t->run(&tx);
    arena_done(&arena);
    return ERR_NONE;
}

static inline void tx_test_run(void **state)
{
    struct tx_test *t = *state;
    struct store *s = t->fixture->store;
    assert_none(s->engine->transact(s, STORE_WRITE, tx_test_body, t));
}

static inline int tx_test_close(void **state)
{
    struct tx_test *t = *state;
    void *fixture = t->fixture;
    return fixture ? store_fixture_close(&fixture) : 0;
}

#define TX_SQLITE(name) {#name, tx_test_run, tx_test_open, tx_test_close, &(struct tx_test){.run = (name)}},
#define TX_POSTGRESQL(name)                                                                                            \
    {#name " on postgresql", tx_test_run, tx_test_open, tx_test_close,                                                 \
     &(struct tx_test){.run = (name), .postgresql = true}},

#define TX_RUN(TESTS)                                                                                                  \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        const struct CMUnitTest sqlite[] = {TESTS(TX_SQLITE)};                                                         \
        const struct CMUnitTest postgresql[] = {TESTS(TX_POSTGRESQL)};                                                 \
        int failed = cmocka_run_group_tests(sqlite, NULL, NULL);                                                       \
        if (getenv("PORTERO_TEST_DSN"))                                                                                \
            failed += cmocka_run_group_tests(postgresql, store_cluster_start, store_cluster_stop);                     \
        return failed;                                                                                                 \
    }
