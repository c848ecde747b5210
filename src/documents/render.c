#include "documents/render.h"

#include <stdlib.h>

#include "base/mem.h"
#include "documents/errors.h"
#include "documents/frame.h"
#include "documents/markdown.h"
#include "documents/overview.h"
#include "documents/reference.h"
#include "documents/search.h"
#include "documents/texts.h"
#include "site/docs.h"

#define PAGE_MAX (2U << 20)
#define HTML     "text/html; charset=utf-8"
#define TEXT     "text/plain; charset=utf-8"
#define MARKDOWN "text/markdown; charset=utf-8"

struct docs {
    documents_take *take;
    void *arg;
    struct docs_reference reference;
    json_t *index; /* of the search */
};

/* ---- a document ---- */

/* Takes path and text. */
static void add_document(struct docs *d, char *path, const char *media, struct buf *text)
{
    d->take(d->arg, path, media, text->full ? STR_NONE : buf_view(text));
    free(path);
    buf_done(text);
}

/* ---- pages, each with its Markdown ---- */

/* Takes both texts. */
static void add_page(struct docs *d, const struct docs_page *page, struct buf *html, struct buf *markdown)
{
    struct buf whole = BUF(PAGE_MAX);
    docs_put_page(page, &d->reference, buf_view(html), &whole);
    whole.full |= html->full;
    add_document(d, mem_strdup(page->path), HTML, &whole);
    add_document(d, mem_printf("%s.md", page->path), MARKDOWN, markdown);
    buf_done(html);
}

static void add_guide(struct docs *d, const struct docs_guide *g)
{
    struct buf html = BUF(PAGE_MAX), markdown = BUF(PAGE_MAX);
    char *path = mem_printf("/docs/%s", g->name);
    buf_lit(&html, "<article class=\"guide\">\n");
    json_t *sections = docs_put_guide(g, &html);
    buf_lit(&html, "</article>\n");
    buf_str(&markdown, str_z(g->text));
    docs_index_guide(d->index, g, path, sections);
    add_page(d, &(struct docs_page){path, docs_title(g), sections}, &html, &markdown);
    json_decref(sections);
    free(path);
}

/* A page that `put` writes in both forms, for the tag if it is a tag's. */
static void add_written(struct docs *d, const char *path, const char *title, const char *tag,
                        void (*put)(const struct docs_reference *r, const char *tag, struct docs_out *out))
{
    struct buf texts[] = {BUF(PAGE_MAX), BUF(PAGE_MAX)};
    for (int markdown = 0; markdown < 2; markdown++)
        put(&d->reference, tag, &(struct docs_out){&texts[markdown], markdown, 0});
    add_page(d, &(struct docs_page){path, str_z(title), NULL}, &texts[false], &texts[true]);
}

static void put_errors(const struct docs_reference *r, const char *tag, struct docs_out *out)
{
    (void)tag;
    docs_put_errors(r, out);
}

static void put_overview(const struct docs_reference *r, const char *tag, struct docs_out *out)
{
    (void)tag;
    docs_put_overview(r, out);
}

static void add_reference(struct docs *d)
{
    for (size_t i = 0; i < d->reference.tag_count; i++) {
        const char *tag = d->reference.tags[i];
        char *path = docs_tag_path(tag);
        add_written(d, path, tag, tag, docs_put_tag);
        free(path);
    }
    add_written(d, DOCS_ERRORS_PATH, "Errors", NULL, put_errors);
    docs_index_reference(d->index, &d->reference);
    docs_index(d->index, STR("Reference"), STR("Errors"), json_string(DOCS_ERRORS_PATH),
               STR("error code status meaning next action"));
}

static void add_overview(struct docs *d)
{
    add_written(d, "/docs", DOCS_OVERVIEW_TITLE, NULL, put_overview);
    docs_index(d->index, STR("Overview"), STR(DOCS_OVERVIEW_TITLE), json_string("/docs"),
               STR("scopes certificate examples key"));
}

/* ---- texts for programs ---- */

static void add_texts(struct docs *d)
{
    struct buf contents = BUF(PAGE_MAX), robots = BUF(PAGE_MAX), search = BUF(PAGE_MAX);
    docs_put_contents(&d->reference, &contents);
    add_document(d, mem_strdup("/llms.txt"), TEXT, &contents);
    docs_put_robots(d->reference.sandbox, &robots);
    add_document(d, mem_strdup("/robots.txt"), TEXT, &robots);
    char *index = json_dumps(d->index, JSON_COMPACT);
    buf_str(&search, str_z(index));
    add_document(d, mem_strdup("/docs/search.json"), "application/json", &search);
    free(index);
}

/* ---- all of them ---- */

void documents_render(bool sandbox, documents_take *take, void *arg)
{
    struct docs d = {.take = take, .arg = arg, .index = json_array()};
    docs_reference_init(&d.reference, DOCS_PUBLIC_URL, sandbox);
    add_reference(&d);
    for (const struct docs_guide *g = docs_guides; g->name; g++)
        add_guide(&d, g);
    add_overview(&d);
    add_texts(&d);
    json_decref(d.index);
    docs_reference_done(&d.reference);
}
