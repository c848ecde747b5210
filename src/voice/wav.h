/* WAV files: PCM of 8, 16 or 24 bits, mu-law, A-law; one or two channels; 8 to 48 kHz. */
#pragma once
#include "base/buf.h"
#include "base/str.h"
#include "voice/audio.h"

#define WAV_MAX (8U << 20) /* bytes: more than AUDIO_SECONDS of any accepted form */

/* Decodes the bytes of a file to mono. ERR_USAGE, with a reason in *ret_why (constant): damaged, or in another form.
 * The caller bounds the length: by that of the file, or after reading. */
enum err wav_read(struct str bytes, struct audio *ret, const char **ret_why) CHECKED;

/* Appends a WAV file: PCM of 16 bits, mono, SOUND_RATE. */
void wav_write(const int16_t *samples, size_t n, struct buf *out);
