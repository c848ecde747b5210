/* Checks of strings for schema_read. Strings must be valid UTF-8 without NUL bytes, as json_read returns them. */
#pragma once
#include "base/str.h"

size_t text_code_points(struct str s);
size_t text_utf16_units(struct str s);
/* Removes white space at both ends, including Unicode's. */
struct str text_trim(struct str s);
/* The first bytes, at most `most`, that do not end within a code point. */
struct str text_start(struct str s, size_t most);

/* Whether s is a practical e-mail address (KEY-9): at most 254 characters, one @, a local part of RFC
 * 5322 atoms of at most 64 characters, and a domain of at least two LDH labels, the last not a number. */
bool text_is_email(struct str s);

/* Whether s, which must be NUL-terminated, matches a POSIX extended regular expression. The pattern must be a constant:
 * it is compiled once per process, and aborts if it does not compile. Any thread. */
bool text_matches(const char *pattern, struct str s);
