/* Texts for programs: /llms.txt and /robots.txt. */
#pragma once
#include "documents/rows.h"

/* Appends the contents of the documents for language models. */
void docs_put_contents(const struct docs_reference *r, struct buf *out);

/* Appends what search engines may read. */
void docs_put_robots(bool sandbox, struct buf *out);
