/* An acoustic model that scores audio against grammars of digits (pocketsphinx, loaded with the first model). One
 * thread at a time.
 *
 * A score is a logarithm: higher is better. Scores of one piece of audio under one model may be compared across
 * grammars, because every word has the same cost in each and the whole model is evaluated in every frame. */
#pragma once
#include "base/err.h"
#include "base/str.h"

#define SPOKEN_LENGTH_MAX 4  /* digits of a code */
#define SPOKEN_DIGITS_MAX 16 /* digits of the best path that are told */

enum spoken_kind {
    SPOKEN_TIDIGITS, /* whole-word models of digits, 8 kHz */
    SPOKEN_ENGLISH,  /* phones of American English, 16 kHz */
    SPOKEN_MODELS
};

struct spoken_model;

/* ERR_NOT_FOUND if `directory` holds no such model, or pocketsphinx is not there. */
enum err spoken_model_new(enum spoken_kind kind, const char *directory, struct spoken_model **ret) CHECKED;
void spoken_model_free(struct spoken_model *m);

/* The audio that later scores are about: 8 kHz; copied. After until_us (monotonic) no path is found any more. */
void spoken_model_take(struct spoken_model *m, const int16_t *samples, size_t n, int64_t until_us);
/* Forgets the audio and wipes it. */
void spoken_model_forget(struct spoken_model *m);

/* The best path through a grammar. */
struct spoken_path {
    bool found;
    double score; /* per frame */
    char digits[SPOKEN_DIGITS_MAX + 1];
};

/* Any digits, one or more. */
struct spoken_path spoken_any(struct spoken_model *m);
/* Any `length` digits. */
struct spoken_path spoken_of_length(struct spoken_model *m, size_t length);
/* One of the codes. */
struct spoken_path spoken_of_codes(struct spoken_model *m, const char *const *codes, size_t n);
/* Any string of the same length but `code`. */
struct spoken_path spoken_other_than(struct spoken_model *m, const char *code);
