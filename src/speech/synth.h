/* Text to speech: flite with the voice rms, in the process; loaded at the first use. */
#pragma once
#include "base/buf.h"
#include "base/err.h"
#include "call/clip.h"

#define SYNTH_TEXT_MAX                                                                                                 \
    160 /* characters that are spoken: a greeting has 119 code units, and a few become two or three */

/* The text as flite gets it: ASCII, transliterated; a character without transliteration becomes a space. At most
 * SYNTH_TEXT_MAX characters. Takes any bytes. */
void synth_spell(struct str text, struct buf *ret);
/* Loads flite and its voice, so that a process that will speak finds out at its start. ERR_NOT_FOUND, which is logged,
 * if they are not there. Any thread. */
enum err synth_load(void) CHECKED;
/* Speaks the text; NULL if nothing in it can be spoken, or flite is not there. Speech longer than AUDIO_SECONDS ends
 * there. Takes about 10 ms of processor time for a second of speech, 0.7 s for the worst text. Any thread; one text at
 * a time in the process. The caller derefs the clip. */
struct clip *synth_render(struct str text);
