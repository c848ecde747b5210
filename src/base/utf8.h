/* Characters of UTF-8 text. GLib has these, too, but the command line of residents and agents does not link it. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* The first character of n bytes: its length, 1 to 4, and *ret; 0 if they do not begin with one (RFC 3629). */
size_t utf8_read(const char *p, size_t n, uint32_t *ret);
/* Whether a terminal must not get it: a control character, a separator of lines, or a character without a glyph that
 * formats (Unicode's Cf), but for the joiners, which scripts and emoji need. */
bool utf8_commands(uint32_t c);
/* White space of Unicode, with the vertical tab. */
bool utf8_is_space(uint32_t c);
