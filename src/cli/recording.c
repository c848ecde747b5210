#include "cli/recording.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "call/wav.h"
#include "client/complain.h"

static bool read_file(const char *path, struct buf *ret)
{
    char piece[65536];
    FILE *f = fopen(path, "rb");
    if (!f) {
        complain("%s: %s", path, strerror(errno));
        return false;
    }
    for (size_t n; !ret->full && (n = fread(piece, 1, sizeof piece, f));)
        buf_put(ret, piece, n);
    const bool failed = ferror(f);
    (void)fclose(f);
    if (failed || ret->full)
        complain("%s: %s", path, failed ? "cannot be read" : "the file is too large");
    return !failed && !ret->full;
}

/* Converts a file's content; NULL, and a reason. */
static struct clip *convert(struct str bytes, const char **ret_why)
{
    struct audio audio;
    struct clip *clip = NULL;
    if (wav_read(bytes, &audio, ret_why))
        return NULL;
    const bool too_long = audio.n > (size_t)AUDIO_SECONDS * audio.rate;
    *ret_why = too_long ? "the audio is longer than 20 seconds" : "the audio cannot be converted";
    if (!too_long && !audio_resample(&audio)) {
        audio_level(&audio);
        audio_cut(&audio);
        clip = audio_clip(&audio);
        *ret_why = "the audio is silent";
    }
    audio_done(&audio);
    return clip;
}

char *recording_from_file(const char *path)
{
    struct buf file = BUF(WAV_MAX);
    struct arena arena;
    const char *why;
    char *text = NULL;
    if (read_file(path, &file)) {
        struct clip *clip = convert(buf_view(&file), &why);
        if (clip) {
            arena_init(&arena, NULL, 0);
            const struct str encoded = base64url_encode(&arena, str_n((const char *)clip->ulaw, clip->length));
            text = mem_strndup(encoded.p, encoded.n);
            arena_done(&arena);
        } else {
            complain("%s: %s", path, why);
        }
        clip_unref(clip);
    }
    buf_done(&file);
    return text;
}
