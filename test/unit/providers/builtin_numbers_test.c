/* The built-in number provider: the numbers it gives, and its records when the caller fails or crashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "providers/fault.h"
#include "providers/numbers.h"
#include "store/fixture.h"

struct shop {
    struct store_fixture *fixture;
    struct number_source *numbers;
    struct arena arena;
};

static int open_shop(void **state)
{
    struct shop *s = calloc(1, sizeof *s);
    void *fixture;
    char *why;
    if (!s || store_fixture_open(&fixture))
        return -1;
    s->fixture = fixture;
    s->fixture->config.numbers_provider = "sandbox";
    arena_init(&s->arena, NULL, 0);
    *state = s;
    return number_source_new(&s->fixture->config, s->fixture->store, &s->numbers, &why) ? -1 : 0;
}

static int close_shop(void **state)
{
    struct shop *s = *state;
    void *fixture = s->fixture;
    fault_order(STR("numbers"), STR_NONE, FAULT_NONE, 0);
    number_source_free(s->numbers);
    arena_done(&s->arena);
    clock_set_offset_s(0);
    free(s);
    return store_fixture_close(&fixture);
}

static const char *acquire(struct shop *s, const char *reference, const char *country)
{
    struct str number;
    enum outcome o =
        s->numbers->ops->acquire(s->numbers, str_z(reference), str_z(country), INT64_MAX, &s->arena, &number);
    return o == OUTCOME_DONE ? number.p : o == OUTCOME_REFUSED ? "refused" : "unknown";
}

static const char *find(struct shop *s, const char *reference)
{
    struct str number;
    assert_int_equal(s->numbers->ops->find(s->numbers, str_z(reference), &s->arena, &number), OUTCOME_DONE);
    return number.p;
}

static void release(struct shop *s, const char *number)
{
    assert_int_equal(s->numbers->ops->release(s->numbers, str_z(number)), OUTCOME_DONE);
}

static void order(enum fault fault, const char *call)
{
    assert_true(fault_order(STR("numbers"), str_z(call), fault, 1));
}

/* Adds a row at a distant time: a number that somebody else holds, or released then. */
struct row {
    const char *number, *reference;
    int64_t released_us;
};

static enum err put_run(void *arg, struct db *db)
{
    const struct row *r = arg;
    struct str number = str_z(r->number);
    enum err e = db_exec(db,
                         SQL(sandbox_number_insert, .number = number, .country = STR("US"),
                             .reference = str_z(r->reference), .held_since = 1),
                         NULL);
    return e || !r->released_us
               ? e
               : db_exec(db, SQL(sandbox_number_release, .number = number, .released_at = r->released_us), NULL);
}

static void put(struct shop *s, const char *number, const char *reference, int64_t released_us)
{
    struct row r = {number, reference, released_us};
    assert_int_equal(store_run(s->fixture->store, STORE_WRITE, put_run, &r), ERR_NONE);
}

static enum err pool_run(void *arg, struct db *db)
{
    return db_exec(db, SQL(number_insert, .number = str_z(arg), .country = STR("US")), NULL);
}

static void test_each_country_has_a_range(void **state)
{
    assert_string_equal(acquire(*state, "a", "US"), "+15550100000");
    assert_string_equal(acquire(*state, "b", "US"), "+15550100001");
    assert_string_equal(acquire(*state, "c", "CA"), "+15550200000");
    assert_string_equal(acquire(*state, "d", "MX"), "refused");
}

static void test_the_same_reference_gets_the_same_number(void **state)
{
    assert_string_equal(acquire(*state, "a", "US"), "+15550100000");
    assert_string_equal(acquire(*state, "a", "US"), "+15550100000");
    assert_string_equal(find(*state, "a"), "+15550100000");
    assert_null(find(*state, "b"));
}

/* SANDBOX-15 */
static void test_a_released_number_is_not_given_while_there_are_unused_ones(void **state)
{
    acquire(*state, "a", "US");
    release(*state, "+15550100000");
    release(*state, "+15550100000");
    release(*state, "+12125550000");
    assert_null(find(*state, "a"));
    assert_string_equal(acquire(*state, "a", "US"), "+15550100001");
}

static void test_a_used_up_range_gives_the_number_released_longest_ago(void **state)
{
    put(*state, "+15550199999", "x", 0);
    put(*state, "+15550100005", "y", 20);
    put(*state, "+15550100006", "z", 10);
    assert_string_equal(acquire(*state, "a", "US"), "+15550100006");
    assert_string_equal(acquire(*state, "b", "US"), "+15550100005");
    assert_string_equal(acquire(*state, "c", "US"), "refused");
    release(*state, "+15550199999");
    assert_string_equal(acquire(*state, "c", "US"), "+15550199999");
}

static void test_a_number_that_the_operator_added_is_not_given(void **state)
{
    struct shop *s = *state;
    assert_int_equal(store_run(s->fixture->store, STORE_WRITE, pool_run, "+15550100000"), ERR_NONE);
    assert_string_equal(acquire(s, "a", "US"), "+15550100001");
}

static void test_a_fault_takes_effect_before_the_call(void **state)
{
    struct shop *s = *state;
    struct str number;
    order(FAULT_TIMEOUT, "acquire");
    order(FAULT_DECLINE, "acquire");
    order(FAULT_ERROR, "find");
    assert_string_equal(acquire(s, "a", "US"), "unknown");
    assert_string_equal(acquire(s, "a", "US"), "refused");
    assert_int_equal(s->numbers->ops->find(s->numbers, STR("a"), &s->arena, &number), OUTCOME_UNKNOWN);
    assert_null(find(s, "a"));
    acquire(s, "a", "US");
    order(FAULT_TIMEOUT, "release");
    assert_int_equal(s->numbers->ops->release(s->numbers, STR("+15550100000")), OUTCOME_UNKNOWN);
    assert_string_equal(find(s, "a"), "+15550100000");
}

/* The fault kills a child process. The next process finds its number. */
static void test_a_number_given_before_a_crash_is_found_after_it(void **state)
{
    struct shop *s = *state;
    store_close(s->fixture->store);
    pid_t child = fork();
    if (child == 0) {
        struct shop in_child = *s;
        order(FAULT_CRASH_AFTER, "acquire");
        number_source_free(s->numbers);
        if (store_fixture_start(s->fixture))
            _exit(0);
        in_child.numbers = builtin_numbers_new(s->fixture->store);
        acquire(&in_child, "a", "US");
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    number_source_free(s->numbers);
    assert_int_equal(store_fixture_start(s->fixture), 0);
    s->numbers = builtin_numbers_new(s->fixture->store);
    assert_string_equal(find(s, "a"), "+15550100000");
    assert_string_equal(acquire(s, "a", "US"), "+15550100000");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_shop, close_shop)
    const struct CMUnitTest tests[] = {
        TEST(test_each_country_has_a_range),
        TEST(test_the_same_reference_gets_the_same_number),
        TEST(test_a_released_number_is_not_given_while_there_are_unused_ones),
        TEST(test_a_used_up_range_gives_the_number_released_longest_ago),
        TEST(test_a_number_that_the_operator_added_is_not_given),
        TEST(test_a_fault_takes_effect_before_the_call),
        TEST(test_a_number_given_before_a_crash_is_found_after_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
