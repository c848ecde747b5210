/* The guarantees of db_assume (PostgreSQL). */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"

/* A body that assumes the value of setting "truth" in its first run, and reads it in the next. */
struct guess {
    const char *assumed;
    int statements;  /* that the body runs after the assumption */
    enum err answer; /* the body's result in a run that assumes */
    bool disproved;
    int runs;
    struct args_setting_get truth;
    struct db_assumption assumption;
    char seen[32]; /* the value of setting "other" */
};

static bool truth_is(void *context, const struct cursor *c)
{
    struct guess *g = context;
    g->disproved = !c || !str_eq(row_setting_get(c, NULL).value, str_z(g->assumed));
    return !g->disproved;
}

static enum err read_setting(struct db *db, const char *name, char *ret, size_t size)
{
    CURSOR c;
    enum err e = db_one(db, SQL(setting_get, .name = str_z(name)), &c);
    const struct str value = e ? STR("") : row_setting_get(&c, NULL).value;
    snprintf(ret, size, "%.*s", STR_ARG(value));
    return e == ERR_NOT_FOUND ? ERR_NONE : e;
}

static void assume(struct guess *g, struct db *db)
{
    g->truth = SQL_ARGS(setting_get, .name = STR("truth"));
    g->assumption = (struct db_assumption){&g->truth.call, truth_is, g};
    if (!g->disproved)
        db_assume(db, &g->assumption);
}

static enum err look(void *arg, struct db *db)
{
    struct guess *g = arg;
    enum err e = ERR_NONE;
    g->runs++;
    assume(g, db);
    for (int i = 0; i < g->statements && !e; i++)
        e = read_setting(db, "other", g->seen, sizeof g->seen);
    return e || g->disproved ? e : g->answer;
}

static enum err write_down(void *arg, struct db *db)
{
    struct guess *g = arg;
    g->runs++;
    assume(g, db);
    return db_exec(db, SQL(setting_put, .name = STR("other"), .value = g->disproved ? STR("known") : STR("assumed")),
                   NULL);
}

static enum err put(void *arg, struct db *db)
{
    return db_exec(db, SQL(setting_put, .name = STR("truth"), .value = str_z(arg)), NULL);
}

static struct store *store_with_truth(void **state, char *truth)
{
    struct store_fixture *f = *state;
    if (truth)
        assert_int_equal(store_run(f->store, STORE_WRITE, put, truth), ERR_NONE);
    return f->store;
}

static void an_assumption_that_holds_lets_the_body_run_once(void **state)
{
    struct store *s = store_with_truth(state, "a");
    for (int statements = 0; statements <= 2; statements++) {
        struct guess g = {.assumed = "a", .statements = statements};
        assert_int_equal(store_run(s, STORE_READ, look, &g), ERR_NONE);
        /* A read of two statements runs again, once for each connection, until that is known about its first one. */
        assert_in_range(g.runs, 1, 1 + (statements == 2));
        assert_false(g.disproved);
    }
}

static void a_disproved_assumption_makes_the_body_run_again(void **state)
{
    struct store *s = store_with_truth(state, "b");
    for (int statements = 0; statements <= 2; statements++) {
        struct guess g = {.assumed = "a", .statements = statements, .answer = ERR_INVALID_ID};
        assert_int_equal(store_run(s, STORE_READ, look, &g), ERR_NONE);
        assert_true(g.disproved);
        assert_true(g.runs >= 2);
    }
}

static void an_assumption_without_a_row_is_disproved(void **state)
{
    struct store *s = store_with_truth(state, NULL);
    struct guess g = {.assumed = "a", .statements = 1, .answer = ERR_INVALID_ID};
    assert_int_equal(store_run(s, STORE_READ, look, &g), ERR_NONE);
    assert_true(g.disproved);
}

static void an_error_counts_only_if_the_assumption_holds(void **state)
{
    struct store *s = store_with_truth(state, "a");
    for (int statements = 0; statements <= 1; statements++) {
        struct guess right = {.assumed = "a", .statements = statements, .answer = ERR_INVALID_ID};
        assert_int_equal(store_run(s, STORE_READ, look, &right), ERR_INVALID_ID);
        assert_int_equal(store_run(s, STORE_WRITE, look, &right), ERR_INVALID_ID);
        struct guess wrong = {.assumed = "b", .statements = statements, .answer = ERR_INVALID_ID};
        assert_int_equal(store_run(s, STORE_READ, look, &wrong), ERR_NONE);
        wrong.disproved = false;
        assert_int_equal(store_run(s, STORE_WRITE, look, &wrong), ERR_NONE);
    }
}

static void a_write_with_a_disproved_assumption_leaves_nothing(void **state)
{
    struct store *s = store_with_truth(state, "b");
    struct guess g = {.assumed = "a"}, after = {.assumed = "b", .statements = 1};
    assert_int_equal(store_run(s, STORE_WRITE, write_down, &g), ERR_NONE);
    assert_true(g.disproved);
    assert_int_equal(g.runs, 2);
    assert_int_equal(store_run(s, STORE_READ, look, &after), ERR_NONE);
    assert_string_equal(after.seen, "known");
    g = (struct guess){.assumed = "b"};
    assert_int_equal(store_run(s, STORE_WRITE, write_down, &g), ERR_NONE);
    assert_int_equal(g.runs, 1);
    assert_int_equal(store_run(s, STORE_READ, look, &after), ERR_NONE);
    assert_string_equal(after.seen, "assumed");
}

/* ---- reads that travel together ---- */

#define CROWD 96

struct crowd {
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    int left;
};

struct one {
    struct store_task task;
    struct guess guess;
    struct crowd *crowd;
    enum err result;
};

static enum err look_in_crowd(struct store_task *task, struct db *db)
{
    return look(&((struct one *)task)->guess, db);
}

static void end_in_crowd(struct store_task *task, enum err result)
{
    struct one *one = (struct one *)task;
    pthread_mutex_lock(&one->crowd->mutex);
    one->result = result;
    if (--one->crowd->left == 0)
        pthread_cond_signal(&one->crowd->ended);
    pthread_mutex_unlock(&one->crowd->mutex);
}

static void run_crowd(struct store *s, struct one *all)
{
    struct crowd crowd = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, CROWD};
    for (int i = 0; i < CROWD; i++) {
        all[i].crowd = &crowd;
        all[i].task = (struct store_task){.mode = STORE_READ, .run = look_in_crowd, .done = end_in_crowd};
    }
    for (int i = 0; i < CROWD; i++)
        store_submit(s, &all[i].task);
    pthread_mutex_lock(&crowd.mutex);
    while (crowd.left)
        pthread_cond_wait(&crowd.ended, &crowd.mutex);
    pthread_mutex_unlock(&crowd.mutex);
}

/* Reads of no, one or two statements, with a right or a wrong assumption, that succeed or fail. */
static void reads_that_wait_at_once_get_what_each_gets_alone(void **state)
{
    struct store *s = store_with_truth(state, "b");
    struct guess writer = {.assumed = "b"};
    assert_int_equal(store_run(s, STORE_WRITE, write_down, &writer), ERR_NONE);
    for (int round = 0; round < 5; round++) {
        struct one all[CROWD] = {0};
        for (int i = 0; i < CROWD; i++)
            all[i].guess = (struct guess){.assumed = i % 3 ? "b" : "a",
                                          .statements = i % 7 ? 1 : i % 2 * 2,
                                          .answer = i % 5 ? ERR_NONE : ERR_INVALID_ID};
        run_crowd(s, all);
        for (int i = 0; i < CROWD; i++) {
            const struct guess *g = &all[i].guess;
            assert_int_equal(g->disproved, i % 3 == 0);
            assert_int_equal(all[i].result, g->disproved ? ERR_NONE : g->answer);
            assert_string_equal(g->seen, g->statements ? "assumed" : "");
        }
    }
}

/* Ends the connections of this test alone: other tests use the same server. */
static int end_connections(const struct store_fixture *f)
{
    PGconn *conn = PQconnectdb(store_cluster.dsn);
    const char *const name = f->schema;
    PGresult *r =
        PQexecParams(conn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", 1,
                     NULL, &name, NULL, NULL, 0);
    const int ended = PQntuples(r);
    PQclear(r);
    PQfinish(conn);
    return ended;
}

static void reads_that_wait_at_once_survive_the_loss_of_their_connections(void **state)
{
    struct store *s = store_with_truth(state, "b");
    struct guess writer = {.assumed = "b"};
    assert_int_equal(store_run(s, STORE_WRITE, write_down, &writer), ERR_NONE);
    for (int round = 0; round < 5; round++) {
        struct one all[CROWD] = {0};
        for (int i = 0; i < CROWD; i++)
            all[i].guess = (struct guess){.assumed = "b", .statements = 1};
        assert_true(end_connections(*state) > 0);
        run_crowd(s, all);
        for (int i = 0; i < CROWD; i++) {
            assert_int_equal(all[i].result, ERR_NONE);
            assert_string_equal(all[i].guess.seen, "assumed");
        }
    }
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, store_fixture_open_postgresql, store_fixture_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_assumption_that_holds_lets_the_body_run_once),
        TEST(a_disproved_assumption_makes_the_body_run_again),
        TEST(an_assumption_without_a_row_is_disproved),
        TEST(an_error_counts_only_if_the_assumption_holds),
        TEST(a_write_with_a_disproved_assumption_leaves_nothing),
        TEST(reads_that_wait_at_once_get_what_each_gets_alone),
        TEST(reads_that_wait_at_once_survive_the_loss_of_their_connections),
    };
    return cmocka_run_group_tests(tests, store_cluster_start, store_cluster_stop);
}
