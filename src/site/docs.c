#include "site/docs.h"

#include <glib.h>
#include <malloc.h>
#include <stdlib.h>

#include "api/constant.h"
#include "base/log.h"
#include "base/mem.h"
#include "site/docs_errors.h"
#include "site/docs_frame.h"
#include "site/docs_markdown.h"
#include "site/docs_overview.h"
#include "site/docs_search.h"
#include "site/docs_texts.h"

#define DOCUMENTS_MAX 96
#define PAGE_MAX      (2U << 20)
#define HTML          "text/html; charset=utf-8"
#define TEXT          "text/plain; charset=utf-8"
#define MARKDOWN      "text/markdown; charset=utf-8"

struct docs {
    struct docs_options options;
    gsize rendered; /* for g_once_init_enter */
    struct http_asset documents[DOCUMENTS_MAX];
    struct buf texts[DOCUMENTS_MAX];
    size_t count;
    struct docs_reference reference; /* while they are rendered, like: */
    json_t *index;                   /* of the search */
};

/* ---- a document ---- */

/* Takes the text. */
static void add_document(struct docs *d, char *path, const char *media, struct buf *text)
{
    if (d->count == DOCUMENTS_MAX || text->full) {
        log_error("documents path=%s error=\"longer than its limit\"", path);
        free(path);
        buf_done(text);
        return;
    }
    mem_resize(text->p, text->n);
    d->texts[d->count] = *text;
    struct http_asset *asset = &d->documents[d->count++];
    asset->name = str_z(path);
    asset->media = media;
    constant_init(&asset->content, buf_view(text));
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

/* A page that is written in both forms by `put`, with `arg`. */
static void add_written(struct docs *d, const char *path, struct str title,
                        void (*put)(const struct docs *d, const json_t *arg, struct docs_out *out), const json_t *arg)
{
    struct buf texts[] = {BUF(PAGE_MAX), BUF(PAGE_MAX)};
    for (int markdown = 0; markdown < 2; markdown++)
        put(d, arg, &(struct docs_out){&texts[markdown], markdown, 0});
    add_page(d, &(struct docs_page){path, title, NULL}, &texts[false], &texts[true]);
}

static void put_tag(const struct docs *d, const json_t *tag, struct docs_out *out)
{
    docs_put_tag(&d->reference, tag, out);
}

static void put_errors(const struct docs *d, const json_t *arg, struct docs_out *out)
{
    (void)arg;
    docs_put_errors(d->reference.document, out);
}

static void put_overview(const struct docs *d, const json_t *arg, struct docs_out *out)
{
    (void)arg;
    docs_put_overview(&d->reference, out);
}

static void add_reference(struct docs *d)
{
    size_t i;
    json_t *tag;
    json_array_foreach (json_object_get(d->reference.document, "tags"), i, tag) {
        char *path = docs_tag_path(docs_member(tag, "name"));
        add_written(d, path, str_z(docs_member(tag, "name")), put_tag, tag);
        free(path);
    }
    add_written(d, DOCS_ERRORS_PATH, STR("Errors"), put_errors, NULL);
    docs_index_reference(d->index, d->reference.document);
    docs_index(d->index, STR("Reference"), STR("Errors"), json_string(DOCS_ERRORS_PATH),
               STR("error code status meaning next action"));
}

static void add_overview(struct docs *d)
{
    add_written(d, "/docs", STR(DOCS_OVERVIEW_TITLE), put_overview, NULL);
    docs_index(d->index, STR("Overview"), STR(DOCS_OVERVIEW_TITLE), json_string("/docs"),
               STR("scopes certificate examples key"));
}

/* ---- texts for programs ---- */

static void add_texts(struct docs *d)
{
    struct buf contents = BUF(PAGE_MAX), robots = BUF(PAGE_MAX), search = BUF(PAGE_MAX);
    docs_put_contents(&d->reference, &contents);
    add_document(d, mem_strdup("/llms.txt"), TEXT, &contents);
    docs_put_robots(d->options.sandbox, &robots);
    add_document(d, mem_strdup("/robots.txt"), TEXT, &robots);
    char *index = json_dumps(d->index, JSON_COMPACT);
    buf_str(&search, str_z(index));
    add_document(d, mem_strdup("/docs/search.json"), "application/json", &search);
    free(index);
}

/* ---- all of them ---- */

/* The first document, with the operations of the others. */
static json_t *merge_documents(const struct docs_options *o)
{
    json_t *all = openapi_build(o->apis[0], o->public_url);
    for (size_t i = 1; o->apis[i]; i++) {
        json_t *more = openapi_build(o->apis[i], o->public_url);
        json_object_update_missing(json_object_get(all, "paths"), json_object_get(more, "paths"));
        json_array_extend(json_object_get(all, "tags"), json_object_get(more, "tags"));
        json_object_update_missing(json_object_get(json_object_get(all, "components"), "schemas"),
                                   json_object_get(json_object_get(more, "components"), "schemas"));
        json_decref(more);
    }
    return all;
}

static void render_documents(struct docs *d)
{
    d->reference = (struct docs_reference){merge_documents(&d->options), d->options.public_url, d->options.sandbox};
    d->index = json_array();
    add_reference(d);
    for (const struct docs_guide *g = docs_guides; g->name; g++)
        add_guide(d, g);
    add_overview(d);
    add_texts(d);
    json_decref(d->index);
    json_decref(d->reference.document);
    malloc_trim(0); /* much more was used than is kept */
}

struct docs *docs_new(const struct docs_options *options)
{
    struct docs *d = mem_new(struct docs);
    d->options = *options;
    return d;
}

void docs_free(struct docs *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->count; i++) {
        constant_done(&d->documents[i].content);
        buf_done(&d->texts[i]);
        free((char *)(uintptr_t)d->documents[i].name.p);
    }
    free(d);
}

const struct http_asset *docs_find(void *docs, struct str path)
{
    struct docs *d = docs;
    if (g_once_init_enter(&d->rendered)) {
        render_documents(d);
        g_once_init_leave(&d->rendered, 1);
    }
    for (size_t i = 0; i < d->count; i++)
        if (str_eq(d->documents[i].name, path))
            return &d->documents[i];
    return NULL;
}
