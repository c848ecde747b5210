/* Prints JSON responses as text. */
#pragma once
#include <jansson.h>
#include <stdio.h>

/* Prints an object as `name  value` lines, and {"data": [objects]} or a list of objects in an object as a table, whose
 * columns are the members of the first object. null prints as "-", other lists as items separated by commas. */
void print_text(const json_t *answer, FILE *out);
