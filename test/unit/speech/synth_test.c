/* Text to speech: any text gives speech that is bounded, loud enough and free of clicks, or nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <re/re.h>
#include <rem/rem.h>

#include "call/audio.h"
#include "speech/synth.h"

static const char WELCOME[] = "Please enter your code.";

static int16_t sample(const struct clip *c, size_t i)
{
    return g711_ulaw2pcm(c->ulaw[i]);
}

static double rms(const struct clip *c, size_t from, size_t to)
{
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += (double)sample(c, i) * sample(c, i);
    return sqrt(sum / (double)(to - from));
}

static int peak(const struct clip *c)
{
    int most = 0;
    for (size_t i = 0; i < c->length; i++)
        most = abs(sample(c, i)) > most ? abs(sample(c, i)) : most;
    return most;
}

static void spells(const char *text, const char *ascii)
{
    struct buf got = BUF(400);
    synth_spell(str_z(text), &got);
    buf_char(&got, '\0');
    assert_string_equal(got.p, ascii);
    buf_done(&got);
}

/* PHONE-45 */
static void test_other_alphabets_are_transliterated_as_far_as_possible(void **state)
{
    (void)state;
    spells("Bienvenue \xc3\xa0 l\xe2\x80\x99h\xc3\xb4tel", "Bienvenue a l'hotel");
    spells("Gr\xc3\xbc\xc3\x9f Gott\xe2\x80\xa6", "Gruss Gott...");
    spells("Why?", "Why?");
    spells("\xe6\xbc\xa2\xf0\x9f\x98\x80!", "  !");
    spells("a\tb\x01\x7f"
           "c",
           "a b  c");
    spells("\xff\xfe bad \xc3", "   bad  ");
}

static void test_speech_has_the_level_of_speech(void **state)
{
    (void)state;
    const char *texts[] = {WELCOME, "No.", "Nobody can take your call right now. Goodbye."};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct clip *c = synth_render(str_z(texts[i]));
        assert_non_null(c);
        assert_true(c->length > SOUND_MS(200));
        assert_in_range(peak(c), 6000, 30000);
        assert_true(rms(c, 0, c->length) > 1500);
        clip_unref(c);
    }
}

static void test_silence_at_both_ends_is_short(void **state)
{
    (void)state;
    struct clip *c = synth_render(str_z(WELCOME));
    assert_true(rms(c, SOUND_MS(60), SOUND_MS(200)) > 200);
    assert_true(rms(c, c->length - SOUND_MS(300), c->length - SOUND_MS(90)) > 200);
    clip_unref(c);
}

/* PHONE-45 */
static void test_long_speech_ends_in_a_fade(void **state)
{
    (void)state;
    char nines[120];
    memset(nines, '9', sizeof nines - 1);
    nines[sizeof nines - 1] = '\0';
    struct clip *c = synth_render(str_z(nines));
    assert_int_equal(c->length, AUDIO_CLIP_MAX);
    assert_true(rms(c, c->length - SOUND_MS(20), c->length) < 300);
    assert_true(rms(c, 0, c->length) > 1000);
    clip_unref(c);
}

/* PHONE-45 */
static void test_text_that_cannot_be_spoken_gives_nothing(void **state)
{
    (void)state;
    const char *texts[] = {"", " ", "...", "?!", "\xe6\xbc\xa2\xe5\xad\x97", "\xf0\x9f\x98\x80", "\x01\x02"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_null(synth_render(str_z(texts[i])));
}

static void test_markup_is_read_as_text(void **state)
{
    (void)state;
    struct clip *c = synth_render(STR("<break time='3000s'/><audio src='/etc/passwd'/>hello"));
    assert_non_null(c);
    assert_true(c->length < AUDIO_CLIP_MAX);
    clip_unref(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_alphabets_are_transliterated_as_far_as_possible),
        cmocka_unit_test(test_speech_has_the_level_of_speech),
        cmocka_unit_test(test_silence_at_both_ends_is_short),
        cmocka_unit_test(test_long_speech_ends_in_a_fade),
        cmocka_unit_test(test_text_that_cannot_be_spoken_gives_nothing),
        cmocka_unit_test(test_markup_is_read_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
