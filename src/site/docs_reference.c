#include "site/docs_reference.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "site/docs_code.h"
#include "site/docs_fields.h"
#include "site/docs_markdown.h"

#define CODE_MAX 65536

const char *docs_member(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

void docs_put_tag_name(const char *tag, struct buf *out)
{
    for (const char *c = tag; *c; c++)
        buf_char(out, *c == ' ' ? '-' : (char)(*c | 0x20));
}

void docs_put_line(const struct docs_row *row, struct buf *out)
{
    buf_printf(out, "<b class=\"method %s\">", row->method);
    for (const char *c = row->method; *c; c++)
        buf_char(out, (char)(*c & ~0x20));
    buf_printf(out, "</b> <code>%s</code>", row->path);
}

static bool is_tagged(const json_t *operation, const char *tag)
{
    return !tag || strcmp(json_string_value(json_array_get(json_object_get(operation, "tags"), 0)), tag) == 0;
}

static void visit_paths(const json_t *document, const char *tag, bool item,
                        void (*visit)(void *arg, const struct docs_row *row), void *arg)
{
    struct docs_row row = {0};
    json_t *methods, *operation;
    json_object_foreach (json_object_get(document, "paths"), row.path, methods) {
        if ((strchr(row.path, '{') != NULL) != item)
            continue;
        json_object_foreach (methods, row.method, operation) {
            row.operation = operation;
            if (is_tagged(operation, tag))
                visit(arg, &row);
        }
    }
}

void docs_each_operation(const json_t *document, const char *tag, void (*visit)(void *arg, const struct docs_row *row),
                         void *arg)
{
    visit_paths(document, tag, false, visit, arg);
    visit_paths(document, tag, true, visit, arg);
}

/* ---- the text of an operation ---- */

static void put_scope_links(const json_t *operation, struct buf *out)
{
    size_t i;
    json_t *scope;
    const json_t *scopes = json_object_get(operation, "x-required-scopes");
    if (!json_array_size(scopes))
        return;
    buf_lit(out, "<p class=\"needs\">");
    buf_str(out, json_array_size(scopes) > 1 ? STR("Scopes ") : STR("Scope "));
    json_array_foreach (scopes, i, scope) {
        buf_printf(out, "%s<a href=\"/docs#scopes\"><code>%s</code></a>", i ? " " : "", json_string_value(scope));
    }
    buf_lit(out, "</p>\n");
}

static void put_parameter_list(const struct docs_reference *r, const json_t *operation, struct buf *out)
{
    size_t i;
    json_t *p;
    const json_t *parameters = json_object_get(operation, "parameters");
    if (!json_array_size(parameters))
        return;
    buf_lit(out, "<h3>Parameters</h3>\n<dl class=\"entries\">\n");
    json_array_foreach (parameters, i, p) {
        const json_t *schema = json_object_get(p, "schema");
        const char *meaning = docs_member(*docs_member(p, "description") ? p : schema, "description");
        docs_put_parameter(r->document, p, schema, meaning, out);
    }
    buf_lit(out, "</dl>\n");
}

static const json_t *schema_of(const json_t *holder)
{
    return json_object_get(json_object_get(json_object_get(holder, "content"), "application/json"), "schema");
}

static void put_body_fields(const struct docs_reference *r, const json_t *operation, struct buf *out)
{
    const json_t *body = json_object_get(operation, "requestBody");
    if (!body)
        return;
    buf_str(out, json_is_true(json_object_get(body, "required")) ? STR("<h3>Body</h3>\n")
                                                                 : STR("<h3>Body, optional</h3>\n"));
    docs_put_fields(r->document, schema_of(body), out);
}

/* Headers that mean something to this response alone. */
static void put_own_headers(const json_t *response, struct buf *out)
{
    static const char *const shown[] = {"ETag", "Location", "Idempotency-Replayed"};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        const json_t *header = json_object_get(json_object_get(response, "headers"), shown[i]);
        if (header)
            buf_printf(out, "<p><code>%s</code>: %s</p>\n", shown[i], docs_member(header, "description"));
    }
}

static void put_response_list(const struct docs_reference *r, const json_t *operation, struct buf *out)
{
    const char *status;
    json_t *response;
    const json_t *seen = NULL;
    buf_lit(out, "<h3>Response</h3>\n<dl class=\"entries\">\n");
    json_object_foreach (json_object_get(operation, "responses"), status, response) {
        if (*status > '3')
            continue;
        const json_t *content = json_object_get(response, "content"), *schema = schema_of(response);
        buf_printf(out, "<dt><b class=\"status\">%s</b>", status);
        if (json_object_size(content))
            buf_printf(out, " <span class=\"type\">%s</span>",
                       json_object_iter_key(json_object_iter((json_t *)(uintptr_t)content)));
        buf_lit(out, "</dt>\n<dd>");
        if (strcmp(docs_member(response, "description"), docs_member(operation, "summary")) != 0)
            docs_markdown(str_z(docs_member(response, "description")), out);
        put_own_headers(response, out);
        if (schema && !json_equal(schema, seen)) {
            buf_lit(out, "<details><summary>Fields of the response</summary>\n");
            docs_put_fields(r->document, schema, out);
            buf_lit(out, "</details>\n");
        }
        seen = schema ? schema : seen;
        buf_lit(out, "</dd>\n");
    }
    buf_lit(out, "</dl>\n");
}

/* ---- errors ---- */

static const json_t *codes_of(const json_t *response)
{
    const json_t *parts = json_object_get(schema_of(response), "allOf");
    const json_t *more = json_object_get(json_object_get(json_array_get(parts, 1), "properties"), "error");
    return json_object_get(json_object_get(json_object_get(more, "properties"), "code"), "enum");
}

static const struct err_info *error_row(const char *code, int status)
{
    for (int e = 1; e < ERR_TABLE_END; e++)
        if (err_info((enum err)e)->status == status && strcmp(err_info((enum err)e)->code, code) == 0)
            return err_info((enum err)e);
    return NULL;
}

static void each_error(const json_t *operation, void (*visit)(void *arg, const struct err_info *info), void *arg)
{
    size_t i;
    const char *status;
    json_t *response, *code;
    json_object_foreach (json_object_get(operation, "responses"), status, response) {
        json_array_foreach (codes_of(response), i, code) {
            const struct err_info *info = error_row(json_string_value(code), (int)strtol(status, NULL, 10));
            if (info)
                visit(arg, info);
        }
    }
}

static void put_error_meaning(const struct err_info *info, struct buf *out)
{
    buf_printf(out, " <b class=\"status\">%d</b></dt>\n<dd><p>", info->status);
    buf_html(out, str_z(info->message));
    buf_lit(out, "</p><p class=\"hint\">Next: ");
    buf_html(out, str_z(info->next_action));
    buf_lit(out, "</p></dd>\n");
}

struct error_list {
    struct buf *out;
    int count;
};

static void put_error_entry(void *arg, const struct err_info *info)
{
    struct error_list *list = arg;
    list->count++;
    buf_printf(list->out, "<dt><a href=\"/docs/errors#%s-%d\"><code>%s</code></a>", info->code, info->status,
               info->code);
    put_error_meaning(info, list->out);
}

static void put_operation_errors(const json_t *operation, struct buf *out)
{
    struct buf entries = BUF(CODE_MAX);
    struct error_list list = {&entries, 0};
    each_error(operation, put_error_entry, &list);
    if (list.count)
        buf_printf(
            out,
            "<details class=\"errors\"><summary>Errors (%d)</summary>\n<dl class=\"entries\">\n%.*s</dl></details>\n",
            list.count, (int)entries.n, entries.p);
    out->full |= entries.full;
    buf_done(&entries);
}

struct error_book {
    struct buf users[ERR_TABLE_END]; /* HTML: links to the operations that answer it */
    const struct docs_row *row;
};

static void note_error_user(void *arg, const struct err_info *info)
{
    struct error_book *book = arg;
    for (int e = 1; e < ERR_TABLE_END; e++) {
        if (err_info((enum err)e) != info)
            continue;
        struct buf *users = &book->users[e];
        buf_str(users, users->n ? STR(", ") : STR(""));
        buf_lit(users, "<a href=\"/docs/api/");
        docs_put_tag_name(json_string_value(json_array_get(json_object_get(book->row->operation, "tags"), 0)), users);
        buf_printf(users, "#%s\">%s</a>", docs_member(book->row->operation, "operationId"),
                   docs_member(book->row->operation, "summary"));
    }
}

static void note_error_users(void *arg, const struct docs_row *row)
{
    struct error_book *book = arg;
    book->row = row;
    each_error(row->operation, note_error_user, book);
}

void docs_put_errors(const json_t *document, struct buf *out)
{
    struct error_book book;
    for (int e = 0; e < ERR_TABLE_END; e++)
        book.users[e] = BUF(CODE_MAX);
    docs_each_operation(document, NULL, note_error_users, &book);
    buf_lit(out, "<dl class=\"entries\">\n");
    for (int e = 1; e < ERR_TABLE_END; e++) {
        const struct err_info *info = err_info((enum err)e);
        if (book.users[e].n) {
            buf_printf(out, "<dt id=\"%s-%d\"><code>%s</code>", info->code, info->status, info->code);
            put_error_meaning(info, out);
            buf_printf(out, "<dd><details><summary>Operations</summary><p>%.*s</p></details></dd>\n",
                       (int)book.users[e].n, book.users[e].p);
        }
        out->full |= book.users[e].full;
        buf_done(&book.users[e]);
    }
    buf_lit(out, "</dl>\n");
}

/* ---- an operation ---- */

/* The example of a response, as it is sent. */
static void put_answer_example(const json_t *operation, struct buf *out)
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
        buf_printf(out,
                   "<figure class=\"answer\"><figcaption>Response <b class=\"status\">%s</b></figcaption><pre "
                   "tabindex=\"0\"><code>",
                   status);
        buf_html(out, buf_view(&text));
        buf_lit(out, "</code></pre></figure>\n");
        out->full |= text.full;
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
    struct buf *out;
};

static void put_operation(void *arg, const struct docs_row *row)
{
    const struct operation_writer *w = arg;
    struct buf *out = w->out;
    const struct docs_operation o = {w->r->base, row->method, row->path, row->operation};
    const char *id = docs_member(row->operation, "operationId");
    buf_printf(out, "<section class=\"operation\" aria-labelledby=\"%s\">\n<div class=\"told\">\n<h2 id=\"%s\">", id,
               id);
    buf_html(out, str_z(docs_member(row->operation, "summary")));
    buf_printf(out,
               " <a class=\"anchor\" href=\"#%s\" aria-label=\"Link to this operation\">#</a></h2>\n<p class=\"line\">",
               id);
    docs_put_line(row, out);
    buf_lit(out, "</p>\n");
    docs_markdown(str_z(docs_member(row->operation, "description")), out);
    put_scope_links(row->operation, out);
    put_parameter_list(w->r, row->operation, out);
    put_body_fields(w->r, row->operation, out);
    put_response_list(w->r, row->operation, out);
    put_operation_errors(row->operation, out);
    buf_lit(out, "</div>\n<div class=\"shown\">\n");
    docs_put_code(&o, out);
    put_answer_example(row->operation, out);
    if (w->r->forms)
        put_form_data(&o, out);
    buf_lit(out, "</div>\n</section>\n");
}

static void put_posted_events(const struct docs_reference *r, struct buf *out)
{
    const char *name;
    json_t *methods;
    json_object_foreach (json_object_get(r->document, "webhooks"), name, methods) {
        const json_t *event = json_object_get(methods, "post");
        buf_printf(out,
                   "<section class=\"operation\" aria-labelledby=\"%s\">\n<div class=\"told\">\n<h2 id=\"%s\">Event "
                   "<code>%s</code></h2>\n<p>",
                   docs_member(event, "operationId"), docs_member(event, "operationId"), name);
        buf_html(out, str_z(docs_member(event, "summary")));
        buf_lit(out, "</p>\n");
        docs_markdown(str_z(docs_member(event, "description")), out);
        put_parameter_list(r, event, out);
        put_body_fields(r, event, out);
        buf_lit(out, "</div>\n</section>\n");
    }
}

void docs_put_operations(const struct docs_reference *r, const char *tag, struct buf *out)
{
    struct operation_writer w = {r, out};
    docs_each_operation(r->document, tag, put_operation, &w);
    if (strcmp(tag, "Webhooks") == 0)
        put_posted_events(r, out);
}
