#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "speech/speaker.h"

static void silence_and_noise_are_no_speech(void **state)
{
    (void)state;
    static const double noises[] = {0, 10, 300, 3000};
    for (size_t i = 0; i < sizeof noises / sizeof *noises; i++) {
        struct utterance *u = speaker_utterance("", noises[i]);
        assert_int_equal(utterance_state(u), UTTERANCE_NONE);
        utterance_free(u);
    }
}

static void a_sentence_is_cut_out_with_a_little_around_it(void **state)
{
    (void)state;
    size_t said, kept;
    free(speaker_says("one two three four", 0, 0, &said));
    said -= 4000;
    struct utterance *u = speaker_utterance("one two three four", 20);
    assert_int_equal(utterance_state(u), UTTERANCE_COMPLETE);
    utterance_samples(u, &kept);
    assert_in_range(kept, said - 2000, said + 2 * 8000 / 2);
    utterance_free(u);
}

static void a_pause_between_digits_does_not_end_it(void **state)
{
    (void)state;
    size_t n, kept;
    struct utterance *u = utterance_new();
    for (int i = 0; i < 2; i++) {
        int16_t *samples = speaker_says("five", 20, 100, &n);
        assert_int_equal(utterance_take(u, samples, n), UTTERANCE_SPEAKING);
        free(samples);
    }
    int16_t *rest = speaker_says("", 20, 1500, &n);
    assert_int_equal(utterance_take(u, rest, n), UTTERANCE_COMPLETE);
    free(rest);
    utterance_samples(u, &kept);
    assert_true(kept > 8000);
    utterance_free(u);
}

static void endless_speech_ends_at_the_limit(void **state)
{
    (void)state;
    struct utterance *u = utterance_new();
    size_t n, kept, fed = 0;
    int16_t *samples = speaker_says("one two three four five six seven eight nine", 20, 0, &n);
    for (int i = 0; i < 10 && utterance_take(u, samples + 4000, n - 4000) != UTTERANCE_COMPLETE; i++)
        fed += n - 4000;
    assert_int_equal(utterance_state(u), UTTERANCE_COMPLETE);
    utterance_samples(u, &kept);
    assert_true(kept <= UTTERANCE_MAX && fed < 2 * UTTERANCE_MAX);
    free(samples);
    utterance_free(u);
}

static void the_noise_is_estimated(void **state)
{
    (void)state;
    struct utterance *clear = speaker_utterance("one two three four", 20),
                     *noisy = speaker_utterance("one two three four", 1500);
    assert_true(utterance_snr(clear) > 25);
    assert_true(utterance_clear(clear) && !utterance_clear(noisy));
    assert_true(utterance_snr(noisy) < 13);
    utterance_free(clear);
    utterance_free(noisy);
}

/* CALL-44 */
static void speech_over_other_voices_is_not_judged(void **state)
{
    (void)state;
    size_t n, other_n;
    int16_t *said = speaker_says("one two three four", 20, 0, &n),
            *other = speaker_says("nine eight seven six five zero nine eight seven six five", 0, 0, &other_n);
    for (int quieter = 1; quieter < 100; quieter *= 3) { /* 0, 10, 19, 29, 38 dB */
        struct utterance *u = utterance_new();
        for (size_t i = 0; utterance_state(u) != UTTERANCE_COMPLETE; i++) {
            const int16_t both =
                (int16_t)((i < n ? said[i] / 2 : 0) + other[4000 + i % (other_n - 4000)] / (2 * quieter));
            (void)utterance_take(u, &both, 1);
        }
        assert_int_equal(utterance_clear(u), quieter > 20);
        utterance_free(u);
    }
    free(said);
    free(other);
}

static void any_audio_in_any_pieces_is_taken(void **state)
{
    (void)state;
    struct utterance *u = utterance_new();
    int16_t samples[997];
    for (size_t round = 0; round < 500; round++) {
        const size_t n = round % (sizeof samples / sizeof *samples);
        for (size_t i = 0; i < n; i++)
            samples[i] = round % 7 == 0 ? INT16_MIN : round % 7 == 1 ? INT16_MAX : (int16_t)(speaker_noise() * 32767);
        (void)utterance_take(u, samples, n);
    }
    size_t kept;
    utterance_samples(u, &kept);
    assert_true(kept <= UTTERANCE_MAX);
    assert_true(utterance_snr(u) < 200);
    utterance_free(u);
    u = utterance_new();
    assert_true(utterance_snr(u) < 1);
    utterance_free(u);
    utterance_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silence_and_noise_are_no_speech),
        cmocka_unit_test(a_sentence_is_cut_out_with_a_little_around_it),
        cmocka_unit_test(a_pause_between_digits_does_not_end_it),
        cmocka_unit_test(endless_speech_ends_at_the_limit),
        cmocka_unit_test(the_noise_is_estimated),
        cmocka_unit_test(speech_over_other_voices_is_not_judged),
        cmocka_unit_test(any_audio_in_any_pieces_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
