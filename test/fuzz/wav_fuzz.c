/* Any bytes as a WAV file: refused, or audio within its bounds that becomes a clip. */
#include <stdlib.h>

#include "call/wav.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct audio audio;
    const char *why = NULL;
    if (wav_read(str_n((const char *)data, size), &audio, &why)) {
        if (!why)
            abort();
        return 0;
    }
    if (!audio.n || audio.n > size)
        abort();
    if (audio.n > (size_t)AUDIO_SECONDS * audio.rate)
        audio.n = (size_t)AUDIO_SECONDS * audio.rate;
    if (audio_resample(&audio) || audio.n > AUDIO_CLIP_MAX)
        abort();
    audio_level(&audio);
    audio_cut(&audio);
    struct clip *clip = audio_clip(&audio);
    if (clip && clip->length > AUDIO_CLIP_MAX)
        abort();
    clip_unref(clip);
    audio_done(&audio);
    return 0;
}
