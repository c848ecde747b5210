#include "base/library.h"

#include <math.h>

#include "unit.h"

#define MATHS(S) S(exp2) S(hypot)
struct maths {
    MATHS(LIBRARY_POINTER)
};

static const char *const names[] = {MATHS(LIBRARY_NAME)};

static void its_functions_can_be_called(void **state)
{
    (void)state;
    struct maths maths;
    assert_int_equal(library_load("libm.so.6", names, 2, &maths), ERR_NONE);
    assert_true(maths.exp2(3) == 8);
    assert_true(maths.hypot(3, 4) == 5);
}

static void a_missing_library_or_symbol_is_an_error(void **state)
{
    (void)state;
    static const char *const unknown[] = {"exp2", "exp_of_portero"};
    struct maths maths;
    assert_int_equal(library_load("libportero-none.so.1", names, 2, &maths), ERR_NOT_FOUND);
    assert_int_equal(library_load("libm.so.6", unknown, 2, &maths), ERR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_functions_can_be_called),
        cmocka_unit_test(a_missing_library_or_symbol_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
