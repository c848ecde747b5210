/* What schema_read asks about strings. The strings are valid UTF-8 without NUL bytes, as JSON reading leaves them. */
#pragma once
#include "base/str.h"

size_t text_code_points(struct str s);
size_t text_utf16_units(struct str s);
/* Without the white space (Unicode's, line breaks and tabs) at both ends. */
struct str text_trim(struct str s);

/* A practical address (decisions section 2): one @, a local part of RFC 5322 atoms of at most 64 characters, a domain
 * of at least two LDH labels whose last is not a number, at most 254 characters in all. */
bool text_is_email(struct str s);

/* Whether s (NUL-terminated behind its length) matches a POSIX extended regular expression. The pattern is compiled
 * once for the life of the process, so it must be a constant; one that does not compile is a bug of ours. Any thread.
 */
bool text_matches(const char *pattern, struct str s);
