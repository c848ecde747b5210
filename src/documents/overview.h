/* The first page of the documents. */
#pragma once
#include "documents/rows.h"

#define DOCS_OVERVIEW_TITLE "Portero for developers"

/* Appends how examples run, and lists of the guides, the operations and the scopes. */
void docs_put_overview(const struct docs_reference *r, struct docs_out *out);
