/* Mail jobs, from the transaction to the built-in provider, with ordered faults. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/crypto.h"
#include "domain/mail.h"
#include "domain/work.h"
#include "jobs/mail.h"
#include "jobs/purge.h"
#include "providers/fault.h"
#include "store/fixture.h"

struct fixture {
    struct store_fixture *fixture;
    struct mailer *mailer;
    struct jobs *jobs;
    struct job_kind kinds[2];
    struct arena arena;
    struct work work;
};

static enum err transact(struct fixture *d, enum store_mode mode, enum err (*run)(struct tx *tx, void *arg), void *arg)
{
    return work_run(&d->work, mode, run, arg);
}

static enum err queue_run(struct tx *tx, void *arg)
{
    return mail_queue(tx, &(struct mail_intent){
                              .to = STR("a@example.com"),
                              .subject = STR("Grüße"),
                              .text = STR("Line \"one\"\nLine two: 123456\n"),
                              .code = arg ? str_z(arg) : STR_NONE,
                              .created_us = tx->now_us,
                              .give_up_us = tx->now_us + 900 * US_PER_S,
                          });
}

struct inbox {
    int count;
    struct str channel, to, subject, text, code;
};

static enum err read_run(struct tx *tx, void *arg)
{
    struct inbox *in = arg;
    CURSOR c;
    enum err e = db_query(tx->db, SQL(sandbox_message_list, .channel = STR_NONE, .limit = 100), &c);
    for (bool more; !e && !(e = db_next(&c, &more)) && more; in->count++) {
        const struct row_sandbox_message row = row_sandbox_message(&c, tx->arena);
        in->channel = row.channel;
        in->to = row.recipient;
        in->subject = row.subject;
        in->text = row.text;
        in->code = row.code;
    }
    return e;
}

static struct inbox inbox(struct fixture *d)
{
    struct inbox in = {0};
    assert_int_equal(transact(d, STORE_READ, read_run, &in), ERR_NONE);
    return in;
}

static int set_up(void **state)
{
    struct fixture *d = calloc(1, sizeof *d);
    void *fixture;
    char *why;
    if (!d || store_fixture_open(&fixture))
        return -1;
    crypto_set_master((const unsigned char[SHA256_LEN]){1}, NULL);
    d->fixture = fixture;
    d->fixture->config.mail_provider = "sandbox";
    arena_init(&d->arena, NULL, 0);
    d->work = (struct work){.store = d->fixture->store, .config = &d->fixture->config, .arena = &d->arena};
    *state = d;
    if (mailer_new(&d->fixture->config, d->fixture->store, &d->mailer, &why))
        return -1;
    d->kinds[0] = jobs_kind_mail(d->mailer);
    d->kinds[1] = jobs_kind_purge();
    const struct jobs_options options = {
        .config = &d->fixture->config, .store = d->fixture->store, .kinds = d->kinds, .kind_count = 2};
    d->jobs = jobs_new(&options);
    return jobs_start(d->jobs, NULL) ? -1 : 0;
}

static int tear_down(void **state)
{
    struct fixture *d = *state;
    void *fixture = d->fixture;
    fault_order(STR("mail"), STR_NONE, FAULT_NONE, 0);
    jobs_free(d->jobs);
    mailer_free(d->mailer);
    arena_done(&d->arena);
    clock_set_offset_s(0);
    free(d);
    return store_fixture_close(&fixture);
}

static void queue(struct fixture *d, const char *code)
{
    assert_int_equal(transact(d, STORE_WRITE, queue_run, (void *)code), ERR_NONE);
}

static void advance(struct fixture *d, int64_t seconds)
{
    clock_set_offset_s(clock_offset_s() + seconds);
    jobs_drain(d->jobs);
}

static void test_a_message_is_sent_as_queued(void **state)
{
    struct fixture *d = *state;
    queue(d, "123456");
    jobs_drain(d->jobs);
    struct inbox in = inbox(d);
    assert_int_equal(in.count, 1);
    assert_string_equal(in.channel.p, "email");
    assert_string_equal(in.to.p, "a@example.com");
    assert_string_equal(in.subject.p, "Grüße");
    assert_string_equal(in.text.p, "Line \"one\"\nLine two: 123456\n");
    assert_string_equal(in.code.p, "123456");
}

static void test_a_message_without_a_code_is_sent_without_one(void **state)
{
    struct fixture *d = *state;
    queue(d, NULL);
    jobs_drain(d->jobs);
    struct inbox in = inbox(d);
    assert_int_equal(in.count, 1);
    assert_null(in.code.p);
}

static void test_an_unknown_outcome_is_repeated(void **state)
{
    struct fixture *d = *state;
    assert_true(fault_order(STR("mail"), STR("send"), FAULT_TIMEOUT, 1));
    assert_true(fault_order(STR("mail"), STR_NONE, FAULT_ERROR, 1));
    queue(d, NULL);
    jobs_drain(d->jobs);
    assert_int_equal(inbox(d).count, 0);
    advance(d, 6);
    assert_int_equal(inbox(d).count, 0);
    advance(d, 11);
    assert_int_equal(inbox(d).count, 1);
}

static void test_a_refused_message_is_dropped(void **state)
{
    struct fixture *d = *state;
    assert_true(fault_order(STR("mail"), STR("send"), FAULT_DECLINE, 1));
    queue(d, NULL);
    jobs_drain(d->jobs);
    advance(d, 1000);
    assert_int_equal(inbox(d).count, 0);
}

static void test_a_message_that_is_too_old_is_not_sent(void **state)
{
    struct fixture *d = *state;
    assert_true(fault_order(STR("mail"), STR("send"), FAULT_ERROR, 1));
    queue(d, NULL);
    jobs_drain(d->jobs);
    advance(d, 901);
    assert_int_equal(inbox(d).count, 0);
}

/* ---- the purge ---- */

static enum err schedule_run(struct tx *tx, void *arg)
{
    (void)arg;
    return jobs_schedule_purge(tx);
}

static enum err challenges_run(struct tx *tx, void *arg)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(challenge_count, .email = STR("a@example.com"), .now = 0, .since = 0), &c);
    if (!e)
        *(int64_t *)arg = row_challenge_count(&c, NULL).unused;
    return e;
}

static int64_t challenges(struct fixture *d)
{
    int64_t n;
    assert_int_equal(transact(d, STORE_READ, challenges_run, &n), ERR_NONE);
    return n;
}

static enum err challenge_run(struct tx *tx, void *arg)
{
    const unsigned char mac[SHA256_LEN] = {0};
    return db_exec(tx->db,
                   SQL(challenge_insert, .id = str_z(arg), .email = STR("a@example.com"),
                       .otp_mac = str_bytes(mac, sizeof mac), .expires_at = tx->now_us),
                   NULL);
}

/* SERVICE-32 */
static void test_the_purge_runs_every_hour(void **state)
{
    struct fixture *d = *state;
    assert_int_equal(transact(d, STORE_WRITE, schedule_run, NULL), ERR_NONE);
    assert_int_equal(transact(d, STORE_WRITE, schedule_run, NULL), ERR_NONE);
    assert_int_equal(transact(d, STORE_WRITE, challenge_run, "one"), ERR_NONE);
    jobs_drain(d->jobs);
    assert_int_equal(challenges(d), 1);
    for (int day = 0; day < 2; day++) {
        advance(d, 86400 + 3601);
        assert_int_equal(challenges(d), 0);
        assert_int_equal(transact(d, STORE_WRITE, challenge_run, "two"), ERR_NONE);
    }
}

static void test_the_purge_runs_until_all_expired_rows_are_deleted(void **state)
{
    struct fixture *d = *state;
    char ids[450][8];
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        snprintf(ids[i], sizeof ids[i], "%zu", i);
        assert_int_equal(transact(d, STORE_WRITE, challenge_run, ids[i]), ERR_NONE);
    }
    assert_int_equal(transact(d, STORE_WRITE, schedule_run, NULL), ERR_NONE);
    advance(d, 86400 + 3601);
    for (int ms = 0; ms < 60000 && challenges(d) > 0; ms++)
        usleep(1000);
    assert_int_equal(challenges(d), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_message_is_sent_as_queued),
        TEST(test_a_message_without_a_code_is_sent_without_one),
        TEST(test_an_unknown_outcome_is_repeated),
        TEST(test_a_refused_message_is_dropped),
        TEST(test_a_message_that_is_too_old_is_not_sent),
        TEST(test_the_purge_runs_every_hour),
        TEST(test_the_purge_runs_until_all_expired_rows_are_deleted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
