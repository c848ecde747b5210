/* The index of the search: a list of {"kind", "title", "path", "text"}, with "deep": true where a section is of use to
 * few. */
#pragma once
#include "documents/markdown.h"
#include "documents/rows.h"

/* Adds an entry. Takes the path. */
void docs_index(json_t *index, struct str kind, struct str title, json_t *path, struct str words);

/* Adds each section of a guide, as docs_put_guide returns them. */
void docs_index_guide(json_t *index, const struct docs_guide *g, const char *path, const json_t *sections);

/* Adds all operations and errors. */
void docs_index_reference(json_t *index, const struct docs_reference *r);
