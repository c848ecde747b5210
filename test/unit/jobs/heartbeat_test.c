/* Nodes: a lease holds while its node has heartbeats, and is freed when the node ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdatomic.h>

#include "base/metric.h"
#include "base/wait.h"
#include "domain/job.h"
#include "domain/work.h"
#include "jobs/heartbeat.h"
#include "jobs/node.h"
#include "store/engine.h"
#include "store/fixture.h"

#define LIMIT_US (60 * US_PER_S)

static atomic_int changes;

static void count_change(void *context)
{
    (void)context;
    changes++;
}

static struct heartbeat *start_node(struct store_fixture *f)
{
    struct heartbeat *h = NULL;
    char *why = NULL;
    const struct heartbeat_options options = {
        .config = &f->config, .store = f->store, .address = "127.0.0.1:1", .changed = count_change};
    assert_int_equal(heartbeat_start(&options, &h, &why), ERR_NONE);
    return h;
}

static void stop_node(struct heartbeat *h)
{
    heartbeat_stop(h);
    heartbeat_free(h);
}

static enum err script_run(void *sql, struct db *db)
{
    CURSOR c; /* begins the transaction */
    enum err e = db_one(db, SQL(node_clock), &c);
    return e ? e : db->engine->script(db, sql);
}

static void run_sql(struct store_fixture *f, const char *sql)
{
    assert_int_equal(store_run(f->store, STORE_WRITE, script_run, (void *)(uintptr_t)sql), ERR_NONE);
}

static enum err lease_run(void *ret, struct db *db)
{
    CURSOR c;
    enum err e = db_one(db, SQL(job_waiting, .id = STR("x")), &c);
    *(bool *)ret = !e && row_job_waiting(&c, NULL).running;
    return e;
}

static bool is_leased(struct store_fixture *f)
{
    bool leased = false;
    assert_int_equal(store_run(f->store, STORE_READ, lease_run, &leased), ERR_NONE);
    return leased;
}

/* Gives the node a lease of job x. */
static void lease(struct store_fixture *f, const struct id *node)
{
    char sql[300];
    snprintf(sql, sizeof sql,
             "INSERT INTO job (id, kind, created_at, due_at, payload, leased_until, leased_by) "
             "VALUES ('x', 'k', 0, 0, '', 9000000000000000, '%s')",
             node->text);
    run_sql(f, sql);
}

static void wait_until(bool (*holds)(const void *arg), const void *arg)
{
    const int64_t until_us = clock_monotonic_us() + LIMIT_US;
    while (!holds(arg)) {
        assert_true(clock_monotonic_us() < until_us);
        sleep_for_us(10000);
    }
}

static bool sees_two(const void *h)
{
    return heartbeat_nodes(h) == 2;
}

static bool is_lost(const void *tenure)
{
    return !tenure_holds(tenure);
}

static bool has_changed(const void *unused)
{
    (void)unused;
    return changes > 0;
}

static void a_process_that_has_the_store_alone_keeps_its_leases(void **state)
{
    struct store_fixture *f = *state;
    struct heartbeat *h = start_node(f);
    const struct tenure tenure = heartbeat_tenure(h), without = heartbeat_tenure(NULL);
    assert_int_equal(heartbeat_nodes(h), 1);
    assert_int_equal(heartbeat_nodes(NULL), 1);
    assert_true(tenure_holds(&tenure) && tenure_holds(&without));
    assert_false(id_given(&tenure.node));
    stop_node(h);
}

static void nodes_count_each_other_and_a_stop_frees_the_leases(void **state)
{
    struct store_fixture *f = *state;
    struct heartbeat *a = start_node(f), *b = start_node(f);
    const struct tenure tenure = heartbeat_tenure(b);
    assert_true(tenure_holds(&tenure));
    wait_until(sees_two, a);
    lease(f, &tenure.node);
    assert_true(is_leased(f));
    stop_node(b);
    assert_false(is_leased(f));
    stop_node(a);
}

/* NODE-3 */
static void a_node_that_was_ended_has_lost_its_leases_and_joins_again(void **state)
{
    struct store_fixture *f = *state;
    struct heartbeat *h = start_node(f);
    const struct tenure before = heartbeat_tenure(h);
    run_sql(f, "UPDATE node SET ended_at = 1");
    wait_until(is_lost, &before);
    const struct tenure after = heartbeat_tenure(h);
    assert_true(tenure_holds(&after));
    assert_string_not_equal(after.node.text, before.node.text);
    stop_node(h);
}

/* Adds a node without heartbeats. */
static struct id silent_node(struct store_fixture *f)
{
    const struct id dead = id_new(0);
    char sql[300];
    snprintf(sql, sizeof sql,
             "INSERT INTO node (id, version, schema_version, host, address, started_at, heartbeat_at, ahead_us) "
             "VALUES ('%s', '', 1, '', '', 1, 1, 0)",
             dead.text);
    run_sql(f, sql);
    return dead;
}

/* NODE-1 */
static void a_silent_node_is_ended_and_its_leases_are_free(void **state)
{
    struct store_fixture *f = *state;
    struct heartbeat *h = start_node(f);
    const struct id dead = silent_node(f);
    lease(f, &dead);
    changes = 0;
    const int64_t jobs = metric_get(&metrics.leases_freed[METRIC_LEASE_JOB]),
                  deliveries = metric_get(&metrics.leases_freed[METRIC_LEASE_DELIVERY]);
    wait_until(has_changed, NULL);
    assert_false(is_leased(f));
    assert_int_equal(metric_get(&metrics.leases_freed[METRIC_LEASE_JOB]), jobs + 1);
    assert_int_equal(metric_get(&metrics.leases_freed[METRIC_LEASE_DELIVERY]), deliveries);
    stop_node(h);
}

static enum err purge_body(struct tx *tx, void *ret_count)
{
    return node_purge(tx, 2, 100, ret_count);
}

/* NODE-5 */
static void an_ended_node_is_forgotten_and_a_silent_one_is_not(void **state)
{
    struct store_fixture *f = *state;
    struct arena arena;
    int64_t count = 0;
    silent_node(f);
    run_sql(f, "UPDATE node SET ended_at = 1");
    silent_node(f);
    arena_init(&arena, NULL, 0);
    struct work work = {.store = f->store, .config = &f->config, .arena = &arena};
    assert_int_equal(work_write(&work, purge_body, &count), ERR_NONE);
    assert_int_equal(count, 1);
    arena_done(&arena);
}

static enum err hold_body(struct tx *tx, void *node)
{
    int64_t held = 0;
    return job_hold(tx, STR("x"), "k", STR(""), node, LIMIT_US * 10, &held);
}

/* An operator's decision holds the job of its operation, which may be due later. */
static void a_job_that_a_silent_node_held_before_it_was_due_is_free(void **state)
{
    struct store_fixture *f = *state;
    struct heartbeat *h = start_node(f);
    struct arena arena;
    struct id dead = silent_node(f);
    arena_init(&arena, NULL, 0);
    struct work work = {.store = f->store, .config = &f->config, .arena = &arena};
    run_sql(f, "INSERT INTO job (id, kind, created_at, due_at, payload) VALUES ('x', 'k', 0, 9000000000000000, '')");
    assert_int_equal(work_write(&work, hold_body, &dead), ERR_NONE);
    assert_true(is_leased(f));
    changes = 0;
    wait_until(has_changed, NULL);
    assert_false(is_leased(f));
    arena_done(&arena);
    stop_node(h);
}

#define POSTGRESQL(name) cmocka_unit_test_setup_teardown(name, store_fixture_open_postgresql, store_fixture_close)

int main(void)
{
    const struct CMUnitTest sqlite[] = {cmocka_unit_test_setup_teardown(
        a_process_that_has_the_store_alone_keeps_its_leases, store_fixture_open, store_fixture_close)};
    const struct CMUnitTest postgresql[] = {
        POSTGRESQL(nodes_count_each_other_and_a_stop_frees_the_leases),
        POSTGRESQL(a_node_that_was_ended_has_lost_its_leases_and_joins_again),
        POSTGRESQL(a_silent_node_is_ended_and_its_leases_are_free),
        POSTGRESQL(a_job_that_a_silent_node_held_before_it_was_due_is_free),
        POSTGRESQL(an_ended_node_is_forgotten_and_a_silent_one_is_not),
    };
    int failed = cmocka_run_group_tests(sqlite, NULL, NULL);
    return failed + cmocka_run_group_tests(postgresql, store_cluster_start, store_cluster_stop);
}
