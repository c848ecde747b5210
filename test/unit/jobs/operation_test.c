/* Building operations with providers that fail at every call in every way: the answer is lost after the provider has
 * acted, or there is no answer. At the end there are as many units as buildings, and the provider holds no number
 * without a building. Refusals are tested in operation_refusal_test.c, crashes in operation_crash_test.c. */
#include "jobs/operation_fixture.h"

struct mishap_case {
    enum mishap mishap;
    int count; /* 3 are one call without an answer, with its repetitions */
    const char *name;
};
static const struct mishap_case passing[] = {
    {LOST, 1, "lost once"},     {LOST, 3, "lost"},     {LOST, 6, "lost twice"},
    {SILENT, 1, "silent once"}, {SILENT, 3, "silent"}, {SILENT, 6, "silent twice"},
};

/* Runs one case on a new fixture: a temporary failure must only cost time. Returns false if there is no such call. */
static bool passing_case(enum operation_action action, const struct mishap_case *c, int at)
{
    void *state;
    assert_int_equal(set_up(&state), 0);
    struct fixture *d = state;
    char what[80];
    snprintf(what, sizeof what, "%s, call %d, %s", operation_action_text(action), at, c->name);
    if (action == OPERATION_REMOVE)
        add_building(d);
    d->outside->mishap = c->mishap;
    d->outside->mishap_at = at;
    d->outside->mishaps_left = c->count;
    struct operation o = run(d, action);
    expect_status(&o, OPERATION_SUCCEEDED, what);
    consistent(d, action == OPERATION_ADD ? 2 : 1, what);
    bool reached = d->outside->mishaps_left < c->count;
    assert_int_equal(tear_down(&state), 0);
    return reached;
}

static void every_passing_case(enum operation_action action)
{
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++) {
        int at = 0;
        while (passing_case(action, &passing[i], at))
            at++;
        assert_true(at >= 2); /* there are at least so many calls */
    }
}

/* BUILDING-18 */
static void test_an_addition_survives_temporary_failures(void **state)
{
    (void)state;
    every_passing_case(OPERATION_ADD);
}

static void test_a_removal_survives_temporary_failures(void **state)
{
    (void)state;
    every_passing_case(OPERATION_REMOVE);
}

/* ---- lasting failures ---- */

/* From call `at` on, no provider answers, whether it has acted or not. Then the operator decides, and they answer
 * again. Returns false if there is no such call. */
static bool stuck_case(enum operation_action action, enum mishap mishap, int at, enum operation_decision decision)
{
    void *state;
    assert_int_equal(set_up(&state), 0);
    struct fixture *d = state;
    char what[80];
    snprintf(what, sizeof what, "%s, call %d, %s for ever, %s", operation_action_text(action), at,
             mishap == LOST ? "lost" : "silent", decision == DECIDE_SUCCEEDED ? "succeeded" : "failed");
    if (action == OPERATION_REMOVE)
        add_building(d);
    d->outside->mishap = mishap;
    d->outside->mishap_at = at;
    d->outside->mishaps_left = 1000000;
    struct operation o = begin(d, action);
    bool reached = o.status != OPERATION_SUCCEEDED;
    if (reached) {
        advance(d, OPERATION_STALLED_S + 1);
        o = look(d, &o.id);
        expect_status(&o, OPERATION_RECONCILIATION_REQUIRED, what);
        if (o.step == STEP_REMOVE_QUANTITY && decision == DECIDE_FAILED) {
            assert_int_equal(resolve(d, &o.id, decision, &o), ERR_BAD_REQUEST);
            decision = DECIDE_SUCCEEDED;
        }
        assert_int_equal(resolve(d, &o.id, decision, &o), ERR_PROVIDER_UNAVAILABLE);
        o = look(d, &o.id);
        expect_status(&o, OPERATION_RECONCILIATION_REQUIRED, what);
        d->outside->mishap_at = -1;
        assert_int_equal(resolve(d, &o.id, decision, &o), ERR_NONE);
        bool done = decision == DECIDE_SUCCEEDED;
        expect_status(&o, done ? OPERATION_SUCCEEDED : OPERATION_FAILED, what);
        consistent(d, (action == OPERATION_ADD) == done ? 2 : 1, what);
    }
    assert_int_equal(tear_down(&state), 0);
    return reached;
}

static void every_stuck_case(enum operation_action action)
{
    for (enum mishap m = LOST; m <= SILENT; m++)
        for (enum operation_decision way = DECIDE_SUCCEEDED; way <= DECIDE_FAILED; way++) {
            int at = 0;
            while (stuck_case(action, m, at, way))
                at++;
            assert_true(at >= 2);
        }
}

/* BUILDING-21 */
static void test_a_stuck_addition_ends_as_the_operator_decides(void **state)
{
    (void)state;
    every_stuck_case(OPERATION_ADD);
}

static void test_a_stuck_removal_ends_as_the_operator_decides(void **state)
{
    (void)state;
    every_stuck_case(OPERATION_REMOVE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_addition_survives_temporary_failures),
        cmocka_unit_test(test_a_removal_survives_temporary_failures),
        cmocka_unit_test(test_a_stuck_addition_ends_as_the_operator_decides),
        cmocka_unit_test(test_a_stuck_removal_ends_as_the_operator_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
