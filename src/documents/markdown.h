/* Texts in Markdown, which cmark-gfm makes HTML of. All are this program's own. */
#pragma once
#include "base/json.h"
#include "documents/out.h"

/* The search shows sections for few after all others. */
enum docs_readers { DOCS_FOR_ALL, DOCS_FOR_FEW };

/* A guide of the directory docs. */
struct docs_guide {
    const char *name;  /* "api", served as /docs/api and /docs/api.md; "behaviour/grants" */
    const char *about; /* a sentence */
    const char *text;  /* Markdown, which begins with the title as a heading of the first level */
    enum docs_readers readers;
};
/* Ends with a row without a name. */
extern const struct docs_guide docs_guides[];

/* Appends a short text. */
void docs_markdown(struct str text, struct docs_out *out);

/* Appends a guide: headings have anchors as GitHub makes them, links to other guides lead to their pages, and links to
 * files that are not served become plain text. Returns its sections as a list of {"level", "id", "title", "text"},
 * which the caller releases. */
json_t *docs_put_guide(const struct docs_guide *guide, struct buf *out);

/* The title of a guide. */
struct str docs_title(const struct docs_guide *guide);

/* A text of such a section, or "". */
const char *docs_member(const json_t *section, const char *name);
