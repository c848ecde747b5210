/* Two nodes with one PostgreSQL store, or a job and the operator: during a call to a provider, nobody else makes a call
 * that must not happen twice. */
#include "billing/subscription.h"
#include "jobs/operation_fixture.h"

/* An action in the middle of a call to a provider. */
struct meanwhile {
    struct fixture *d;
    const char *operation;            /* at the first call of this name */
    void (*run)(struct meanwhile *m); /* on the job's thread, where nothing may be asserted */
    struct id id;
    enum err result;
};

static void interrupt(const char *operation, void *context)
{
    struct meanwhile *m = context;
    if (strcmp(operation, m->operation) != 0)
        return;
    m->d->outside->point = NULL;
    m->run(m);
}

static void plan(struct meanwhile *m)
{
    m->d->outside->context = m;
    m->d->outside->point = interrupt;
}

static size_t bought_for(const struct fixture *d, const struct id *building)
{
    size_t count = 0;
    for (size_t i = 0; i < d->outside->given; i++)
        count += str_eq(str_z(d->outside->held[i].reference), id_str(building));
    return count;
}

static enum err activate_run(struct tx *tx, void *arg)
{
    const struct fixture *d = arg;
    return subscription_set(tx, &d->account, SUBSCRIPTION_ACTIVE, STR_NONE);
}

/* The subscription is reported again, and another node runs all due jobs. */
static void on_another_node(struct meanwhile *m)
{
    struct fixture *d = m->d;
    const struct jobs_options options = {
        .config = &d->fixture->config, .store = d->fixture->store, .kinds = d->kinds, .kind_count = 3, .threads = 1};
    struct arena arena;
    struct work work = {.store = d->fixture->store, .config = &d->fixture->config, .arena = &arena};
    arena_init(&arena, NULL, 0);
    m->result = work_write(&work, activate_run, d);
    if (!m->result) {
        struct jobs *jobs = jobs_new(&options);
        m->result = jobs_start(jobs, NULL);
        jobs_drain(jobs);
        jobs_free(jobs);
    }
    arena_done(&arena);
}

static void test_two_nodes_buy_one_number_for_a_building(void **state)
{
    struct fixture *d = *state;
    struct meanwhile m = {.d = d, .operation = "acquire", .run = on_another_node};
    struct inventory i = {.account = d->account};
    plan(&m);
    transact(d, STORE_WRITE, activate_run, d);
    jobs_drain(d->jobs);
    assert_int_equal(m.result, ERR_NONE);
    transact(d, STORE_READ, inventory_run, &i);
    assert_int_equal(bought_for(d, &i.list[0].id), 1);
    assert_int_equal(d->outside->given, 1);
    consistent(d, 1, "two nodes");
}

static void test_the_operation_alone_buys_the_number_of_a_new_building(void **state)
{
    struct fixture *d = *state;
    struct meanwhile m = {.d = d, .operation = "acquire", .run = on_another_node};
    plan(&m);
    struct operation o = run(d, OPERATION_ADD);
    assert_int_equal(m.result, ERR_NONE);
    expect_status(&o, OPERATION_SUCCEEDED, "added");
    assert_int_equal(bought_for(d, &o.building_id), 1);
    assert_int_equal(d->outside->given, 2); /* including the number of the primary building */
    consistent(d, 2, "added");
}

/* The job hangs in a call until the operation is marked as stuck, and the operator undoes it. */
static void undo(struct meanwhile *m)
{
    struct fixture *d = m->d;
    struct arena arena;
    struct find f = {.id = m->id};
    struct work work = {.store = d->fixture->store, .config = &d->fixture->config, .arena = &arena};
    struct operation o;
    arena_init(&arena, NULL, 0);
    clock_set_offset_s(clock_offset_s() + OPERATION_STALLED_S + 1);
    m->result = work_write(&work, find_run, &f);
    if (!m->result)
        m->result = jobs_operation_resolve(&work, &d->providers, &(struct tenure){0}, &m->id, DECIDE_FAILED, &o);
    arena_done(&arena);
}

/* Starts the quoted operation, lets it run, and returns its log. */
static struct str run_and_listen(struct fixture *d, struct begin *b)
{
    FILE *file = tmpfile();
    const int log = dup(STDERR_FILENO);
    assert_non_null(file);
    assert_true(log >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    transact(d, STORE_WRITE, start_run, b);
    jobs_drain(d->jobs);
    char text[4096];
    rewind(file);
    const size_t n = fread(text, 1, sizeof text, file);
    dup2(log, STDERR_FILENO);
    close(log);
    fclose(file);
    return arena_str(&d->arena, str_n(text, n));
}

static void undone_while(struct fixture *d, enum operation_action action, const char *operation, size_t buildings)
{
    struct meanwhile m = {.d = d, .operation = operation, .run = undo};
    struct begin b = {.d = d, .action = action};
    transact(d, STORE_WRITE, quote_run, &b);
    m.id = b.o.id;
    plan(&m);
    const struct str log = run_and_listen(d, &b);
    assert_int_equal(m.result, ERR_BUILDING_BUSY);
    assert_non_null(strstr(log.p, "operation waits for the operator"));
    struct operation o = look(d, &m.id);
    expect_status(&o, OPERATION_RECONCILIATION_REQUIRED, operation);
    assert_int_equal(resolve(d, &o.id, DECIDE_FAILED, &o), ERR_NONE);
    expect_status(&o, OPERATION_FAILED, operation);
    consistent(d, buildings, operation);
}

static void test_the_operator_cannot_undo_an_addition_during_the_purchase_of_its_number(void **state)
{
    undone_while(*state, OPERATION_ADD, "acquire", 1);
}

/* BUILDING-22 */
static void test_the_operator_cannot_undo_an_addition_during_its_payment(void **state)
{
    undone_while(*state, OPERATION_ADD, "set_quantity", 1);
}

static void test_the_operator_cannot_undo_a_removal_during_the_release_of_its_number(void **state)
{
    add_building(*state);
    undone_while(*state, OPERATION_REMOVE, "release", 2);
}

static int open_nodes(void **state)
{
    return set_up_on(state, store_fixture_open_postgresql, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_nodes, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_two_nodes_buy_one_number_for_a_building),
        TEST(test_the_operation_alone_buys_the_number_of_a_new_building),
        TEST(test_the_operator_cannot_undo_an_addition_during_the_purchase_of_its_number),
        TEST(test_the_operator_cannot_undo_an_addition_during_its_payment),
        TEST(test_the_operator_cannot_undo_a_removal_during_the_release_of_its_number),
    };
    return cmocka_run_group_tests(tests, store_cluster_start, store_cluster_stop);
}
