/* WAV files: PCM of 8, 16 or 24 bits, mu-law, A-law; one or two channels; 8 to 48 kHz. */
#pragma once
#include "base/buf.h"
#include "base/str.h"
#include "call/audio.h"

#define WAV_MAX (8U << 20) /* bytes: more than AUDIO_SECONDS of any accepted form */

/* Decodes the bytes of a file to mono. ERR_USAGE, with a reason in *ret_why (constant): damaged, or in another form.
 * The caller bounds the length: by the file's, or after reading. */
enum err wav_read(struct str bytes, struct audio *ret, const char **ret_why) CHECKED;

/* Append a WAV file, mono, SOUND_RATE: PCM of 16 bits, and mu-law. */
void wav_write(const int16_t *samples, size_t n, struct buf *out);
void wav_write_ulaw(struct str ulaw, struct buf *out);
