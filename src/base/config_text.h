/* Preprocessing of a configuration file for libconfuse 3.3, which miscounts lines after comments and accepts a file
 * that ends within a section. Comments are replaced by blanks and braces are counted before it parses. */
#pragma once
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"

struct config_text {
    char *p;           /* NUL-terminated; comments are blanks, line ends are kept */
    unsigned unclosed; /* line of the last unclosed brace or comment; 0: no such line */
};

/* Reads the whole file into the arena. On failure false, and *ret_rule is the reason. */
bool config_text_read(FILE *file, struct arena *a, struct config_text *ret, const char **ret_rule);

/* A copy of the text in the arena with blanks in place of its comments: every position stays. */
char *config_text_blanked(struct arena *a, struct str text);

/* Appends the words of a text without comments, one a line: equal for texts that say the same. */
void config_text_words(const char *text, struct buf *out);

/* `name = value`, `name { … }` or `name title { … }`. */
struct config_entry {
    const char *name;
    size_t name_n;
    struct str title;   /* without quotation marks; STR_NONE: no title */
    const char *value;  /* where it begins; NULL: a section */
    const char *inside; /* of a section: behind its opening brace */
    const char *end;    /* behind the value, or the closing brace */
};
/* The first entry from `from` on, in a text without comments. False at the end of the section or of the text. */
bool config_text_entry(const char *from, struct config_entry *ret);

/* Blanks `name` in this line with its value: `= value`, `= {list}`, `{section}`. False if the line has no such key. */
bool config_text_forget(struct config_text *text, unsigned line, const char *name);
