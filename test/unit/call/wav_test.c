/* WAV files of every accepted form become the same sound at 8 kHz, and damaged ones are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <re/re.h>
#include <rem/rem.h>

#include "call/wav.h"

#define PI       3.14159265358979
#define HALF     16000.0 /* the amplitude of the tones */
#define FILE_MAX (WAV_MAX + 4096)

struct form {
    unsigned tag, channels, rate, bits;
    bool extensible;
};

static struct {
    char bytes[FILE_MAX];
    size_t n;
} file;

static void put(unsigned value, unsigned length)
{
    for (unsigned i = 0; i < length; i++)
        file.bytes[file.n++] = (char)(value >> 8 * i);
}

static void put_text(const char *text)
{
    memcpy(file.bytes + file.n, text, strlen(text));
    file.n += strlen(text);
}

static void put_sample(const struct form *f, double value)
{
    const int16_t sample = (int16_t)lrint(value);
    if (f->tag == 6)
        put(g711_pcm2alaw(sample), 1);
    else if (f->tag == 7)
        put(g711_pcm2ulaw(sample), 1);
    else if (f->bits == 8)
        put((unsigned)(sample / 256 + 128), 1);
    else
        put((unsigned)sample << (f->bits - 16), f->bits / 8);
}

static void put_header(const struct form *f, size_t frames)
{
    const unsigned block = f->channels * f->bits / 8;
    file.n = 0;
    put_text("RIFF");
    put(0, 4);
    put_text("WAVELIST");
    put(3, 4);
    put_text("odd");
    put(0, 1);
    put_text("fmt ");
    put(f->extensible ? 40 : 16, 4);
    put(f->extensible ? 0xfffe : f->tag, 2);
    put(f->channels, 2);
    put(f->rate, 4);
    put(f->rate * block, 4);
    put(block, 2);
    put(f->bits, 2);
    if (f->extensible) {
        put(22, 2);
        put(f->bits, 2);
        put(0, 4);
        put(f->tag, 2);
        memcpy(file.bytes + file.n, "\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71", 14);
        file.n += 14;
    }
    put_text("data");
    put((unsigned)frames * block, 4);
}

/* A second of a tone, the same in all channels. */
static void make_tone(const struct form *f, double hz)
{
    put_header(f, f->rate);
    for (unsigned i = 0; i < f->rate; i++)
        for (unsigned channel = 0; channel < f->channels; channel++)
            put_sample(f, HALF * sin(2 * PI * hz * i / f->rate));
}

static const char *refused(void)
{
    struct audio a;
    const char *why = NULL;
    if (wav_read(str_n(file.bytes, file.n), &a, &why) == ERR_NONE) {
        audio_done(&a);
        return NULL;
    }
    return why;
}

static struct audio read_at_8khz(void)
{
    struct audio a;
    const char *why;
    assert_int_equal(wav_read(str_n(file.bytes, file.n), &a, &why), ERR_NONE);
    assert_int_equal(audio_resample(&a), ERR_NONE);
    assert_int_equal(a.rate, SOUND_RATE);
    assert_in_range(a.n, SOUND_RATE - 2, SOUND_RATE + 2);
    return a;
}

/* The amplitude of a frequency, away from both ends. */
static double amplitude(const struct audio *a, double hz)
{
    double x = 0, y = 0;
    const size_t from = 1000, to = 7000;
    for (size_t i = from; i < to; i++) {
        x += a->samples[i] * cos(2 * PI * hz * (double)i / SOUND_RATE);
        y += a->samples[i] * sin(2 * PI * hz * (double)i / SOUND_RATE);
    }
    return 2 * hypot(x, y) / (double)(to - from);
}

static void test_every_form_gives_the_same_sound(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {1, 1, 8000, 8, false},  {1, 1, 8000, 16, false}, {1, 2, 11025, 16, false}, {1, 1, 16000, 24, false},
        {1, 2, 22050, 24, true}, {1, 1, 32000, 16, true}, {1, 2, 44100, 16, false}, {1, 2, 48000, 24, true},
        {6, 1, 8000, 8, false},  {7, 1, 8000, 8, false},  {7, 2, 16000, 8, true},   {6, 2, 44100, 8, false},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        make_tone(&forms[i], 1000);
        struct audio a = read_at_8khz();
        assert_true(fabs(amplitude(&a, 1000) - HALF) < HALF / 50);
        audio_done(&a);
    }
}

static void test_sound_above_the_telephone_band_is_filtered_out(void **state)
{
    (void)state;
    make_tone(&(struct form){1, 1, 48000, 16, false}, 6000);
    struct audio a = read_at_8khz();
    assert_true(amplitude(&a, 2000) < HALF / 1000);
    audio_done(&a);
    make_tone(&(struct form){1, 1, 48000, 16, false}, 3200);
    a = read_at_8khz();
    assert_true(amplitude(&a, 3200) > HALF * 0.9);
    audio_done(&a);
}

static void test_other_forms_are_refused(void **state)
{
    (void)state;
    static const struct form forms[] = {
        {3, 1, 8000, 32, false},    {1, 1, 8000, 32, false},  {2, 1, 8000, 4, false},
        {0x55, 1, 8000, 16, false}, {1, 3, 8000, 16, false},  {1, 0, 8000, 16, false},
        {1, 1, 7999, 16, false},    {1, 1, 96000, 16, false}, {7, 1, 8000, 16, false},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        put_header(&forms[i], 100);
        memset(file.bytes + file.n, 0, 4000);
        file.n += 4000;
        assert_non_null(refused());
    }
}

static void test_a_damaged_file_is_refused_wherever_it_is_cut_off(void **state)
{
    (void)state;
    const struct form f = {1, 2, 8000, 16, true};
    make_tone(&f, 1000);
    const size_t all = file.n;
    for (file.n = 0; file.n < all; file.n += file.n < 120 ? 1 : 997)
        assert_non_null(refused());
    file.n = all;
    assert_null(refused());
}

static void test_a_quiet_recording_becomes_louder_and_silence_empty(void **state)
{
    (void)state;
    make_tone(&(struct form){1, 1, 8000, 16, false}, 1000);
    struct audio a = read_at_8khz();
    for (size_t i = 0; i < a.n; i++)
        a.samples[i] /= 16;
    audio_level(&a);
    assert_true(amplitude(&a, 1000) > 4000);
    memset(a.samples, 0, a.n * sizeof *a.samples);
    audio_level(&a);
    assert_int_equal(a.n, 0);
    assert_null(audio_clip(&a));
    audio_done(&a);
}

static void test_a_written_file_reads_back(void **state)
{
    (void)state;
    static const int16_t samples[] = {0, 1, -1, INT16_MAX, INT16_MIN, 1234};
    struct buf b = BUF(1000);
    struct audio audio;
    const char *why;
    wav_write(samples, ARRAY_SIZE(samples), &b);
    assert_int_equal(wav_read(buf_view(&b), &audio, &why), ERR_NONE);
    assert_int_equal(audio.n, ARRAY_SIZE(samples));
    assert_int_equal(audio.rate, SOUND_RATE);
    assert_memory_equal(audio.samples, samples, sizeof samples);
    audio_done(&audio);
    buf_done(&b);
}

static void test_a_written_file_of_mu_law_reads_back(void **state)
{
    (void)state;
    struct audio audio;
    const char *why;
    for (size_t n = 1; n < 4; n++) {
        struct buf b = BUF(1000);
        wav_write_ulaw(str_n("\xff\x80\x00", n), &b);
        assert_int_equal(b.n % 2, 0);
        assert_int_equal(wav_read(buf_view(&b), &audio, &why), ERR_NONE);
        assert_int_equal(audio.n, n);
        assert_int_equal(audio.rate, SOUND_RATE);
        assert_in_range(audio.samples[0], 0, 4);
        audio_done(&audio);
        buf_done(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_written_file_reads_back),
        cmocka_unit_test(test_a_written_file_of_mu_law_reads_back),
        cmocka_unit_test(test_every_form_gives_the_same_sound),
        cmocka_unit_test(test_sound_above_the_telephone_band_is_filtered_out),
        cmocka_unit_test(test_other_forms_are_refused),
        cmocka_unit_test(test_a_damaged_file_is_refused_wherever_it_is_cut_off),
        cmocka_unit_test(test_a_quiet_recording_becomes_louder_and_silence_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
