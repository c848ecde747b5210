/* JSON answers as text for people. */
#pragma once
#include <jansson.h>
#include <stdio.h>

/* An object as `name  value` lines; {"data": [objects]}, and any list of objects within an object, as a table with a
 * line for the column names, whose columns are the first object's members. null prints as "-", other lists as their
 * items with commas. */
void print_text(const json_t *answer, FILE *out);
