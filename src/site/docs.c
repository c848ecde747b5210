#include "site/docs.h"

#include <glib.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "api/constant.h"
#include "base/log.h"
#include "base/mem.h"
#include "http/web.h"
#include "site/docs_markdown.h"
#include "site/docs_reference.h"

#define DOCUMENTS_MAX 96
#define PAGE_MAX      (2U << 20)
#define SNIPPET_MAX   20000 /* of a section, in the index of the search */
#define HTML          "text/html; charset=utf-8"
#define TEXT          "text/plain; charset=utf-8"
#define MARKDOWN      "text/markdown; charset=utf-8"

struct docs {
    struct docs_options options;
    gsize rendered; /* for g_once_init_enter */
    struct http_asset documents[DOCUMENTS_MAX];
    struct buf texts[DOCUMENTS_MAX];
    size_t count;
    json_t *document; /* all operations: of options->apis */
    json_t *index;    /* of the search */
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

static void add_index(struct docs *d, struct str kind, struct str title, json_t *path, struct str words)
{
    const size_t n = words.n < SNIPPET_MAX ? words.n : SNIPPET_MAX;
    json_t *text = json_stringn(words.p, n);
    if (!text) /* cut within a character */
        text = json_string("");
    json_array_append_new(d->index, json_pack("{s:s%, s:s%, s:o, s:o}", "kind", kind.p, kind.n, "title", title.p,
                                              title.n, "path", path, "text", text));
}

/* ---- the navigation ---- */

static void put_nav_entry(struct buf *out, const char *path, struct str title, bool current)
{
    buf_printf(out, "<li><a href=\"%s\"%s>", path, current ? " aria-current=\"page\"" : "");
    buf_html(out, title);
    buf_lit(out, "</a>");
}

static void put_operation_entry(void *arg, const struct docs_row *row)
{
    struct buf *out = arg;
    buf_printf(out, "<li><a href=\"#%s\">", docs_member(row->operation, "operationId"));
    buf_html(out, str_z(docs_member(row->operation, "summary")));
    buf_lit(out, "</a></li>\n");
}

static char *tag_path(const char *tag)
{
    struct buf path = BUF(256);
    buf_lit(&path, "/docs/api/");
    docs_put_tag_name(tag, &path);
    buf_char(&path, '\0');
    return path.p;
}

static void put_nav_tags(const struct docs *d, const char *current, struct buf *out)
{
    size_t i;
    json_t *tag;
    json_array_foreach (json_object_get(d->document, "tags"), i, tag) {
        const char *name = docs_member(tag, "name");
        char *path = tag_path(name);
        const bool here = strcmp(path, current) == 0;
        put_nav_entry(out, path, str_z(name), here);
        if (here) {
            buf_lit(out, "<ul>\n");
            docs_each_operation(d->document, name, put_operation_entry, out);
            buf_lit(out, "</ul>");
        }
        buf_lit(out, "</li>\n");
        free(path);
    }
}

static void put_guide_entries(const char *current, const json_t *sections, struct buf *out)
{
    for (const struct docs_guide *g = docs_guides; g->name; g++) {
        char path[64];
        size_t i;
        json_t *section;
        snprintf(path, sizeof path, "/docs/%s", g->name);
        const bool here = strcmp(path, current) == 0;
        put_nav_entry(out, path, docs_title(g), here);
        if (here) {
            buf_lit(out, "<ul>\n");
            json_array_foreach (sections, i, section) {
                if (json_integer_value(json_object_get(section, "level")) != 2)
                    continue;
                buf_printf(out, "<li><a href=\"#%s\">", docs_member(section, "id"));
                buf_html(out, str_z(docs_member(section, "title")));
                buf_lit(out, "</a></li>\n");
            }
            buf_lit(out, "</ul>");
        }
        buf_lit(out, "</li>\n");
    }
}

static void put_navigation(const struct docs *d, const char *current, const json_t *sections, struct buf *out)
{
    buf_lit(out, "<ul>\n");
    put_nav_entry(out, "/docs", STR("Overview"), strcmp(current, "/docs") == 0);
    buf_lit(out, "</li>\n</ul>\n<h2>Guides</h2>\n<ul>\n");
    put_guide_entries(current, sections, out);
    buf_lit(out, "</ul>\n<h2>Reference</h2>\n<ul>\n");
    put_nav_tags(d, current, out);
    put_nav_entry(out, "/docs/errors", STR("Errors"), strcmp(current, "/docs/errors") == 0);
    buf_lit(out, "</li>\n</ul>\n");
}

/* ---- a page ---- */

/* Appends the frame up to the mark, and gives the rest. */
static struct str put_until(struct str frame, const char *mark, struct buf *out)
{
    const char *at = memmem(frame.p, frame.n, mark, strlen(mark));
    buf_put(out, frame.p, (size_t)(at - frame.p));
    return str_from(frame, (size_t)(at - frame.p) + strlen(mark));
}

/* Adds the page of that path (not taken) around the content, which it releases. */
static void add_page(struct docs *d, const char *path, struct str title, const json_t *sections, struct buf *content)
{
    struct buf page = BUF(PAGE_MAX), unused = BUF(PAGE_MAX);
    struct str rest = put_until(web_docs_frame_html[0].body[HTTP_CODING_NONE], "<!-- title -->", &page);
    buf_html(&page, title);
    rest = put_until(rest, "<!-- sandbox -->", &page);
    rest = put_until(rest, "<!-- end -->", d->options.sandbox ? &page : &unused);
    rest = put_until(rest, "<!-- navigation -->", &page);
    put_navigation(d, path, sections, &page);
    rest = put_until(rest, "<!-- content -->", &page);
    buf_str(&page, buf_view(content));
    buf_str(&page, rest);
    page.full |= content->full;
    add_document(d, mem_strdup(path), HTML, &page);
    buf_done(content);
    buf_done(&unused);
}

/* ---- guides ---- */

static void add_guide(struct docs *d, const struct docs_guide *g)
{
    size_t i;
    json_t *section;
    struct buf content = BUF(PAGE_MAX), raw = BUF(PAGE_MAX);
    char *path = mem_printf("/docs/%s", g->name);
    buf_lit(&content, "<article class=\"guide\">\n");
    json_t *sections = docs_put_guide(g, &content);
    buf_printf(&content, "<p class=\"hint\">This page as <a href=\"%s.md\">Markdown</a>.</p>\n</article>\n", path);
    json_array_foreach (sections, i, section) {
        const bool first = json_integer_value(json_object_get(section, "level")) == 1;
        const char *text = docs_member(section, "text");
        add_index(d, docs_title(g), str_z(docs_member(section, "title")),
                  first ? json_string(path) : json_sprintf("%s#%s", path, docs_member(section, "id")), str_z(text));
    }
    add_page(d, path, docs_title(g), sections, &content);
    buf_str(&raw, str_z(g->text));
    add_document(d, mem_printf("%s.md", path), MARKDOWN, &raw);
    json_decref(sections);
    free(path);
}

/* ---- the reference ---- */

/* Strings of a value, such as the names and meanings of fields. */
static void put_search_words(const json_t *value, int depth, struct buf *out)
{
    const char *name;
    size_t i;
    json_t *item;
    if (json_is_string(value))
        buf_printf(out, "%s ", json_string_value(value));
    else if (json_is_array(value) && depth < 8)
        json_array_foreach (value, i, item) {
            put_search_words(item, depth + 1, out);
        }
    else if (json_is_object(value) && depth < 8)
        json_object_foreach ((json_t *)(uintptr_t)value, name, item) {
            buf_printf(out, "%s ", name);
            put_search_words(item, depth + 1, out);
        }
}

static void index_operation(void *arg, const struct docs_row *row)
{
    struct docs *d = arg;
    struct buf words = BUF(PAGE_MAX);
    const char *status, *id = docs_member(row->operation, "operationId");
    json_t *response;
    buf_printf(&words, "%s %s %s ", id, row->path, docs_member(row->operation, "description"));
    put_search_words(json_object_get(row->operation, "parameters"), 0, &words);
    put_search_words(json_object_get(row->operation, "requestBody"), 0, &words);
    json_object_foreach (json_object_get(row->operation, "responses"), status, response) {
        buf_printf(&words, "%s ", docs_member(response, "description"));
    }
    char *path = tag_path(json_string_value(json_array_get(json_object_get(row->operation, "tags"), 0)));
    char *kind = mem_printf("%s %s", row->method, row->path);
    for (char *c = kind; *c != ' '; c++)
        *c &= ~0x20;
    add_index(d, str_z(kind), str_z(docs_member(row->operation, "summary")), json_sprintf("%s#%s", path, id),
              buf_view(&words));
    buf_done(&words);
    free(kind);
    free(path);
}

static void add_tag_page(struct docs *d, const json_t *tag)
{
    const char *name = docs_member(tag, "name");
    const struct docs_reference r = {d->document, d->options.public_url, d->options.sandbox};
    struct buf content = BUF(PAGE_MAX);
    char *path = tag_path(name);
    buf_lit(&content, "<h1>");
    buf_html(&content, str_z(name));
    buf_lit(&content, "</h1>\n");
    docs_markdown(str_z(docs_member(tag, "description")), &content);
    docs_put_operations(&r, name, &content);
    docs_each_operation(d->document, name, index_operation, d);
    add_page(d, path, str_z(name), NULL, &content);
    free(path);
}

static void add_errors_page(struct docs *d)
{
    struct buf content = BUF(PAGE_MAX);
    buf_lit(&content, "<h1>Errors</h1>\n<p>Every error has the same envelope, which <a href=\"/docs/api#errors\">the "
                      "guide</a> shows. Decide by "
                      "<code>error.code</code>; the text for people may be more exact than the one here.</p>\n");
    docs_put_errors(d->document, &content);
    add_index(d, STR("Reference"), STR("Errors"), json_string("/docs/errors"),
              STR("error code status meaning next action"));
    add_page(d, "/docs/errors", STR("Errors"), NULL, &content);
}

/* ---- the overview ---- */

static void put_guides_list(struct buf *out)
{
    buf_lit(out, "<h2 id=\"guides\">Guides</h2>\n<dl class=\"entries\">\n");
    for (const struct docs_guide *g = docs_guides; g->name; g++) {
        buf_printf(out, "<dt><a href=\"/docs/%s\">", g->name);
        buf_html(out, docs_title(g));
        buf_printf(out, "</a></dt>\n<dd>%s</dd>\n", g->about);
    }
    buf_lit(out, "</dl>\n");
}

static void put_operation_row(void *arg, const struct docs_row *row)
{
    struct buf *out = arg;
    char *path = tag_path(json_string_value(json_array_get(json_object_get(row->operation, "tags"), 0)));
    buf_printf(out, "<li><a href=\"%s#%s\">", path, docs_member(row->operation, "operationId"));
    buf_html(out, str_z(docs_member(row->operation, "summary")));
    buf_lit(out, "</a> <span>");
    docs_put_line(row, out);
    buf_lit(out, "</span></li>\n");
    free(path);
}

static void put_reference_list(const struct docs *d, struct buf *out)
{
    size_t i;
    json_t *tag;
    buf_lit(out, "<h2 id=\"reference\">Reference</h2>\n");
    json_array_foreach (json_object_get(d->document, "tags"), i, tag) {
        const char *name = docs_member(tag, "name");
        char *path = tag_path(name);
        buf_printf(out, "<h3><a href=\"%s\">%s</a></h3>\n", path, name);
        docs_markdown(str_z(docs_member(tag, "description")), out);
        buf_lit(out, "<ul class=\"operations\">\n");
        docs_each_operation(d->document, name, put_operation_row, out);
        buf_lit(out, "</ul>\n");
        free(path);
    }
}

struct scope_list {
    const char *scope;
    struct buf *out;
    int count;
};

static void put_scope_user(void *arg, const struct docs_row *row)
{
    struct scope_list *list = arg;
    size_t i;
    json_t *scope;
    json_array_foreach (json_object_get(row->operation, "x-required-scopes"), i, scope) {
        if (strcmp(json_string_value(scope), list->scope) != 0)
            continue;
        char *path = tag_path(json_string_value(json_array_get(json_object_get(row->operation, "tags"), 0)));
        buf_printf(list->out, "%s<a href=\"%s#%s\">%s</a>", list->count++ ? ", " : "", path,
                   docs_member(row->operation, "operationId"), docs_member(row->operation, "summary"));
        free(path);
    }
}

static void put_scopes_list(const struct docs *d, struct buf *out)
{
    buf_lit(out, "<h2 id=\"scopes\">Scopes</h2>\n<p>A key has scopes. Each operation says which it needs; some need "
                 "two.</p>\n<dl class=\"entries\">\n");
    for (int i = 0; i < SCOPE_COUNT; i++) {
        struct scope_list list = {scope_text((enum scope)i), out, 0};
        buf_printf(out, "<dt><code>%s</code></dt>\n<dd>", list.scope);
        docs_each_operation(d->document, NULL, put_scope_user, &list);
        buf_lit(out, "</dd>\n");
    }
    buf_lit(out, "</dl>\n");
}

static void put_setup(const struct docs *d, struct buf *out)
{
    buf_lit(out, "<h2 id=\"examples\">Running the examples</h2>\n<p>Each example runs as it is: <code>curl</code>, "
                 "JavaScript in Node.js 18 or later (as "
                 "a module), Python 3 without further packages. They read the key from the environment:</p>\n"
                 "<pre tabindex=\"0\"><code>export PORTERO_KEY=svc_agent_…</code></pre>\n<p>IDs in them are examples: "
                 "put those in place that "
                 "the service returned to you.</p>\n");
    if (d->options.sandbox)
        buf_lit(out, "<p>This is a sandbox, with a certificate of its own. In the directory that it was started in, "
                     "tell the three about it:</p>\n"
                     "<pre tabindex=\"0\"><code>export CURL_CA_BUNDLE=var/tls.crt NODE_EXTRA_CA_CERTS=var/tls.crt "
                     "SSL_CERT_FILE=var/tls.crt</code></pre>\n"
                     "<p>Each operation of the reference also has a form here that sends it to this sandbox. A key "
                     "that you enter there stays in the "
                     "page, and is gone when you leave it.</p>\n");
}

static void add_overview(struct docs *d)
{
    struct buf content = BUF(PAGE_MAX);
    buf_lit(&content, "<h1>Portero for developers</h1>\n");
    docs_markdown(str_z(docs_member(json_object_get(d->document, "info"), "description")), &content);
    put_setup(d, &content);
    put_guides_list(&content);
    put_reference_list(d, &content);
    put_scopes_list(d, &content);
    buf_lit(&content,
            "<h2 id=\"programs\">For programs</h2>\n<ul>\n<li><a href=\"/openapi.json\">OpenAPI 3.1 document</a></li>\n"
            "<li><a href=\"/llms.txt\">Contents for language models</a></li>\n</ul>\n");
    add_index(d, STR("Overview"), STR("Portero for developers"), json_string("/docs"),
              STR("scopes certificate examples key"));
    add_page(d, "/docs", STR("Portero for developers"), NULL, &content);
}

/* ---- texts for programs ---- */

/* In the form of llmstxt.org. */
static void add_llms(struct docs *d)
{
    const char *base = d->options.public_url;
    size_t i;
    json_t *tag;
    struct buf out = BUF(PAGE_MAX);
    buf_lit(&out, "# Portero\n\n> Decides who is let in at a building's entrance: access grants, the log of visits, "
                  "and the building's call "
                  "box, through a REST API.\n\nBegin with the guide for agents, which covers the whole job. The "
                  "OpenAPI document is long: prefer "
                  "the pages of the reference.\n\n## Guides\n\n");
    for (const struct docs_guide *g = docs_guides; g->name; g++)
        buf_printf(&out, "- [%.*s](%s/docs/%s.md): %s\n", STR_ARG(docs_title(g)), base, g->name, g->about);
    buf_printf(&out,
               "\n## Reference\n\n- [OpenAPI 3.1 document](%s/openapi.json): every operation, machine-readable\n"
               "- [Errors](%s/docs/errors): every code, with its meaning and what to do next\n",
               base, base);
    json_array_foreach (json_object_get(d->document, "tags"), i, tag) {
        char *path = tag_path(docs_member(tag, "name"));
        buf_printf(&out, "- [%s](%s%s): %s\n", docs_member(tag, "name"), base, path, docs_member(tag, "description"));
        free(path);
    }
    add_document(d, mem_strdup("/llms.txt"), TEXT, &out);
}

/* Search engines may read the documents of a service, and nothing of a sandbox. */
static void add_robots(struct docs *d)
{
    struct buf out = BUF(PAGE_MAX);
    buf_lit(&out, "User-agent: *\n");
    if (!d->options.sandbox)
        buf_lit(&out, "Allow: /docs\nAllow: /llms.txt\nAllow: /openapi.json\nAllow: /a/\n");
    buf_lit(&out, "Disallow: /\n");
    add_document(d, mem_strdup("/robots.txt"), TEXT, &out);
}

static void add_search(struct docs *d)
{
    struct buf out = BUF(PAGE_MAX);
    char *text = json_dumps(d->index, JSON_COMPACT);
    buf_str(&out, str_z(text));
    free(text);
    add_document(d, mem_strdup("/docs/search.json"), "application/json", &out);
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
    size_t i;
    json_t *tag;
    d->document = merge_documents(&d->options);
    d->index = json_array();
    json_array_foreach (json_object_get(d->document, "tags"), i, tag) {
        add_tag_page(d, tag);
    }
    add_errors_page(d);
    for (const struct docs_guide *g = docs_guides; g->name; g++)
        add_guide(d, g);
    add_overview(d);
    add_search(d);
    add_llms(d);
    add_robots(d);
    json_decref(d->index);
    json_decref(d->document);
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
