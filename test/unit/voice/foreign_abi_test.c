/* The declarations of libraries that are loaded at run time agree with the libraries' own headers: a function that
 * differs does not compile, a structure that differs fails here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pocketsphinx.h>
#include <sphinxbase/err.h>
#include <sphinxbase/fsg_model.h>

#include "voice/sphinx_abi.h"

#define SAME(ours, theirs, member)                                                                                     \
    do {                                                                                                               \
        assert_int_equal(offsetof(ours, member), offsetof(theirs, member));                                            \
        assert_int_equal(sizeof(((ours *)NULL)->member), sizeof(((theirs *)NULL)->member));                            \
    } while (0)

static void a_grammar_has_its_states_where_the_recognizer_looks(void **state)
{
    (void)state;
    SAME(struct sphinx_grammar, fsg_model_t, n_state);
    SAME(struct sphinx_grammar, fsg_model_t, start_state);
    SAME(struct sphinx_grammar, fsg_model_t, final_state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grammar_has_its_states_where_the_recognizer_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
