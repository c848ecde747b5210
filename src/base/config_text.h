/* The text of a configuration file as libconfuse is given it. libconfuse 3.3 counts lines wrongly behind a comment and
 * takes a file that ends within a section for whole; so comments are blanked, and braces are counted, before it reads.
 */
#pragma once
#include <stdio.h>

#include "base/arena.h"

struct config_text {
    char *p;           /* NUL-terminated, with a blank for each character of a comment; line ends stay */
    unsigned unclosed; /* the line of the last brace or comment that is never closed; 0: there is none */
};

/* Reads the whole file into the arena. On failure false, and *ret_rule says why. */
bool config_text_read(FILE *file, struct arena *a, struct config_text *ret, const char **ret_rule);

/* Blanks `name` in this line together with what it is given: `= value`, `= {list}`, `{section}`. False if the line has
 * no such thing. */
bool config_text_forget(struct config_text *text, unsigned line, const char *name);
