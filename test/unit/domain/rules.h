/* A store of its own for a test of the rules. The whole test runs in one transaction on its own thread, so that it can
 * call the rules one by one and check between them; its clock is tx->now_us.
 *
 *     static void test_x(struct tx *tx) { … }
 *     #define TESTS(x) x(test_x) x(test_y)
 *     RULES_RUN(TESTS)                       on SQLite, and with PORTERO_TEST_DSN on PostgreSQL too */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/crypto.h"
#include "domain/account.h"
#include "domain/job.h"
#include "domain/key.h"
#include "domain/mail.h"
#include "domain/row.h"
#include "domain/session.h"
#include "domain/tx.h"
#include "store/engine.h"
#include "store/fixture.h"

#define RULES_NOW (1795167000LL * US_PER_S) /* 2026-11-20T09:30:00Z */
#define MINUTES   (60 * US_PER_S)
#define DAYS      (86400 * US_PER_S)
#define OWNER     STR("owner@example.com")

#define assert_none(e)          assert_int_equal((e), ERR_NONE)
#define assert_error(e, wanted) assert_string_equal(err_info(e)->code, err_info(wanted)->code)
#define assert_str(s, wanted)   assert_true(str_eq((s), str_z(wanted)))
#define assert_id(a, b)         assert_string_equal((a).text, (b).text)

struct rules_test {
    void (*run)(struct tx *tx);
    bool postgresql;
    struct store_fixture *fixture;
};

/* Any SQL, several statements. */
static inline void rules_sql(struct tx *tx, const char *sql)
{
    assert_none(tx->db->engine->script(tx->db, sql));
}

/* Takes every job that is due: how many of that kind there were, and the last one's payload (may be NULL). */
static inline int64_t rules_take_jobs(struct tx *tx, const char *kind, struct str *ret_payload)
{
    int64_t count = 0;
    int64_t now_us = tx->now_us;
    for (;;) {
        CURSOR c;
        enum err e = db_one(tx->db, SQL_JOB_TAKE, DB_ARGS(v_int(now_us), v_int(0), v_int(1)), &c);
        if (e == ERR_NOT_FOUND)
            return count;
        assert_none(e);
        if (!str_eq(col_str(&c, COL_JOB_KIND), str_z(kind)))
            continue;
        count++;
        if (ret_payload)
            *ret_payload = arena_str(tx->arena, col_blob(&c, COL_JOB_TAKE_PAYLOAD));
    }
}

/* Takes every job that is due; the newest mail's code. */
static inline struct str rules_code(struct tx *tx)
{
    struct str payload;
    struct mail_intent mail;
    assert_true(rules_take_jobs(tx, JOB_MAIL, &payload) > 0);
    assert_none(mail_read(payload, tx->arena, &mail));
    return mail.code;
}

static inline struct key_issued rules_sign_in(struct tx *tx, struct str email)
{
    struct challenge c;
    struct key_issued key;
    assert_none(session_challenge(tx, email, &c));
    assert_none(session_verify(tx, email, str_z(c.id), rules_code(tx), &key));
    return key;
}

static inline enum err rules_who(struct tx *tx, const struct key_issued *key, struct principal *ret)
{
    unsigned char hash[SHA256_LEN];
    key_hash(str_z(key->text), hash);
    return key_authenticate(tx, hash, ret);
}

/* ---- running ---- */

static inline int rules_open(void **state)
{
    struct rules_test *t = *state;
    char *why = NULL;
    t->fixture = t->postgresql ? store_fixture_new_postgresql() : store_fixture_new();
    if (!t->fixture)
        return -1;
    struct config *c = &t->fixture->config;
    c->greetings_welcome = "Code?";
    c->greetings_granted = "Welcome.";
    c->greetings_denied = "Wrong.";
    c->greetings_forwarding = "Wait.";
    c->plans[0] = (struct config_plan){"weekly", 499, "usd", "week", 1, true, ""};
    c->plans[1] = (struct config_plan){"yearly", -1, "usd", "year", 1, true, ""};
    crypto_set_master((const unsigned char[SHA256_LEN]){1}, NULL);
    if (!store_open(c, true, &t->fixture->store, &why))
        return 0;
    fprintf(stderr, "%s\n", why);
    free(why);
    return -1;
}

static inline enum err rules_body(void *arg, struct db *db)
{
    struct rules_test *t = arg;
    struct arena arena;
    arena_init(&arena, NULL, 0);
    struct tx tx = {.arena = &arena, .db = db, .config = &t->fixture->config, .now_us = RULES_NOW};
    t->run(&tx);
    arena_done(&arena);
    return ERR_NONE;
}

static inline void rules_run(void **state)
{
    struct rules_test *t = *state;
    struct store *s = t->fixture->store;
    assert_none(s->engine->transact(s, STORE_WRITE, rules_body, t));
}

static inline int rules_close(void **state)
{
    struct rules_test *t = *state;
    void *fixture = t->fixture;
    return fixture ? store_fixture_close(&fixture) : 0;
}

#define RULES_SQLITE(name) {#name, rules_run, rules_open, rules_close, &(struct rules_test){.run = (name)}},
#define RULES_POSTGRESQL(name)                                                                                         \
    {#name " on postgresql", rules_run, rules_open, rules_close,                                                       \
     &(struct rules_test){.run = (name), .postgresql = true}},

#define RULES_RUN(TESTS)                                                                                               \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        const struct CMUnitTest sqlite[] = {TESTS(RULES_SQLITE)};                                                      \
        const struct CMUnitTest postgresql[] = {TESTS(RULES_POSTGRESQL)};                                              \
        int failed = cmocka_run_group_tests(sqlite, NULL, NULL);                                                       \
        if (getenv("PORTERO_TEST_DSN"))                                                                                \
            failed += cmocka_run_group_tests(postgresql, store_cluster_start, store_cluster_stop);                     \
        return failed;                                                                                                 \
    }
