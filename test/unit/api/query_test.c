/* Query parameters: values, ignored ones, and the error code of each invalid one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "api/query.h"

struct params {
    struct val limit, enabled, status, since, q, unlock_id;
};
static const char *const statuses[] = {"active", "expired", NULL};
static const struct field fields[] = {
    FIELD(struct params, limit, T_INT, .min = 1, .max = 100, .error = ERR_INVALID_LIMIT),
    FIELD(struct params, enabled, T_BOOL, .error = ERR_INVALID_FILTER),
    FIELD(struct params, status, T_STRING, .values = statuses, .error = ERR_INVALID_FILTER),
    FIELD(struct params, since, T_TIME, .error = ERR_INVALID_DATE),
    FIELD(struct params, q, T_STRING, .flags = F_TRIM | F_NONBLANK, .min = 1, .max = 5, .error = ERR_INVALID_QUERY),
    FIELD(struct params, unlock_id, T_ID, .error = ERR_INVALID_ID),
};
static const struct shape shape = SHAPE(struct params, "Params", fields);

static bool read(const char *query, struct arena *a, struct params *ret, struct schema_fault *fault)
{
    memset(ret, 0xff, sizeof *ret);
    *fault = (struct schema_fault){0};
    return query_read(&shape, str_z(query), a, ret, fault);
}

static void each_type_is_read(void **state)
{
    (void)state;
    struct arena a;
    arena_init(&a, NULL, 0);
    struct params p;
    struct schema_fault fault;
    assert_true(read("limit=7&enabled=false&status=expired&since=2026-11-20T09:30:00%2B01:00&q=+Am%C3%A9lie%20"
                     "&unlock_id=ABCDEF0123456789abcdef01&other=%zz&other=1",
                     &a, &p, &fault) == false); /* six letters are one too many */
    assert_int_equal(fault.error, ERR_INVALID_QUERY);
    assert_true(read("limit=7&enabled=false&status=expired&since=2026-11-20T09:30:00%2B01:00&q=+%C3%A9lie%20"
                     "&unlock_id=ABCDEF0123456789abcdef01&other=%zz&other=1",
                     &a, &p, &fault));
    assert_int_equal(p.limit.i, 7);
    assert_int_equal(p.enabled.kind, VAL_BOOL);
    assert_false(p.enabled.b);
    assert_true(str_eq(p.status.s, STR("expired")));
    assert_true(p.since.i == 1795163400LL * 1000000);
    assert_true(str_eq(p.q.s, STR("\xc3\xa9lie")));
    assert_true(str_eq(p.unlock_id.s, STR("abcdef0123456789abcdef01")));
    arena_done(&a);
}

static void absent_parameters_stay_unset(void **state)
{
    (void)state;
    const char *const empty[] = {NULL, "", "unknown=1", "&", "=", "unknown"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
        struct arena a;
        arena_init(&a, NULL, 0);
        struct params p;
        struct schema_fault fault;
        assert_true(read(empty[i], &a, &p, &fault));
        assert_false(v_given(p.limit) || v_given(p.enabled) || v_given(p.status) || v_given(p.since) || v_given(p.q));
        arena_done(&a);
    }
}

/* HTTP-14 */
static void each_invalid_parameter_has_its_own_error(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        enum err error;
    } cases[] = {
        {"limit=", ERR_INVALID_LIMIT},
        {"limit", ERR_INVALID_LIMIT},
        {"limit=0", ERR_INVALID_LIMIT},
        {"limit=101", ERR_INVALID_LIMIT},
        {"limit=+5", ERR_INVALID_LIMIT},
        {"limit=1.0", ERR_INVALID_LIMIT},
        {"limit=99999999999999999999", ERR_INVALID_LIMIT},
        {"limit=5&limit=5", ERR_INVALID_LIMIT},
        {"li%6dit=5&limit=5", ERR_INVALID_LIMIT},
        {"enabled=yes", ERR_INVALID_FILTER},
        {"enabled=TRUE", ERR_INVALID_FILTER},
        {"status=revoked", ERR_INVALID_FILTER},
        {"status=active&status=active", ERR_INVALID_FILTER},
        {"since=2026-11-20", ERR_INVALID_DATE},
        {"since=2026-11-20T09:30:00", ERR_INVALID_DATE},
        {"q=%", ERR_INVALID_QUERY},
        {"q=%4", ERR_INVALID_QUERY},
        {"q=%ff", ERR_INVALID_QUERY},
        {"q=%00", ERR_INVALID_QUERY},
        {"q=+++", ERR_INVALID_QUERY},
        {"unlock_id=abc", ERR_INVALID_ID},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a;
        arena_init(&a, NULL, 0);
        struct params p;
        struct schema_fault fault;
        if (read(cases[i].query, &a, &p, &fault))
            fail_msg("%s was accepted", cases[i].query);
        if (fault.error != cases[i].error)
            fail_msg("%s: %s", cases[i].query, err_info(fault.error)->code);
        assert_true(fault.message.n > 0);
        arena_done(&a);
    }
}

static void a_required_parameter_is_missed_in_an_empty_query(void **state)
{
    (void)state;
    static const struct field required[] = {
        FIELD(struct params, unlock_id, T_ID, .flags = F_REQUIRED, .error = ERR_INVALID_ID),
    };
    static const struct shape strict = SHAPE(struct params, "Strict", required);
    const char *const without[] = {NULL, "", "limit=5"};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        struct arena a;
        arena_init(&a, NULL, 0);
        struct params p;
        struct schema_fault fault = {0};
        assert_false(query_read(&strict, str_z(without[i]), &a, &p, &fault));
        assert_int_equal(fault.error, ERR_INVALID_ID);
        arena_done(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_required_parameter_is_missed_in_an_empty_query),
        cmocka_unit_test(each_type_is_read),
        cmocka_unit_test(absent_parameters_stay_unset),
        cmocka_unit_test(each_invalid_parameter_has_its_own_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
