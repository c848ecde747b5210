/* The declarations of libraries that are loaded at run time agree with the libraries' own headers: a function that
 * differs does not compile, a structure that differs fails here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <flite/flite.h>
#include <pocketsphinx.h>
#include <sphinxbase/err.h>
#include <sphinxbase/fsg_model.h>

#include "speech/flite_abi.h"
#include "speech/sphinx_abi.h"

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

static void a_voice_and_what_it_speaks_are_where_the_synthesizer_looks(void **state)
{
    (void)state;
    SAME(struct flite_wave, cst_wave, sample_rate);
    SAME(struct flite_wave, cst_wave, num_channels);
    SAME(struct flite_wave, cst_wave, samples);
    SAME(struct flite_voice, cst_voice, features);
    SAME(struct flite_stream, cst_audio_streaming_info, min_buffsize);
    SAME(struct flite_stream, cst_audio_streaming_info, asc);
    assert_int_equal(FLITE_STREAM_STOP, CST_AUDIO_STREAM_STOP);
    assert_int_equal(FLITE_STREAM_CONT, CST_AUDIO_STREAM_CONT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grammar_has_its_states_where_the_recognizer_looks),
        cmocka_unit_test(a_voice_and_what_it_speaks_are_where_the_synthesizer_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
