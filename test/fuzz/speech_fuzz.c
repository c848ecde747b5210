/* Any bytes as the text of a greeting: spelled as printable ASCII within its bound. One input in SPOKEN_OF is spoken as
 * well, which takes a thousand times as long: a clip within the bound, or nothing. */
#include <stdlib.h>

#include "call/audio.h"
#include "speech/synth.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SPOKEN_OF 256

static uint32_t hash(const uint8_t *data, size_t size)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < size; i++)
        h = (h ^ data[i]) * 16777619u;
    return h;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str text = str_n((const char *)data, size);
    struct buf ascii = BUF(2 * SYNTH_TEXT_MAX);
    synth_spell(text, &ascii);
    if (ascii.full || ascii.n > SYNTH_TEXT_MAX)
        abort();
    for (size_t i = 0; i < ascii.n; i++)
        if (ascii.p[i] < ' ' || ascii.p[i] > '~')
            abort();
    buf_done(&ascii);
    if (hash(data, size) % SPOKEN_OF == 0) {
        struct clip *clip = synth_render(text);
        if (clip && (!clip->length || clip->length > AUDIO_CLIP_MAX))
            abort();
        clip_unref(clip);
    }
    return 0;
}
