#include "documents/overview.h"

#include <stdlib.h>
#include <string.h>

#include "api/openapi_prose.h"
#include "api/scopes.h"
#include "documents/markdown.h"

static void put_chapter(struct docs_out *out, const char *id, const char *title)
{
    docs_heading(out, 2, id);
    docs_text(out, str_z(title));
    docs_heading_end(out, 2);
}

static void put_setup(const struct docs_reference *r, struct docs_out *out)
{
    put_chapter(out, "examples", "Running the examples");
    docs_markdown(STR("Each example runs as it is: `curl`, JavaScript in Node.js 18 or later (as a module), Python 3 "
                      "without further packages. They read the key from the environment:"),
                  out);
    docs_pre(out, "sh", STR("export PORTERO_KEY=svc_agent_…"));
    docs_markdown(STR("IDs in them are examples: put those in place that the service returned to you."), out);
    if (!r->sandbox)
        return;
    docs_markdown(STR("This is a sandbox, with a certificate of its own. In the directory that it was started in, tell "
                      "the three about it:"),
                  out);
    docs_pre(out, "sh",
             STR("export CURL_CA_BUNDLE=var/tls.crt NODE_EXTRA_CA_CERTS=var/tls.crt SSL_CERT_FILE=var/tls.crt"));
    docs_markdown(STR("Each operation of the reference also has a form here that sends it to this sandbox. A key that "
                      "you enter there stays in the page, and is gone when you leave it."),
                  out);
}

static void put_guides(struct docs_out *out)
{
    put_chapter(out, "guides", "Guides");
    docs_list(out, "dl", "entries");
    for (const struct docs_guide *g = docs_guides; g->name; g++) {
        char path[64];
        snprintf(path, sizeof path, "/docs/%s", g->name);
        docs_entry(out, NULL);
        docs_link(out, path, NULL, docs_title(g));
        docs_told(out);
        docs_markdown(str_z(g->about), out);
        docs_entry_end(out);
    }
    docs_list_end(out, "dl");
}

static void put_operation(void *arg, const struct route *row)
{
    struct docs_out *out = arg;
    docs_item(out);
    docs_put_operation_link(row, out);
    docs_html(out, " <span>");
    buf_str(out->to, out->markdown ? STR(": ") : STR(""));
    docs_put_line(row, out);
    docs_html(out, "</span>");
    docs_item_end(out);
}

static void put_operations(const struct docs_reference *r, struct docs_out *out)
{
    put_chapter(out, "reference", "Reference");
    for (size_t i = 0; i < r->tag_count; i++) {
        char *path = docs_tag_path(r->tags[i]);
        docs_heading(out, 3, NULL);
        docs_link(out, path, NULL, str_z(r->tags[i]));
        docs_heading_end(out, 3);
        docs_markdown(str_z(openapi_tag(r->tags[i])), out);
        docs_list(out, "ul", "operations");
        docs_each_operation(r, r->tags[i], put_operation, out);
        docs_list_end(out, "ul");
        free(path);
    }
}

struct scope_list {
    enum scope scope;
    struct docs_out *out;
    int count;
};

static void put_scope_user(void *arg, const struct route *row)
{
    struct scope_list *list = arg;
    if (!(row->scopes & 1u << list->scope))
        return;
    buf_str(list->out->to, list->count++ ? STR(", ") : STR(""));
    docs_put_operation_link(row, list->out);
}

static void put_scope_list(const struct docs_reference *r, struct docs_out *out)
{
    put_chapter(out, "scopes", "Scopes");
    docs_markdown(STR("A key has scopes. Each operation says which it needs; some need two."), out);
    docs_list(out, "dl", "entries");
    for (enum scope scope = 0; scope < SCOPE_COUNT; scope++) {
        if (str_index(str_z(scope_text(scope)), scope_values) < 0)
            continue;
        struct scope_list list = {scope, out, 0};
        docs_entry(out, NULL);
        docs_word(out, scope_text(scope));
        docs_told(out);
        docs_paragraph(out, NULL);
        docs_each_operation(r, NULL, put_scope_user, &list);
        docs_paragraph_end(out);
        docs_entry_end(out);
    }
    docs_list_end(out, "dl");
}

void docs_put_overview(const struct docs_reference *r, struct docs_out *out)
{
    docs_heading(out, 1, NULL);
    buf_lit(out->to, DOCS_OVERVIEW_TITLE);
    docs_heading_end(out, 1);
    docs_markdown(str_z(r->description), out);
    put_setup(r, out);
    put_guides(out);
    put_operations(r, out);
    put_scope_list(r, out);
    put_chapter(out, "programs", "For programs");
    docs_markdown(STR("[OpenAPI 3.1 document](/openapi.json)"), out);
    docs_markdown(STR("[Contents for language models](/llms.txt)"), out);
}
