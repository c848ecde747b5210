#include "documents/reference.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "documents/code.h"
#include "documents/errors.h"
#include "documents/fields.h"
#include "documents/markdown.h"

#define CODE_MAX 65536

static void put_scope_links(const json_t *operation, struct docs_out *out)
{
    size_t i;
    json_t *scope;
    const json_t *scopes = json_object_get(operation, "x-required-scopes");
    if (!json_array_size(scopes))
        return;
    docs_paragraph(out, "needs");
    buf_str(out->to, json_array_size(scopes) > 1 ? STR("Scopes") : STR("Scope"));
    json_array_foreach (scopes, i, scope) {
        buf_char(out->to, ' ');
        docs_link_word(out, "/docs", "scopes", json_string_value(scope));
    }
    docs_paragraph_end(out);
}

static void put_part(struct docs_out *out, const char *title)
{
    docs_heading(out, 3, NULL);
    docs_text(out, str_z(title));
    docs_heading_end(out, 3);
}

static void put_parameter_list(const struct docs_reference *r, const json_t *operation, struct docs_out *out)
{
    size_t i;
    json_t *p;
    const json_t *parameters = json_object_get(operation, "parameters");
    if (!json_array_size(parameters))
        return;
    put_part(out, "Parameters");
    docs_list(out, "dl", "entries");
    json_array_foreach (parameters, i, p) {
        const json_t *schema = json_object_get(p, "schema");
        const char *meaning = docs_member(*docs_member(p, "description") ? p : schema, "description");
        docs_put_parameter(r->document, p, schema, meaning, out);
    }
    docs_list_end(out, "dl");
}

static void put_body_fields(const struct docs_reference *r, const json_t *operation, struct docs_out *out)
{
    const json_t *body = json_object_get(operation, "requestBody");
    if (!body)
        return;
    put_part(out, json_is_true(json_object_get(body, "required")) ? "Body" : "Body, optional");
    docs_put_fields(r->document, docs_schema(body), out);
}

/* Headers that mean something to this response alone. */
static void put_own_headers(const json_t *response, struct docs_out *out)
{
    static const char *const shown[] = {"ETag", "Location", "Idempotency-Replayed"};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const json_t *header = json_object_get(json_object_get(response, "headers"), shown[i]);
        if (!header)
            continue;
        docs_paragraph(out, NULL);
        docs_word(out, shown[i]);
        buf_printf(out->to, ": %s", docs_member(header, "description"));
        docs_paragraph_end(out);
    }
}

static void put_response_list(const struct docs_reference *r, const json_t *operation, struct docs_out *out)
{
    const char *status;
    json_t *response;
    const json_t *seen = NULL;
    put_part(out, "Response");
    docs_list(out, "dl", "entries");
    json_object_foreach (json_object_get(operation, "responses"), status, response) {
        if (*status > '3')
            continue;
        const json_t *content = json_object_get(response, "content"), *schema = docs_schema(response);
        docs_entry(out, NULL);
        docs_strong(out, "status", status);
        if (json_object_size(content)) {
            buf_char(out->to, ' ');
            docs_aside(out);
            buf_str(out->to, str_z(json_object_iter_key(json_object_iter((json_t *)(uintptr_t)content))));
            docs_aside_end(out);
        }
        docs_told(out);
        if (strcmp(docs_member(response, "description"), docs_member(operation, "summary")) != 0)
            docs_markdown(str_z(docs_member(response, "description")), out);
        put_own_headers(response, out);
        if (schema && !json_equal(schema, seen)) {
            docs_fold(out, NULL, false);
            buf_lit(out->to, "Fields of the response");
            docs_fold_told(out);
            docs_put_fields(r->document, schema, out);
            docs_fold_end(out);
        }
        seen = schema ? schema : seen;
        docs_entry_end(out);
    }
    docs_list_end(out, "dl");
}

/* ---- an operation ---- */

/* The example of a response, as it is sent. */
static void put_answer_example(const json_t *operation, struct docs_out *out)
{
    const char *status;
    json_t *response;
    json_object_foreach (json_object_get(operation, "responses"), status, response) {
        const json_t *media = json_object_get(json_object_get(response, "content"), "application/json");
        const json_t *example = json_object_get(media, "example");
        if (!example)
            continue;
        struct buf text = BUF(CODE_MAX);
        docs_put_json(example, &text);
        docs_html(out, "<figure class=\"answer\"><figcaption>");
        buf_str(out->to, out->markdown ? STR("\nResponse ") : STR("Response "));
        docs_strong(out, "status", status);
        docs_html(out, "</figcaption>");
        buf_str(out->to, out->markdown ? STR(":\n") : STR(""));
        docs_pre(out, "json", buf_view(&text));
        docs_html(out, "</figure>\n");
        out->to->full |= text.full;
        buf_done(&text);
        return;
    }
}

/* For the script that sends the operation: what it needs besides a key. */
static void put_form_data(const struct docs_operation *o, struct buf *out)
{
    size_t i;
    json_t *p, *fields = json_array();
    json_array_foreach (json_object_get(o->operation, "parameters"), i, p) {
        struct buf value = BUF(256);
        docs_put_value(o, p, &value);
        json_array_append_new(
            fields, json_pack("{s:s, s:s, s:b, s:s%}", "name", docs_member(p, "name"), "in", docs_member(p, "in"),
                              "required", json_is_true(json_object_get(p, "required")), "example", value.p, value.n));
        buf_done(&value);
    }
    const json_t *body = json_object_get(o->operation, "requestBody");
    json_t *example = json_object_get(json_object_get(json_object_get(body, "content"), "application/json"), "example");
    json_t *data = json_pack("{s:s, s:s, s:b, s:o, s:O?}", "method", o->method, "path", o->path, "key",
                             json_array_size(json_object_get(o->operation, "security")) > 0, "parameters", fields,
                             "body", example);
    if (body && !example)
        json_object_set_new(data, "body", json_object());
    char *text = json_dumps(data, JSON_COMPACT);
    buf_lit(out, "<div class=\"send\" data-operation=\"");
    buf_html(out, str_z(text));
    buf_lit(out, "\"></div>\n");
    free(text);
    json_decref(data);
}

struct operation_writer {
    const struct docs_reference *r;
    struct docs_out *out;
};

static void put_operation(void *arg, const struct docs_row *row)
{
    const struct operation_writer *w = arg;
    struct docs_out *out = w->out;
    const struct docs_operation o = {w->r->base, row->method, row->path, row->operation};
    const char *id = docs_member(row->operation, "operationId");
    docs_html(out, "<section class=\"operation\" aria-labelledby=\"%s\">\n<div class=\"told\">\n", id);
    docs_heading(out, 2, id);
    docs_text(out, str_z(docs_member(row->operation, "summary")));
    docs_html(out, " <a class=\"anchor\" href=\"#%s\" aria-label=\"Link to this operation\">#</a>", id);
    docs_heading_end(out, 2);
    docs_paragraph(out, "line");
    docs_put_line(row, out);
    docs_paragraph_end(out);
    docs_markdown(str_z(docs_member(row->operation, "description")), out);
    put_scope_links(row->operation, out);
    put_parameter_list(w->r, row->operation, out);
    put_body_fields(w->r, row->operation, out);
    put_response_list(w->r, row->operation, out);
    docs_put_operation_errors(row->operation, out);
    docs_html(out, "</div>\n<div class=\"shown\">\n");
    docs_put_code(&o, out);
    put_answer_example(row->operation, out);
    if (w->r->sandbox && !out->markdown)
        put_form_data(&o, out->to);
    docs_html(out, "</div>\n</section>\n");
}

static void put_posted_events(const struct docs_reference *r, struct docs_out *out)
{
    const char *name;
    json_t *methods;
    json_object_foreach (json_object_get(r->document, "webhooks"), name, methods) {
        const json_t *event = json_object_get(methods, "post");
        const char *id = docs_member(event, "operationId");
        docs_html(out, "<section class=\"operation\" aria-labelledby=\"%s\">\n<div class=\"told\">\n", id);
        docs_heading(out, 2, id);
        buf_lit(out->to, "Event ");
        docs_word(out, name);
        docs_heading_end(out, 2);
        docs_paragraph(out, NULL);
        docs_text(out, str_z(docs_member(event, "summary")));
        docs_paragraph_end(out);
        docs_markdown(str_z(docs_member(event, "description")), out);
        put_parameter_list(r, event, out);
        put_body_fields(r, event, out);
        docs_html(out, "</div>\n</section>\n");
    }
}

void docs_put_tag(const struct docs_reference *r, const json_t *tag, struct docs_out *out)
{
    struct operation_writer w = {r, out};
    const char *name = docs_member(tag, "name");
    docs_heading(out, 1, NULL);
    docs_text(out, str_z(name));
    docs_heading_end(out, 1);
    docs_markdown(str_z(docs_member(tag, "description")), out);
    docs_each_operation(r->document, name, put_operation, &w);
    if (strcmp(name, "Webhooks") == 0)
        put_posted_events(r, out);
}
