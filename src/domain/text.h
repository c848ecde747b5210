/* Texts with places for words: "{number} is now {building}'s". */
#pragma once
#include "base/arena.h"

#define TEXT_MAX 4096 /* bytes; the rest is cut */

struct text_word {
    struct str name; /* without braces */
    struct str value;
};

/* The text in the arena; a place without a word is empty. */
struct str text_fill(struct arena *a, const char *form, const struct text_word *words, size_t count);
