/* The content of the documents for developers, written as HTML or as Markdown (CommonMark) by the same calls. */
#pragma once
#include "base/buf.h"

struct docs_out {
    struct buf *to;
    bool markdown;
    int depth; /* of Markdown: the entries of lists that are open */
};

/* ---- within a line ---- */

/* Plain text. Text without signs of either form may also be appended to o->to. */
void docs_text(struct docs_out *o, struct str text);
/* A word of code. */
void docs_word(struct docs_out *o, const char *word);
/* `class` is for HTML. */
void docs_strong(struct docs_out *o, const char *class, const char *text);
/* A link to a page of the documents, in Markdown to the page's Markdown. The anchor may be NULL. */
void docs_link(struct docs_out *o, const char *path, const char *anchor, struct str text);
/* The same for an anchor that is code. */
void docs_link_word(struct docs_out *o, const char *path, const char *anchor, const char *word);
/* Text between these is set apart. */
void docs_aside(struct docs_out *o);
void docs_aside_end(struct docs_out *o);

/* ---- blocks ---- */

/* Line of text between these; the ID may be NULL. */
void docs_heading(struct docs_out *o, int level, const char *id);
void docs_heading_end(struct docs_out *o, int level);
/* Line of text between these; the class may be NULL. */
void docs_paragraph(struct docs_out *o, const char *class);
void docs_paragraph_end(struct docs_out *o);
/* `fence` is the language in Markdown. */
void docs_pre(struct docs_out *o, const char *fence, struct str text);

/* A list: of `tag` "dl" with entries, or "ul" with items. */
void docs_list(struct docs_out *o, const char *tag, const char *class);
void docs_list_end(struct docs_out *o, const char *tag);
/* The name of an entry, a line of text, follows; after docs_told its blocks. The ID may be NULL. */
void docs_entry(struct docs_out *o, const char *id);
void docs_told(struct docs_out *o);
void docs_entry_end(struct docs_out *o);
/* A line of text between these. */
void docs_item(struct docs_out *o);
void docs_item_end(struct docs_out *o);

/* Blocks that HTML hides at first, unless `open`. The summary, a line of text, follows; after docs_fold_told the
 * blocks. The class may be NULL. */
void docs_fold(struct docs_out *o, const char *class, bool open);
void docs_fold_told(struct docs_out *o);
void docs_fold_end(struct docs_out *o);

/* Only in HTML, as it is. */
void docs_html(struct docs_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
