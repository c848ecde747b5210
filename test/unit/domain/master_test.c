#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "domain/box.h"
#include "domain/mail.h"
#include "domain/master.h"
#include "domain/webhook.h"
#include "domain/work.h"
#include "store/fixture.h"

#define MANY 250 /* more than two batches */

static const unsigned char key_a[SHA256_LEN] = {1}, key_b[SHA256_LEN] = {2}, key_c[SHA256_LEN] = {3};

struct bench {
    struct store_fixture *fixture;
    struct arena arena;
    struct work work;
};

static enum err transact(struct bench *b, enum err (*run)(struct tx *tx, void *arg), void *arg)
{
    return work_write(&b->work, run, arg);
}

static int open_on(void **state, int (*open)(void **state))
{
    struct bench *b = calloc(1, sizeof *b);
    void *fixture;
    if (!b || open(&fixture))
        return -1;
    b->fixture = fixture;
    arena_init(&b->arena, NULL, 0);
    b->work = (struct work){.store = b->fixture->store, .config = &b->fixture->config, .arena = &b->arena};
    *state = b;
    return 0;
}

static int open_sqlite(void **state)
{
    return open_on(state, store_fixture_open);
}

static int open_postgresql(void **state)
{
    return open_on(state, store_fixture_open_postgresql);
}

static int close_bench(void **state)
{
    struct bench *b = *state;
    void *fixture = b->fixture;
    arena_done(&b->arena);
    free(b);
    return store_fixture_close(&fixture);
}

/* ---- the calls of a service ---- */

static enum err claim_run(struct tx *tx, void *arg)
{
    return master_claim(tx, arg);
}

static enum err start(struct bench *b, bool *ret_rekey)
{
    return transact(b, claim_run, ret_rekey);
}

static void assert_starts(struct bench *b, bool rekey)
{
    bool wanted = !rekey;
    assert_int_equal(start(b, &wanted), ERR_NONE);
    assert_int_equal(wanted, rekey);
}

static void assert_refused(struct bench *b)
{
    bool rekey;
    assert_int_equal(start(b, &rekey), ERR_USAGE);
    assert_non_null(b->work.why.p);
}

struct endpoint {
    struct id account;
    struct str key, secret;
};

static enum err create_run(struct tx *tx, void *arg)
{
    struct endpoint *e = arg;
    const unsigned char body[SHA256_LEN] = {1};
    const struct webhook_request request = {&e->account, e->key, body};
    struct webhook w;
    bool replayed;
    return webhook_create(tx, &request, STR("https://example.com/"), 1, &w, &e->secret, &replayed);
}

/* Creates an endpoint of a new account; the second time, reads its secret from the receipt. */
static enum err create(struct bench *b, struct endpoint *e)
{
    if (!id_given(&e->account))
        e->account = id_new(0);
    e->key = STR("key-of-16-letters");
    return transact(b, create_run, e);
}

static enum err mail_run(struct tx *tx, void *unused)
{
    (void)unused;
    const struct mail_intent mail = {.to = STR("a@example.com"), .subject = STR("s"), .text = STR("t")};
    return mail_queue(tx, &mail);
}

static enum err box_run(struct tx *tx, void *arg)
{
    struct str password;
    return box_add(tx, arena_printf(tx->arena, "box%d", *(int *)arg), STR_NONE, &password);
}

static enum err box_open_run(struct tx *tx, void *arg)
{
    struct box_login login;
    enum err e = box_find(tx, arena_printf(tx->arena, "box%d", *(int *)arg), &login);
    if (!e)
        assert_int_equal(login.password.n, BOX_PASSWORD_LEN);
    return e;
}

static struct master_rekeyed rekey(struct bench *b)
{
    struct master_rekeyed done = {-1, -1};
    assert_int_equal(master_rekey(&b->work, &done), ERR_NONE);
    return done;
}

static void assert_readable(struct bench *b, const struct endpoint *e)
{
    struct endpoint again = *e;
    assert_int_equal(create(b, &again), ERR_NONE);
    assert_true(str_eq(again.secret, e->secret));
}

static enum err put_run(struct tx *tx, void *arg)
{
    const char *const *pair = arg;
    return db_exec(tx->db, SQL(setting_put, .name = str_z(pair[0]), .value = str_z(pair[1])), NULL);
}

/* ---- tests ---- */

/* STORE-17 */
static void test_the_first_key_is_recorded_and_another_one_is_refused(void **state)
{
    struct bench *b = *state;
    crypto_set_master(key_a, NULL);
    assert_starts(b, false);
    crypto_set_master(key_b, NULL);
    assert_refused(b);
    crypto_set_master(key_b, key_c);
    assert_refused(b);
    crypto_set_master(key_a, NULL);
    assert_starts(b, false);
}

static enum err forget_run(struct tx *tx, void *unused)
{
    (void)unused;
    return db_exec(tx->db, SQL(setting_delete, .name = STR("master_key")), NULL);
}

static void test_a_store_without_check_values_accepts_only_the_key_that_opens_it(void **state)
{
    struct bench *b = *state;
    struct endpoint e = {0};
    crypto_set_master(key_a, NULL);
    assert_starts(b, false);
    assert_int_equal(create(b, &e), ERR_NONE);
    assert_int_equal(transact(b, forget_run, NULL), ERR_NONE);
    crypto_set_master(key_b, NULL);
    assert_refused(b);
    crypto_set_master(key_b, key_a);
    assert_starts(b, true);
}

static enum err needed_run(struct tx *tx, void *arg)
{
    return master_is_needed(tx, arg);
}

static void test_a_key_is_needed_once_the_store_has_one(void **state)
{
    struct bench *b = *state;
    bool needed = true;
    assert_int_equal(transact(b, needed_run, &needed), ERR_NONE);
    assert_false(needed);
    crypto_set_master(key_a, NULL);
    assert_starts(b, false);
    assert_int_equal(transact(b, needed_run, &needed), ERR_NONE);
    assert_true(needed);
}

/* STORE-18 */
static void test_both_keys_open_and_the_old_one_seals_until_the_replacement_begins(void **state)
{
    struct bench *b = *state;
    struct endpoint before = {0}, during = {0}, after = {0};
    crypto_set_master(key_a, NULL);
    assert_starts(b, false);
    assert_int_equal(create(b, &before), ERR_NONE);

    crypto_set_master(key_b, key_a);
    assert_starts(b, true);
    assert_int_equal(create(b, &during), ERR_NONE);
    crypto_set_master(key_a, NULL); /* another service, not restarted yet */
    assert_readable(b, &during);

    crypto_set_master(key_b, key_a);
    assert_int_equal(rekey(b).sealed, 2);
    assert_int_equal(create(b, &after), ERR_NONE);
    crypto_set_master(key_b, NULL);
    assert_starts(b, false);
    assert_readable(b, &before);
    assert_readable(b, &during);
    assert_readable(b, &after);
    crypto_set_master(key_a, NULL);
    assert_refused(b);
}

/* SITE-17 */
static void test_all_secrets_are_sealed_again_in_batches(void **state)
{
    struct bench *b = *state;
    struct endpoint endpoints[MANY] = {0};
    crypto_set_master(key_a, NULL);
    assert_starts(b, false);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(create(b, &endpoints[i]), ERR_NONE);
        assert_int_equal(transact(b, mail_run, NULL), ERR_NONE);
        assert_int_equal(transact(b, box_run, &i), ERR_NONE);
    }
    crypto_set_master(key_b, key_a);
    struct master_rekeyed done = rekey(b);
    assert_int_equal(done.sealed, 3 * MANY);
    assert_int_equal(done.unreadable, 0);
    assert_int_equal(rekey(b).sealed, 0);
    crypto_set_master(key_b, NULL);
    for (int i = 0; i < MANY; i++) {
        assert_readable(b, &endpoints[i]);
        assert_int_equal(transact(b, box_open_run, &i), ERR_NONE);
    }
    assert_int_equal(rekey(b).unreadable, 0);
}

/* STORE-18 */
static void test_an_interrupted_replacement_needs_both_keys_and_continues(void **state)
{
    struct bench *b = *state;
    struct endpoint e = {0};
    char check_a[MASTER_CHECK_LEN + 1], check_b[MASTER_CHECK_LEN + 1];
    crypto_set_master(key_a, NULL);
    assert_starts(b, false);
    assert_int_equal(create(b, &e), ERR_NONE);
    crypto_set_master(key_b, key_a);
    assert_true(crypto_master_check(MASTER_PREVIOUS, check_a));
    assert_true(crypto_master_check(MASTER_CURRENT, check_b));
    assert_int_equal(transact(b, put_run, (const char *[]){"master_key_previous", check_a}), ERR_NONE);
    assert_int_equal(transact(b, put_run, (const char *[]){"master_key", check_b}), ERR_NONE);

    crypto_set_master(key_b, NULL);
    assert_refused(b);
    crypto_set_master(key_a, NULL);
    assert_refused(b);
    crypto_set_master(key_b, key_a);
    assert_starts(b, true);
    assert_int_equal(rekey(b).sealed, 1);
    assert_starts(b, false);
    crypto_set_master(key_b, NULL);
    assert_starts(b, false);
    assert_readable(b, &e);
}

static void test_a_secret_that_no_key_opens_is_counted_and_unchanged(void **state)
{
    struct bench *b = *state;
    struct endpoint lost = {0}, e = {0};
    crypto_set_master(key_c, NULL);
    assert_int_equal(create(b, &lost), ERR_NONE);
    crypto_set_master(key_a, NULL);
    assert_int_equal(create(b, &e), ERR_NONE);
    assert_starts(b, false);
    crypto_set_master(key_b, key_a);
    struct master_rekeyed done = rekey(b);
    assert_int_equal(done.sealed, 1);
    assert_int_equal(done.unreadable, 1);
    crypto_set_master(key_c, NULL);
    assert_readable(b, &lost);
}

int main(void)
{
#define TEST(name)                                                                                                     \
    cmocka_unit_test_setup_teardown(name, open_sqlite, close_bench),                                                   \
        cmocka_unit_test_setup_teardown(name, open_postgresql, close_bench)
    const struct CMUnitTest tests[] = {
        TEST(test_the_first_key_is_recorded_and_another_one_is_refused),
        TEST(test_a_store_without_check_values_accepts_only_the_key_that_opens_it),
        TEST(test_a_key_is_needed_once_the_store_has_one),
        TEST(test_both_keys_open_and_the_old_one_seals_until_the_replacement_begins),
        TEST(test_all_secrets_are_sealed_again_in_batches),
        TEST(test_an_interrupted_replacement_needs_both_keys_and_continues),
        TEST(test_a_secret_that_no_key_opens_is_counted_and_unchanged),
    };
    return cmocka_run_group_tests(tests, store_cluster_start, store_cluster_stop);
}
