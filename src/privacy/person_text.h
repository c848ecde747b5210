/* A person's number or address in texts of the store. */
#pragma once
#include "base/arena.h"
#include "base/str.h"

#define PERSON_ERASED "erased" /* in place of a word */

/* The word to search: the digits of a number, or an e-mail address in lower case. Returns false unless `given` is a
 * number in E.164 or looks like an address. In the arena. */
bool person_word(struct str given, struct arena *a, struct str *ret);

/* Whether the text has the word, not as a part of a longer one; a number with or without its +. */
bool person_named(struct str text, struct str word);

enum person_manner {
    PERSON_BLANK,   /* the whole text: NULL */
    PERSON_EMPTY,   /* the whole text: "" */
    PERSON_WHOLE,   /* the whole text: PERSON_ERASED */
    PERSON_EACH,    /* each occurrence: PERSON_ERASED */
    PERSON_LISTED,  /* each occurrence is taken out of a list that is separated by spaces */
    PERSON_IN_JSON, /* each string that is the word: null; in other strings as PERSON_EACH */
};
/* The text without the word, in the arena; the text itself if it does not have it. */
struct str person_erase(struct str text, struct str word, enum person_manner manner, struct arena *a);
