#include "documents/overview.h"

#include <stdlib.h>
#include <string.h>

#include "api/scopes.h"
#include "documents/markdown.h"

static void put_part(struct docs_out *out, const char *id, const char *title)
{
    docs_heading(out, 2, id);
    docs_text(out, str_z(title));
    docs_heading_end(out, 2);
}

static void put_setup(const struct docs_reference *r, struct docs_out *out)
{
    put_part(out, "examples", "Running the examples");
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
    put_part(out, "guides", "Guides");
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

static void put_operation(void *arg, const struct docs_row *row)
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

static void put_operations(const json_t *document, struct docs_out *out)
{
    size_t i;
    json_t *tag;
    put_part(out, "reference", "Reference");
    json_array_foreach (json_object_get(document, "tags"), i, tag) {
        const char *name = docs_member(tag, "name");
        char *path = docs_tag_path(name);
        docs_heading(out, 3, NULL);
        docs_link(out, path, NULL, str_z(name));
        docs_heading_end(out, 3);
        docs_markdown(str_z(docs_member(tag, "description")), out);
        docs_list(out, "ul", "operations");
        docs_each_operation(document, name, put_operation, out);
        docs_list_end(out, "ul");
        free(path);
    }
}

struct scope_list {
    const char *scope;
    struct docs_out *out;
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
        buf_str(list->out->to, list->count++ ? STR(", ") : STR(""));
        docs_put_operation_link(row, list->out);
    }
}

static void put_scopes(const json_t *document, struct docs_out *out)
{
    put_part(out, "scopes", "Scopes");
    docs_markdown(STR("A key has scopes. Each operation says which it needs; some need two."), out);
    docs_list(out, "dl", "entries");
    for (const char *const *scope = scope_values; *scope; scope++) {
        struct scope_list list = {*scope, out, 0};
        docs_entry(out, NULL);
        docs_word(out, list.scope);
        docs_told(out);
        docs_paragraph(out, NULL);
        docs_each_operation(document, NULL, put_scope_user, &list);
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
    docs_markdown(str_z(docs_member(json_object_get(r->document, "info"), "description")), out);
    put_setup(r, out);
    put_guides(out);
    put_operations(r->document, out);
    put_scopes(r->document, out);
    put_part(out, "programs", "For programs");
    docs_markdown(STR("[OpenAPI 3.1 document](/openapi.json)"), out);
    docs_markdown(STR("[Contents for language models](/llms.txt)"), out);
}
