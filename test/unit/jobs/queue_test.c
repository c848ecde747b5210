/* The job threads with a real store: jobs run at least once, when they are due, with growing pauses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdatomic.h>

#include "domain/job.h"
#include "domain/work.h"
#include "jobs/queue.h"
#include "store/fixture.h"

struct fixture {
    struct store_fixture *fixture;
    struct jobs *jobs;
    struct job_kind kinds[4];
    atomic_int runs, failures_left;
    _Atomic int64_t attempt;
    char payload[32];
};

static enum err count_run(void *context, const struct job *job)
{
    struct fixture *d = context;
    d->attempt = job->attempt;
    if (d->runs++ == 0)
        snprintf(d->payload, sizeof d->payload, "%.*s", STR_ARG(job->payload)); /* of the first run */
    return d->failures_left > 0 && d->failures_left-- ? ERR_INTERNAL_ERROR : ERR_NONE;
}

struct add {
    const char *kind, *name;
    int64_t after_us;
    struct str payload;
};

static enum err add_run(struct tx *tx, void *arg)
{
    const struct add *a = arg;
    int64_t due_us = tx->now_us + a->after_us;
    return a->name ? job_add_once(tx, str_z(a->name), a->kind, due_us, a->payload)
                   : job_add(tx, a->kind, due_us, a->payload);
}

static void transact(struct fixture *d, enum store_mode mode, enum err (*run)(struct tx *tx, void *arg), void *arg)
{
    struct arena a;
    struct work work = {.store = d->fixture->store, .config = &d->fixture->config, .arena = &a};
    arena_init(&a, NULL, 0);
    assert_int_equal(work_run(&work, mode, run, arg), ERR_NONE);
    arena_done(&a);
}

static void add(struct fixture *d, const char *kind, int64_t after_us, struct str payload)
{
    transact(d, STORE_WRITE, add_run, &(struct add){kind, NULL, after_us, payload});
}

/* A job that queues another one. */
static enum err chain_run(void *context, const struct job *job)
{
    struct fixture *d = context;
    struct add next = {"count", NULL, 0, job->payload};
    d->runs++;
    return work_write(job->work, add_run, &next);
}

static enum err add_again_run(struct tx *tx, void *arg)
{
    const struct add *a = arg;
    return job_add_again(tx, str_z(a->name), a->kind, tx->now_us + a->after_us, a->payload);
}

/* A job that is added again while it runs, the first time. */
static enum err echo_run(void *context, const struct job *job)
{
    struct fixture *d = context;
    struct add same = {"echo", "echo", 0, job->payload};
    enum err e = ERR_NONE;
    if (d->runs++ == 0)
        e = work_write(job->work, add_again_run, &same);
    return !e && d->failures_left > 0 && d->failures_left-- ? ERR_INTERNAL_ERROR : e;
}

static enum err repeat_run(struct tx *tx, void *arg)
{
    const struct job *job = arg;
    return job_repeat(tx, job->id, job->created_us, tx->now_us + 3600 * US_PER_S);
}

/* A job that repeats itself in an hour. At its first run it is also added again while it runs. */
static enum err hourly_run(void *context, const struct job *job)
{
    struct fixture *d = context;
    struct job copy = *job;
    struct add same = {"hourly", "hourly", 0, job->payload};
    enum err e = ERR_NONE;
    if (d->runs++ == 0)
        e = work_write(job->work, add_again_run, &same);
    return e ? e : work_write(job->work, repeat_run, &copy);
}

/* When the next job is due; INT64_MAX if there is no job. */
static enum err next_run(struct tx *tx, void *arg)
{
    CURSOR c;
    enum err e = db_one(tx->db, SQL(job_next), &c);
    *(int64_t *)arg = e ? INT64_MAX : row_job_next(&c, NULL).due_at;
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

static int64_t next_due(struct fixture *d)
{
    int64_t due_us;
    transact(d, STORE_READ, next_run, &due_us);
    return due_us;
}

static bool waiting(struct fixture *d)
{
    return next_due(d) != INT64_MAX;
}

static int set_up(void **state)
{
    struct fixture *d = calloc(1, sizeof *d);
    void *fixture;
    if (!d || store_fixture_open(&fixture))
        return -1;
    d->fixture = fixture;
    d->kinds[0] = (struct job_kind){.name = "count", .run = count_run, .context = d};
    d->kinds[1] = (struct job_kind){.name = "chain", .run = chain_run, .context = d};
    d->kinds[2] = (struct job_kind){.name = "echo", .run = echo_run, .context = d};
    d->kinds[3] = (struct job_kind){.name = "hourly", .run = hourly_run, .context = d};
    const struct jobs_options options = {
        .config = &d->fixture->config, .store = d->fixture->store, .kinds = d->kinds, .kind_count = 4};
    *state = d;
    d->jobs = jobs_new(&options);
    return jobs_start(d->jobs, NULL) ? -1 : 0;
}

static int tear_down(void **state)
{
    struct fixture *d = *state;
    void *fixture = d->fixture;
    jobs_free(d->jobs);
    clock_set_offset_s(0);
    free(d);
    return store_fixture_close(&fixture);
}

static void advance(int64_t seconds)
{
    clock_set_offset_s(clock_offset_s() + seconds);
}

static void test_a_due_job_runs_once_and_is_deleted(void **state)
{
    struct fixture *d = *state;
    add(d, "count", 0, STR("hello"));
    jobs_drain(d->jobs);
    jobs_drain(d->jobs);
    assert_int_equal(d->runs, 1);
    assert_int_equal(d->attempt, 1);
    assert_string_equal(d->payload, "hello");
    assert_false(waiting(d));
}

static void test_many_jobs_all_run(void **state)
{
    struct fixture *d = *state;
    for (int i = 0; i < 200; i++)
        add(d, i % 2 ? "count" : "chain", 0, STR("x"));
    jobs_drain(d->jobs);
    assert_int_equal(d->runs, 300);
    assert_false(waiting(d));
}

static void test_a_later_job_waits_for_the_services_clock(void **state)
{
    struct fixture *d = *state;
    add(d, "count", 3600 * US_PER_S, STR("x"));
    jobs_drain(d->jobs);
    assert_int_equal(d->runs, 0);
    advance(3601);
    jobs_drain(d->jobs);
    assert_int_equal(d->runs, 1);
}

/* SERVICE-33 */
static void test_a_failed_job_is_repeated_after_growing_pauses(void **state)
{
    struct fixture *d = *state;
    const int64_t pauses_s[] = {5, 10, 20, 40, 80, 160};
    int64_t before_us = clock_now_us();
    d->failures_left = 42;
    add(d, "count", 0, STR("x"));
    jobs_drain(d->jobs);
    for (int i = 0; i < 42; i++) {
        int64_t pause_s = i < 6 ? pauses_s[i] : i < 29 ? 300 : i < 40 ? 300 * (i - 27) : 3600;
        int64_t failed_us = next_due(d) - pause_s * US_PER_S;
        assert_int_equal(d->runs, i + 1);
        assert_in_range(failed_us, before_us, clock_now_us());
        before_us = clock_now_us();
        advance(pause_s + 1);
        jobs_drain(d->jobs);
    }
    assert_int_equal(d->runs, 43);
    assert_int_equal(d->attempt, 43);
    assert_false(waiting(d));
}

static void test_a_kick_is_enough(void **state)
{
    struct fixture *d = *state;
    jobs_drain(d->jobs);
    add(d, "count", 0, STR("x"));
    jobs_kick(d->jobs);
    while (d->runs == 0 || waiting(d))
        usleep(1000);
    assert_int_equal(d->runs, 1);
}

static void test_an_unknown_kind_waits_for_a_program_that_knows_it(void **state)
{
    struct fixture *d = *state;
    add(d, "tomorrow", 0, STR("x"));
    jobs_drain(d->jobs);
    assert_true(waiting(d));
}

static void test_a_named_job_is_queued_once(void **state)
{
    struct fixture *d = *state;
    struct add named = {"count", "daily", 3600 * US_PER_S, STR("x")};
    transact(d, STORE_WRITE, add_run, &named);
    transact(d, STORE_WRITE, add_run, &named);
    advance(3601);
    jobs_drain(d->jobs);
    assert_int_equal(d->runs, 1);
}

static void test_a_job_added_again_while_it_runs_runs_again(void **state)
{
    struct fixture *d = *state;
    transact(d, STORE_WRITE, add_again_run, &(struct add){"echo", "echo", 0, STR("x")});
    jobs_drain(d->jobs);
    assert_int_equal(d->runs, 2);
    assert_false(waiting(d));
}

static void test_a_job_added_again_while_it_fails_runs_again_at_once(void **state)
{
    struct fixture *d = *state;
    d->failures_left = 1;
    transact(d, STORE_WRITE, add_again_run, &(struct add){"echo", "echo", 0, STR("x")});
    jobs_drain(d->jobs);
    assert_int_equal(d->runs, 2);
    assert_false(waiting(d));
}

static enum err list_run(struct tx *tx, void *arg)
{
    const struct failing_job *list;
    size_t count;
    enum err e = job_list_failing(tx, 10, &list, &count);
    *(int64_t *)arg = e || !count ? 0 : list[0].attempts;
    return e;
}

/* The highest number of failures of a job. */
static int64_t failures(struct fixture *d)
{
    int64_t attempts;
    transact(d, STORE_READ, list_run, &attempts);
    return attempts;
}

/* SERVICE-33 */
static void test_a_failing_job_is_listed_and_starts_over_when_it_is_added_again(void **state)
{
    struct fixture *d = *state;
    const struct add again = {"count", "x", 0, STR("x")};
    d->failures_left = 4;
    add(d, "count", 3600 * US_PER_S, STR("waits"));
    transact(d, STORE_WRITE, add_again_run, (void *)&again);
    jobs_drain(d->jobs);
    assert_int_equal(failures(d), 1);
    advance(6);
    jobs_drain(d->jobs);
    advance(11);
    jobs_drain(d->jobs);
    assert_int_equal(failures(d), 3);
    transact(d, STORE_WRITE, add_again_run, (void *)&again);
    jobs_drain(d->jobs);
    assert_int_equal(failures(d), 1);
    advance(6);
    jobs_drain(d->jobs);
    assert_int_equal(d->runs, 5);
    assert_int_equal(failures(d), 0);
}

static void test_a_job_added_again_is_due_at_the_earlier_time(void **state)
{
    struct fixture *d = *state;
    transact(d, STORE_WRITE, add_again_run, &(struct add){"count", "daily", 3600 * US_PER_S, STR("x")});
    transact(d, STORE_WRITE, add_again_run, &(struct add){"count", "daily", 7200 * US_PER_S, STR("x")});
    jobs_drain(d->jobs);
    assert_int_equal(d->runs, 0);
    transact(d, STORE_WRITE, add_again_run, &(struct add){"count", "daily", 0, STR("x")});
    jobs_drain(d->jobs);
    assert_int_equal(d->runs, 1);
    assert_false(waiting(d));
}

static void test_a_repeating_job_runs_at_once_if_it_was_added_while_it_ran(void **state)
{
    struct fixture *d = *state;
    transact(d, STORE_WRITE, add_again_run, &(struct add){"hourly", "hourly", 0, STR("x")});
    jobs_drain(d->jobs);
    assert_int_equal(d->runs, 2);
    for (int hour = 3; hour < 5; hour++) {
        advance(3590);
        jobs_drain(d->jobs);
        assert_int_equal(d->runs, hour - 1);
        advance(11);
        jobs_drain(d->jobs);
        assert_int_equal(d->runs, hour);
    }
    transact(d, STORE_WRITE, add_again_run, &(struct add){"hourly", "hourly", 0, STR("x")});
    jobs_drain(d->jobs);
    assert_int_equal(d->runs, 5);
    assert_true(waiting(d));
}

static enum err steal_run(struct tx *tx, void *arg)
{
    (void)arg;
    CURSOR c; /* leased by a process that then crashes */
    return db_one(tx->db, SQL(job_take, .now = INT64_MAX, .lasts = 3600 * US_PER_S, .leased_by = NULL), &c);
}

static void test_a_job_that_a_crashed_process_had_leased_runs_at_the_next_start(void **state)
{
    struct fixture *d = *state;
    const struct jobs_options options = {
        .config = &d->fixture->config, .store = d->fixture->store, .kinds = d->kinds, .kind_count = 2, .threads = 1};
    jobs_free(d->jobs);
    d->jobs = NULL;
    add(d, "count", 0, STR("x"));
    transact(d, STORE_WRITE, steal_run, NULL);
    d->jobs = jobs_new(&options);
    assert_int_equal(jobs_start(d->jobs, NULL), ERR_NONE);
    jobs_drain(d->jobs);
    assert_int_equal(d->runs, 1);
    assert_int_equal(d->attempt, 2);
}

/* ---- waiting for a job ---- */

static bool wait_for(struct fixture *d, const char *name, int64_t wait_ms)
{
    bool done = false;
    assert_int_equal(jobs_wait(d->jobs, str_z(name), wait_ms, &done), ERR_NONE);
    return done;
}

static void test_a_wait_ends_with_the_job(void **state)
{
    struct fixture *d = *state;
    transact(d, STORE_WRITE, add_run, &(struct add){"count", "one", 0, STR("x")});
    jobs_kick(d->jobs);
    assert_true(wait_for(d, "one", 60000));
    assert_int_equal(d->runs, 1);
    assert_true(wait_for(d, "one", 60000));
    assert_true(wait_for(d, "never there", 0));
}

static void test_a_wait_ends_at_once_if_the_next_attempt_is_too_late(void **state)
{
    struct fixture *d = *state;
    d->failures_left = 1;
    transact(d, STORE_WRITE, add_run, &(struct add){"count", "one", 0, STR("x")});
    jobs_kick(d->jobs);
    assert_false(wait_for(d, "one", 2500)); /* the next attempt is 5 s later */
    assert_int_equal(d->runs, 1);
    transact(d, STORE_WRITE, add_run, &(struct add){"count", "later", 3600 * US_PER_S, STR("x")});
    assert_false(wait_for(d, "later", 60000));
}

static void *move_clock(void *arg)
{
    struct fixture *d = arg;
    while (d->runs == 0)
        usleep(1000);
    advance(6);
    jobs_kick(d->jobs);
    return NULL;
}

static void test_a_wait_continues_after_a_failed_attempt(void **state)
{
    struct fixture *d = *state;
    pthread_t mover;
    d->failures_left = 1;
    assert_int_equal(pthread_create(&mover, NULL, move_clock, d), 0);
    transact(d, STORE_WRITE, add_run, &(struct add){"count", "one", 0, STR("x")});
    jobs_kick(d->jobs);
    assert_true(wait_for(d, "one", 60000));
    assert_int_equal(d->runs, 2);
    pthread_join(mover, NULL);
}

static void *stop_jobs(void *arg)
{
    struct fixture *d = arg;
    usleep(20000);
    jobs_stop(d->jobs);
    return NULL;
}

static void test_a_wait_ends_when_the_threads_stop(void **state)
{
    struct fixture *d = *state;
    pthread_t stopper;
    transact(d, STORE_WRITE, add_run, &(struct add){"count", "one", 10 * US_PER_S, STR("x")});
    assert_int_equal(pthread_create(&stopper, NULL, stop_jobs, d), 0);
    assert_false(wait_for(d, "one", 60000));
    pthread_join(stopper, NULL);
    assert_int_equal(d->runs, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_due_job_runs_once_and_is_deleted),
        TEST(test_many_jobs_all_run),
        TEST(test_a_later_job_waits_for_the_services_clock),
        TEST(test_a_failed_job_is_repeated_after_growing_pauses),
        TEST(test_a_kick_is_enough),
        TEST(test_an_unknown_kind_waits_for_a_program_that_knows_it),
        TEST(test_a_named_job_is_queued_once),
        TEST(test_a_job_added_again_while_it_runs_runs_again),
        TEST(test_a_job_added_again_while_it_fails_runs_again_at_once),
        TEST(test_a_failing_job_is_listed_and_starts_over_when_it_is_added_again),
        TEST(test_a_job_added_again_is_due_at_the_earlier_time),
        TEST(test_a_repeating_job_runs_at_once_if_it_was_added_while_it_ran),
        TEST(test_a_job_that_a_crashed_process_had_leased_runs_at_the_next_start),
        TEST(test_a_wait_ends_with_the_job),
        TEST(test_a_wait_ends_at_once_if_the_next_attempt_is_too_late),
        TEST(test_a_wait_continues_after_a_failed_attempt),
        TEST(test_a_wait_ends_when_the_threads_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
