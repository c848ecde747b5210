/* Whether the service is ready: the reasons why not, and that each question is answered in bounded time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <semaphore.h>

#include "base/clock.h"
#include "base/container_of.h"
#include "base/metric.h"
#include "base/wait.h"
#include "jobs/readiness.h"
#include "store/engine.h"
#include "store/fixture.h"

#define LIMIT_US (60 * US_PER_S)
#define FRESH_US (US_PER_S / 10) /* as in readiness.c */

static const char *_Atomic stage;

static const char *stage_now(void)
{
    return stage;
}

static struct readiness *start(struct store_fixture *f)
{
    struct readiness *r = NULL;
    const struct readiness_options options = {.config = &f->config, .store = f->store, .stage = stage_now};
    stage = NULL;
    assert_int_equal(readiness_new(&options, &r), ERR_NONE);
    return r;
}

static enum err script_run(void *sql, struct db *db)
{
    struct cursor c;
    enum err e = db_one(db, SQL(schema_version), &c); /* begins the transaction */
    db_end(&c);
    return e ? e : db->engine->script(db, sql);
}

static void run_sql(struct store_fixture *f, const char *sql)
{
    assert_int_equal(store_run(f->store, STORE_WRITE, script_run, (void *)(uintptr_t)sql), ERR_NONE);
}

/* Asks until the answer has so many reasons, since an earlier answer of the store counts for a moment. */
static struct readiness_state wait_for(struct readiness *r, size_t reasons)
{
    const int64_t until_us = clock_monotonic_us() + LIMIT_US;
    struct readiness_state state;
    while ((state = readiness_wait(r)).reason_count != reasons) {
        assert_true(clock_monotonic_us() < until_us);
        sleep_for_us(FRESH_US);
    }
    return state;
}

/* SERVICE-21 */
static void a_good_store_is_ready(void **state)
{
    struct readiness *r = start(*state);
    const struct readiness_state found = wait_for(r, 0);
    assert_false(found.silent);
    assert_true(found.schema > 0);
    assert_int_equal(metric_get(metrics.ready), 1);
    readiness_free(r);
}

static void asking_a_good_store_writes_nothing(void **state)
{
    struct readiness *r = start(*state);
    (void)wait_for(r, 0);
    const int64_t commits = metric_get(metrics.store_commits);
    for (int i = 0; i < 20; i++)
        assert_int_equal(readiness_wait(r).reason_count, 0);
    assert_int_equal(metric_get(metrics.store_commits), commits);
    readiness_free(r);
}

static void a_stage_other_than_serving_is_the_reason(void **state)
{
    struct readiness *r = start(*state);
    (void)wait_for(r, 0);
    stage = "stopping";
    const struct readiness_state found = readiness_wait(r);
    assert_int_equal(found.reason_count, 1);
    assert_string_equal(found.reasons[0], "stopping");
    assert_false(found.silent);
    assert_int_equal(metric_get(metrics.ready), 0);
    readiness_free(r);
}

static void a_schema_that_needs_a_newer_program_is_the_reason(void **state)
{
    struct store_fixture *f = *state;
    struct readiness *r = start(f);
    run_sql(f, "INSERT INTO schema_version (version, oldest) VALUES (9999, 9999)");
    const struct readiness_state found = wait_for(r, 1);
    assert_string_equal(found.reasons[0], "the schema does not fit this program");
    assert_int_equal(found.schema, 9999);
    assert_false(found.silent);
    readiness_free(r);
}

static void a_newer_schema_that_admits_this_program_is_ready(void **state)
{
    struct store_fixture *f = *state;
    struct readiness *r = start(f);
    run_sql(f, "INSERT INTO schema_version (version, oldest) VALUES (9999, 1)");
    assert_int_equal(wait_for(r, 0).schema, 9999);
    readiness_free(r);
}

static void another_master_key_is_the_reason(void **state)
{
    struct store_fixture *f = *state;
    struct readiness *r = start(f);
    (void)wait_for(r, 0);
    run_sql(f, "INSERT INTO setting (name, value) VALUES ('master_key', '00000000000000000000000000000000')");
    assert_string_equal(wait_for(r, 1).reasons[0], "the master key is not the store's");
    readiness_free(r);
}

/* SERVICE-22 */
static void a_store_that_cannot_be_written_is_a_reason_until_a_write_succeeds(void **state)
{
    struct store_fixture *f = *state;
    struct readiness *r = start(f);
    (void)wait_for(r, 0);
    store_note_failure(f->store, "the disk is full", "commit", "disk full");
    const struct readiness_state found = readiness_wait(r);
    assert_int_equal(found.reason_count, 2);
    assert_string_equal(found.reasons[0], "the store cannot be written");
    assert_string_equal(found.reasons[1], "the disk is full");
    assert_false(found.silent);
    (void)wait_for(r, 0); /* nobody else writes */
    readiness_stop(r);
    store_close(f->store); /* its thread may still have the write */
    readiness_free(r);
    assert_int_equal(store_fixture_start(f), 0);
}

static const char *fault(void *context)
{
    return context;
}

/* NODE-6, SERVICE-21 */
static void a_fault_of_the_node_is_the_reason(void **state)
{
    struct store_fixture *f = *state;
    char far[] = "the clock differs";
    const struct readiness_options options = {
        .config = &f->config, .store = f->store, .stage = stage_now, .fault = fault, .context = far};
    struct readiness *r = NULL;
    stage = NULL;
    assert_int_equal(readiness_new(&options, &r), ERR_NONE);
    assert_string_equal(wait_for(r, 1).reasons[0], far);
    readiness_free(r);
}

/* ---- a store that does not answer ---- */

struct blocker {
    sem_t began, go;
};

struct block_task {
    struct store_task task;
    struct blocker *blocker;
};

static enum err block_run(struct store_task *task, struct db *db)
{
    (void)db;
    struct blocker *b = container_of(task, struct block_task, task)->blocker;
    sem_post(&b->began);
    sem_wait(&b->go);
    return ERR_NONE;
}

static void block_done(struct store_task *task, enum err result)
{
    (void)task, (void)result;
}

/* The thread of SQLite's submitted reads is busy until the blocker's `go`. */
static void block(struct store_fixture *f, struct block_task *t, struct blocker *b)
{
    sem_init(&b->began, 0, 0);
    sem_init(&b->go, 0, 0);
    *t = (struct block_task){.task = {.mode = STORE_READ, .run = block_run, .done = block_done}, .blocker = b};
    store_submit(f->store, &t->task);
    sem_wait(&b->began);
}

/* SERVICE-21 */
static void a_silent_store_is_the_reason_and_holds_up_no_answer(void **state)
{
    struct store_fixture *f = *state;
    struct readiness *r = start(f);
    struct block_task t;
    struct blocker b;
    block(f, &t, &b);
    for (int i = 0; i < 2; i++) { /* the second finds the read of the first under way */
        const struct readiness_state found = readiness_wait(r);
        assert_int_equal(found.reason_count, 1);
        assert_string_equal(found.reasons[0], "the store did not respond within 1.5 s");
        assert_true(found.silent);
        assert_int_equal(found.schema, 0);
    }
    stage = "stopping";
    const struct readiness_state both = readiness_wait(r);
    assert_int_equal(both.reason_count, 2);
    assert_string_equal(both.reasons[0], "stopping");
    stage = NULL;
    sem_post(&b.go);
    assert_false(wait_for(r, 0).silent);
    readiness_free(r);
}

struct question {
    struct readiness_question question;
    bool answered;
};

static void note_answer(struct readiness_question *q, const struct readiness_state *state)
{
    assert_true(state->silent);
    container_of(q, struct question, question)->answered = true;
}

static void a_stop_answers_all_that_have_asked(void **state)
{
    struct store_fixture *f = *state;
    struct readiness *r = start(f);
    struct block_task t;
    struct blocker b;
    struct question asked[3] = {
        {.question.answer = note_answer}, {.question.answer = note_answer}, {.question.answer = note_answer}};
    block(f, &t, &b);
    for (size_t i = 0; i < 3; i++)
        readiness_ask(r, &asked[i].question);
    readiness_stop(r);
    for (size_t i = 0; i < 3; i++)
        assert_true(asked[i].answered);
    sem_post(&b.go);
    store_close(f->store); /* its thread still has the read */
    readiness_free(r);
    assert_int_equal(store_fixture_start(f), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, store_fixture_open, store_fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_good_store_is_ready),
        TEST(asking_a_good_store_writes_nothing),
        TEST(a_stage_other_than_serving_is_the_reason),
        TEST(a_schema_that_needs_a_newer_program_is_the_reason),
        TEST(a_newer_schema_that_admits_this_program_is_ready),
        TEST(another_master_key_is_the_reason),
        TEST(a_store_that_cannot_be_written_is_a_reason_until_a_write_succeeds),
        TEST(a_fault_of_the_node_is_the_reason),
        TEST(a_silent_store_is_the_reason_and_holds_up_no_answer),
        TEST(a_stop_answers_all_that_have_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
