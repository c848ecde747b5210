/* Prints JSON responses as text. */
#pragma once
#include <jansson.h>
#include <stdio.h>

#include "base/str.h"

/* Prints an object as `name  value` lines, where a member of an object within is `name.member`, and {"data": [objects]}
 * or a list of objects in an object as a table, whose columns are the members of the objects. null prints as "-", other
 * lists as items separated by commas. On a terminal that is narrower than a table, its rows print as lines. */
void print_text(const json_t *answer, FILE *out);
/* The same for a terminal of so many columns, 0: any number. If `hidden` is not NULL, a table of "data" has no columns
 * with these names, nor any that is empty, and a line for each row: on a terminal that is narrower, the columns that do
 * not fit are left out, and longer cells are cut. */
void print_text_without(const json_t *answer, const char *const *hidden, int columns, FILE *out);
/* The columns of the terminal; 0: it is none, or does not tell. */
int print_columns(FILE *out);
/* Prints valid JSON to standard output as it is, and a line end; characters that would command a terminal are escaped
 * if it is one. */
void print_json_line(struct str json);
/* Prints one value as a table does, without padding. */
void print_value(const json_t *value, FILE *out);
