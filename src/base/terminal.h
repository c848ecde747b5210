/* Text of others, such as a service's, on its way to a terminal: it must not reach the terminal as commands, nor
 * reorder or hide the rest of the line. */
#pragma once
#include <stdio.h>

#include "base/str.h"

/* Replaces, in place, by '?': each control character, character without a glyph that formats (Unicode's Cf, but for the
 * joiners, which scripts and emoji need), separator of lines, and byte that is not UTF-8. Returns the new length. */
size_t terminal_clean(char *text, size_t n);
/* Prints the formatted text, cleaned so; a line end in it is a control character, too. */
void terminal_print(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints a text that has lines of its own: its line ends and tabs stay. */
void terminal_print_lines(struct str text, FILE *out);
/* Prints valid JSON as it is; to a terminal, with \u escapes in place of the characters that terminal_clean replaces.
 */
void terminal_print_json(struct str json, FILE *out);
