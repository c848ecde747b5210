/* Spoken digits as text. */
#pragma once
#include "base/str.h"

/* "one two three four", "oh", "double five", "triple zero", "1 2 3 4", "1234": the digits, NUL-terminated, in ret,
 * whose size is at least 1. Any case; words are parted by white space, hyphens, commas and full stops. False for any
 * other word, for no digit at all, and for more digits than fit. */
bool words_to_digits(struct str text, char *ret, size_t size);
