#include "speech/synth.h"

#include <glib.h>
#include <pthread.h>

#include "base/library.h"
#include "base/log.h"
#include "call/audio.h"
#include "speech/flite_abi.h"

#define VOICE_RATE  16000
#define CHUNK       VOICE_RATE                         /* samples between two calls of on_speech() */
#define SAMPLES_MAX ((AUDIO_SECONDS + 1) * VOICE_RATE) /* more than is kept, so that audio_cut() fades */

#define VOICE_LIBRARY "libflite_cmu_us_rms.so.1"

#define FLITE(S)                                                                                                       \
    S(flite_init)                                                                                                      \
    S(flite_text_to_wave)                                                                                              \
    S(delete_wave)                                                                                                     \
    S(register_cmu_us_rms)                                                                                             \
    S(new_audio_streaming_info)                                                                                        \
    S(audio_streaming_info_val)                                                                                        \
    S(feat_set)                                                                                                        \
    S(cst_errjmp)
LIBRARY(flite, FLITE);

/* flite's voice and its error handler are shared by the process. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cst_voice *voice; /* never freed */
static struct audio *speech;

/* ---- text ---- */

static bool speakable(char c)
{
    return g_ascii_isprint(c);
}

static void spell_character(const char *at, struct buf *ret)
{
    char utf8[8] = "";
    g_utf8_strncpy(utf8, at, 1);
    char *ascii = g_str_to_ascii(utf8, "C");
    for (const char *c = g_str_equal(ascii, "?") ? " " : ascii; *c; c++)
        buf_char(ret, speakable(*c) ? *c : ' ');
    g_free(ascii);
}

void synth_spell(struct str text, struct buf *ret)
{
    char *valid = g_utf8_make_valid(text.n ? text.p : "", (gssize)text.n);
    for (const char *at = valid; *at && ret->n < SYNTH_TEXT_MAX; at = g_utf8_next_char(at)) {
        if ((unsigned char)*at >= 0x80)
            spell_character(at, ret);
        else
            buf_char(ret, speakable(*at) ? *at : ' ');
    }
    if (ret->n > SYNTH_TEXT_MAX)
        ret->n = SYNTH_TEXT_MAX;
    g_free(valid);
}

static bool has_words(const struct buf *text)
{
    for (size_t i = 0; i < text->n; i++)
        if (g_ascii_isalnum(text->p[i]))
            return true;
    return false;
}

/* ---- flite ---- */

/* Takes the next samples. Stops flite when there are enough of them. */
static int on_speech(const cst_wave *wave, int start, int size, int last, cst_audio_streaming_info *info)
{
    (void)last;
    (void)info;
    const struct flite_wave *w = (const struct flite_wave *)wave;
    if (w->sample_rate != VOICE_RATE || w->num_channels != 1 || start < 0 || size < 0)
        return FLITE_STREAM_STOP;
    size_t n = (size_t)size, room = SAMPLES_MAX - speech->n;
    if (n > room)
        n = room;
    memcpy(speech->samples + speech->n, w->samples + start, n * sizeof *speech->samples);
    speech->n += n;
    return speech->n < SAMPLES_MAX ? FLITE_STREAM_CONT : FLITE_STREAM_STOP;
}

static bool load_voice(void)
{
    if (voice)
        return true;
    if (LIBRARY_LOAD(VOICE_LIBRARY, flite))
        return false;
    cst_audio_streaming_info *info = flite.new_audio_streaming_info();
    flite.flite_init();
    voice = flite.register_cmu_us_rms(NULL);
    if (!voice || !info)
        return false;
    *(struct flite_stream *)info = (struct flite_stream){.min_buffsize = CHUNK, .asc = on_speech};
    flite.feat_set(((struct flite_voice *)voice)->features, "streaming_info", flite.audio_streaming_info_val(info));
    return true;
}

enum err synth_load(void)
{
    pthread_mutex_lock(&lock);
    const bool loaded = load_voice();
    pthread_mutex_unlock(&lock);
    return loaded ? ERR_NONE : ERR_NOT_FOUND;
}

/* flite ends the process on an error of its own, unless it may jump out. */
static void run_flite(const char *text)
{
    jmp_buf out;
    if (setjmp(out)) {
        log_error("speech synthesis failed");
    } else {
        *flite.cst_errjmp = &out;
        flite.delete_wave(flite.flite_text_to_wave(text, voice));
    }
    *flite.cst_errjmp = NULL;
}

static void synthesize(const char *text, struct audio *ret)
{
    *ret = (struct audio){.samples = mem_array(int16_t, SAMPLES_MAX), .rate = VOICE_RATE};
    pthread_mutex_lock(&lock);
    speech = ret;
    if (load_voice())
        run_flite(text);
    speech = NULL;
    pthread_mutex_unlock(&lock);
}

struct clip *synth_render(struct str text)
{
    struct buf ascii = BUF(2 * SYNTH_TEXT_MAX);
    struct audio audio;
    struct clip *clip = NULL;
    synth_spell(text, &ascii);
    const bool words = has_words(&ascii);
    buf_char(&ascii, '\0');
    if (words && !ascii.full) {
        synthesize(ascii.p, &audio);
        if (!audio_resample(&audio)) {
            audio_level(&audio);
            audio_cut(&audio);
            clip = audio_clip(&audio);
        }
        audio_done(&audio);
    }
    buf_done(&ascii);
    return clip;
}
