/* A recorded greeting from a file, as the operator gives it: what is accepted, and what is said of other files. */
#include "cli/recording.h"

#include <unistd.h>

#include "base/unit.h"
#include "call/audio.h"
#include "call/wav.h"
#include "client/typed.h"

#define SECONDS_MAX 21

static char directory[] = "/tmp/portero-recording-XXXXXX";

static int make_directory(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void)state;
    return rmdir(directory);
}

/* Reads a file with these bytes; what is said of it replaces `ret_said`. The caller frees the result. */
static char *recording_of(struct str bytes, char ret_said[static TYPED_MAX])
{
    char path[64];
    struct captured c;
    snprintf(path, sizeof path, "%s/a.wav", directory);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.p, 1, bytes.n, file), bytes.n);
    fclose(file);
    capture(&c, stderr);
    char *text = recording_from_file(path);
    release(&c, stderr, ret_said);
    typed_replace(ret_said, directory, "DIR");
    unlink(path);
    return text;
}

/* A WAV file of so many samples, a rectangle of this height. */
static void make_wav(size_t samples, int16_t height, struct buf *ret)
{
    int16_t *sound = calloc(samples, sizeof *sound);
    assert_non_null(sound);
    for (size_t i = 0; i < samples; i++)
        sound[i] = (int16_t)(i / 8 % 2 ? height : -height);
    wav_write(sound, samples, ret);
    free(sound);
}

static void a_sound_is_kept_as_mu_law_in_base64(void **state)
{
    static char said[TYPED_MAX];
    struct buf wav = BUF(WAV_MAX);
    (void)state;
    make_wav(SOUND_RATE, 8000, &wav);
    char *text = recording_of(buf_view(&wav), said);
    assert_string_equal(said, "");
    assert_non_null(text);
    assert_int_equal(strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), strlen(text));
    /* a byte a sample, and what the cut leaves of silence */
    assert_in_range(strlen(text) * 3 / 4, SOUND_RATE * 9 / 10, SOUND_RATE * 12 / 10);
    free(text);
    buf_done(&wav);
}

static void a_file_that_is_no_greeting_is_refused_with_the_reason(void **state)
{
    static const struct {
        size_t samples;
        int16_t height;
        const char *said;
    } cases[] = {
        {SOUND_RATE, 0, "portero: DIR/a.wav: the audio is silent\n"},
        {(size_t)SECONDS_MAX * SOUND_RATE, 8000, "portero: DIR/a.wav: the audio is longer than 20 seconds\n"},
    };
    static char said[TYPED_MAX];
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf wav = BUF(WAV_MAX);
        make_wav(cases[i].samples, cases[i].height, &wav);
        assert_null(recording_of(buf_view(&wav), said));
        assert_string_equal(said, cases[i].said);
        buf_done(&wav);
    }
    assert_null(recording_of(STR("ID3, an MP3 file that is long enough to have the head of a WAV file"), said));
    assert_int_equal(strncmp(said, "portero: DIR/a.wav: ", strlen("portero: DIR/a.wav: ")), 0);
}

static void a_file_that_is_not_there_or_too_large_is_told(void **state)
{
    static char said[TYPED_MAX];
    char *large = calloc(1, WAV_MAX + 1);
    struct captured c;
    (void)state;
    capture(&c, stderr);
    assert_null(recording_from_file("/nonexistent.wav"));
    release(&c, stderr, said);
    assert_string_equal(said, "portero: /nonexistent.wav: No such file or directory\n");
    assert_non_null(large);
    assert_null(recording_of(str_n(large, WAV_MAX + 1), said));
    assert_string_equal(said, "portero: DIR/a.wav: the file is too large\n");
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_is_kept_as_mu_law_in_base64),
        cmocka_unit_test(a_file_that_is_no_greeting_is_refused_with_the_reason),
        cmocka_unit_test(a_file_that_is_not_there_or_too_large_is_told),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
