/* Prints JSON responses as text. */
#pragma once
#include <jansson.h>
#include <stdio.h>

/* Prints an object as `name  value` lines, and {"data": [objects]} or a list of objects in an object as a table, whose
 * columns are the members of the objects. null prints as "-", other lists as items separated by commas. */
void print_text(const json_t *answer, FILE *out);
/* The same; a table of "data" has no columns with these names, nor any that is empty. */
void print_text_without(const json_t *answer, const char *const *hidden, FILE *out);
/* Prints one value as a table does, without padding. */
void print_value(const json_t *value, FILE *out);
