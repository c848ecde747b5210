/* Preprocessing of a configuration file for libconfuse 3.3, which miscounts lines after comments and accepts a file
 * that ends within a section. Comments are replaced by blanks and braces are counted before it parses. */
#pragma once
#include <stdio.h>

#include "base/arena.h"

struct config_text {
    char *p;           /* NUL-terminated; comments are blanks, line ends are kept */
    unsigned unclosed; /* line of the last unclosed brace or comment; 0: no such line */
};

/* Reads the whole file into the arena. On failure false, and *ret_rule is the reason. */
bool config_text_read(FILE *file, struct arena *a, struct config_text *ret, const char **ret_rule);

/* Blanks `name` in this line with its value: `= value`, `= {list}`, `{section}`. False if the line has no such key. */
bool config_text_forget(struct config_text *text, unsigned line, const char *name);
