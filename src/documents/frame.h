/* The frame of a page of the documents: head, search, navigation. */
#pragma once
#include "documents/rows.h"

struct docs_page {
    const char *path; /* "/docs/api" */
    struct str title;
    const json_t *sections; /* of docs_put_guide, else NULL */
};

/* Appends the page around the content, which is HTML. */
void docs_put_page(const struct docs_page *page, const struct docs_reference *r, struct str content, struct buf *out);
