/* Building operations whose process is killed at every point: before and after each transaction, and before and after a
 * provider acts. It is restarted, may be killed at the same point again, and then runs to the end. On both engines. */
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "jobs/operation_fixture.h"

#define POINTS_MIN 8 /* of the operator's decision; fewer means that some points are not counted */
#define POINTS_MAX 200

/* Survives the process. */
struct shared {
    struct outside outside;
    char email[40];
    struct id account, building, operation;
    atomic_int points; /* left until the kill; below 0: no kill */
};

static struct shared *shared;
static struct store_fixture *(*new_fixture)(void);
static int kills_wanted; /* of one operation, in consecutive processes */

static void pass_point(void)
{
    if (atomic_load(&shared->points) >= 0 && atomic_fetch_sub(&shared->points, 1) == 0)
        raise(SIGKILL);
}

static void pass_call(const char *operation, void *context)
{
    (void)operation, (void)context;
    pass_point();
}

/* The linker puts this in place of work_run. */
enum err __real_work_run(struct work *work, enum store_mode mode, enum err (*body)(struct tx *tx, void *arg),
                         void *arg);
enum err __wrap_work_run(struct work *work, enum store_mode mode, enum err (*body)(struct tx *tx, void *arg),
                         void *arg);
enum err __wrap_work_run(struct work *work, enum store_mode mode, enum err (*body)(struct tx *tx, void *arg), void *arg)
{
    if (mode == STORE_WRITE)
        pass_point();
    enum err e = __real_work_run(work, mode, body, arg);
    if (mode == STORE_WRITE)
        pass_point();
    return e;
}

/* ---- a process ---- */

static enum err unlease_run(struct tx *tx, void *arg)
{
    (void)arg;
    return db_exec(tx->db, SQL(job_unlease), NULL); /* as if the lease had ended */
}

static void start_process(struct fixture *d, struct store_fixture *fixture)
{
    *d = (struct fixture){.fixture = fixture,
                          .outside = &shared->outside,
                          .email = str_z(shared->email),
                          .account = shared->account,
                          .building = shared->building};
    crypto_set_master((const unsigned char[SHA256_LEN]){1}, NULL);
    fixture->config.plans[0].id = "weekly";
    arena_init(&d->arena, NULL, 0);
    assert_int_equal(store_fixture_start(fixture), 0);
    d->work = (struct work){.store = d->fixture->store, .config = &d->fixture->config, .arena = &d->arena};
    transact(d, STORE_WRITE, unlease_run, d);
    assert_int_equal(start_jobs(d, 1), 0);
}

static void end_process(struct fixture *d)
{
    jobs_free(d->jobs);
    arena_done(&d->arena);
    store_close(d->fixture->store);
}

/* Runs `work` in a child process, which is killed at its point. Returns true if it reached the end before. */
static bool lives(struct store_fixture *fixture, int point_at, void (*work)(struct fixture *d))
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct fixture d;
        start_process(&d, fixture);
        shared->points = point_at;
        work(&d);
        shared->points = -1;
        end_process(&d);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    shared->points = -1;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return false;
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return true;
}

/* ---- the work ---- */

static void execute(struct fixture *d, enum operation_action action)
{
    struct begin b = {.d = d, .action = action, .o.id = shared->operation};
    transact(d, STORE_WRITE, start_run, &b); /* or a replay */
    jobs_drain(d->jobs);
    for (int i = 0; i < 10 && look(d, &shared->operation).status == OPERATION_RUNNING; i++)
        advance(d, 10);
}

static void add(struct fixture *d)
{
    execute(d, OPERATION_ADD);
}

static void remove_it(struct fixture *d)
{
    execute(d, OPERATION_REMOVE);
}

/* Decides about the operation, unless an earlier run has carried out the decision. */
static void decide(struct fixture *d, enum operation_decision decision)
{
    struct operation o;
    jobs_drain(d->jobs);
    enum err e = resolve(d, &shared->operation, decision, &o);
    assert_true(e == ERR_NONE || e == ERR_BAD_REQUEST);
}

static void decide_failed(struct fixture *d)
{
    decide(d, DECIDE_FAILED);
}

static void decide_succeeded(struct fixture *d)
{
    decide(d, DECIDE_SUCCEEDED);
}

/* A quote; for a removal, of a building that was added before. */
static void prepare(struct fixture *d, enum operation_action action)
{
    transact(d, STORE_WRITE, owner_run, d);
    if (action == OPERATION_REMOVE)
        add_building(d);
    struct begin b = {.d = d, .action = action};
    transact(d, STORE_WRITE, quote_run, &b);
    shared->account = d->account;
    shared->building = d->building;
    shared->operation = b.o.id;
}

/* From call `at` on, no provider answers, whether it has acted or not, until the operator is needed. */
static void get_stuck(struct fixture *d, enum operation_action action, int at, enum mishap mishap)
{
    d->outside->calls = 0;
    d->outside->mishap = mishap;
    d->outside->mishap_at = at;
    d->outside->mishaps_left = 1000000;
    struct begin b = {.d = d, .action = action, .o.id = shared->operation};
    transact(d, STORE_WRITE, start_run, &b);
    jobs_drain(d->jobs);
    clock_set_offset_s(clock_offset_s() + OPERATION_STALLED_S + 1);
    assert_int_equal(look(d, &shared->operation).status, OPERATION_RECONCILIATION_REQUIRED);
    d->outside->mishap_at = -1;
}

struct scenario {
    const char *name;
    enum operation_action action;
    void (*work)(struct fixture *d);
    int stuck_at; /* the call from which on it is stuck; -1: it is not stuck */
    enum mishap mishap;
    bool no_numbers; /* the provider has no numbers */
    enum operation_status status;
    size_t buildings;
};

static const struct scenario scenarios[] = {
    {"an addition", OPERATION_ADD, add, -1, FINE, false, OPERATION_SUCCEEDED, 2},
    {"an addition that is rolled back", OPERATION_ADD, add, -1, FINE, true, OPERATION_FAILED, 1},
    {"a removal", OPERATION_REMOVE, remove_it, -1, FINE, false, OPERATION_SUCCEEDED, 1},
    {"an addition that is carried on", OPERATION_ADD, decide_succeeded, 1, LOST, false, OPERATION_SUCCEEDED, 2},
    {"an addition that is undone", OPERATION_ADD, decide_failed, 1, LOST, false, OPERATION_FAILED, 1},
    {"a removal that is carried on", OPERATION_REMOVE, decide_succeeded, 1, LOST, false, OPERATION_SUCCEEDED, 1},
    {"a removal that is undone", OPERATION_REMOVE, decide_failed, 0, SILENT, false, OPERATION_FAILED, 2},
};

/* Adds an account with an operation that is ready for `work`. */
static void prepare_scenario(const struct scenario *s, struct store_fixture *fixture, int at)
{
    struct fixture d;
    *shared = (struct shared){.points = -1};
    snprintf(shared->email, sizeof shared->email, "owner%d@example.com", at);
    outside_init(&shared->outside);
    shared->outside.series = 200 + at;
    shared->outside.point = pass_call;
    start_process(&d, fixture);
    prepare(&d, s->action);
    if (s->stuck_at >= 0)
        get_stuck(&d, s->action, s->stuck_at, s->mishap);
    end_process(&d);
    shared->outside.no_numbers = s->no_numbers;
}

static void expect_in_the_end(const struct scenario *s, struct store_fixture *fixture, size_t given, const char *what)
{
    struct fixture d;
    start_process(&d, fixture);
    s->work(&d);
    struct operation o = look(&d, &shared->operation);
    expect_status(&o, s->status, what);
    consistent(&d, s->buildings, what);
    size_t bought = shared->outside.given - given;
    if (bought > (s->action == OPERATION_ADD ? 1 : 0))
        fail_msg("%s: bought %zu numbers", what, bought);
    end_process(&d);
    clock_set_offset_s(0);
}

/* Returns false if the run never reaches that point. */
static bool killed_at(const struct scenario *s, struct store_fixture *fixture, int at)
{
    char what[100];
    int kills = 0;
    snprintf(what, sizeof what, "%s, killed at point %d", s->name, at);
    prepare_scenario(s, fixture, at);
    const size_t given = shared->outside.given;
    while (kills < kills_wanted && !lives(fixture, at, s->work))
        kills++;
    expect_in_the_end(s, fixture, given, what);
    return kills > 0;
}

static void every_point(const struct scenario *s)
{
    struct store_fixture *fixture = new_fixture();
    void *state = fixture;
    int at = 0;
    assert_non_null(fixture);
    while (at < POINTS_MAX && killed_at(s, fixture, at))
        at++;
    assert_in_range(at, POINTS_MIN, POINTS_MAX - 1);
    assert_int_equal(store_fixture_start(fixture), 0);
    assert_int_equal(store_fixture_close(&state), 0);
}

/* BUILDING-14 */
static void test_an_operation_survives_a_kill_at_every_point(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (scenarios[i].stuck_at < 0)
            every_point(&scenarios[i]);
}

static void test_an_operators_decision_survives_a_kill_at_every_point(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (scenarios[i].stuck_at >= 0)
            every_point(&scenarios[i]);
}

static int share(void **state)
{
    (void)state;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? -1 : 0;
}

static int with_sqlite(void **state)
{
    new_fixture = store_fixture_new;
    kills_wanted = 2;
    return share(state);
}

static int with_postgresql(void **state)
{
    new_fixture = store_fixture_new_postgresql;
    kills_wanted = 1;
    return store_cluster_start(state) || share(state) ? -1 : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_operation_survives_a_kill_at_every_point),
        cmocka_unit_test(test_an_operators_decision_survives_a_kill_at_every_point),
    };
    const struct CMUnitTest shared_store[] = {
        cmocka_unit_test(test_an_operation_survives_a_kill_at_every_point),
    };
    int failed = cmocka_run_group_tests_name("sqlite", tests, with_sqlite, NULL);
    return failed + cmocka_run_group_tests_name("postgresql", shared_store, with_postgresql, store_cluster_stop);
}
