/* Spoken digits as text. */
#pragma once
#include "base/str.h"

/* Reads "one two three four", "oh", "double five", "triple zero", "1 2 3 4" or "1234" in any case; white space,
 * hyphens, commas and full stops separate words. Writes the digits to ret, NUL-terminated; size must be at least 1.
 * False for any other word, for text without a digit, and for more digits than fit. */
bool words_to_digits(struct str text, char *ret, size_t size);
