#include "documents/reference.h"

#include <stdlib.h>
#include <string.h>

#include "api/openapi_events.h"
#include "api/openapi_prose.h"
#include "api/openapi_responses.h"
#include "documents/code.h"
#include "documents/errors.h"
#include "documents/fields.h"
#include "documents/markdown.h"

#define CODE_MAX 65536
#define TEXT_MAX 16384

static void put_scope_links(const struct route *row, struct docs_out *out)
{
    if (!row->scopes)
        return;
    docs_paragraph(out, "needs");
    buf_str(out->to, __builtin_popcount(row->scopes) > 1 ? STR("Scopes") : STR("Scope"));
    for (enum scope scope = 0; scope < SCOPE_COUNT; scope++) {
        if (!(row->scopes & 1u << scope))
            continue;
        buf_char(out->to, ' ');
        docs_link_word(out, "/docs", "scopes", scope_text(scope));
    }
    docs_paragraph_end(out);
}

static void put_part(struct docs_out *out, const char *title)
{
    docs_heading(out, 3, NULL);
    docs_text(out, str_z(title));
    docs_heading_end(out, 3);
}

static void put_parameter_list(const struct parameter *all, size_t count, struct docs_out *out)
{
    if (!count)
        return;
    put_part(out, "Parameters");
    docs_list(out, "dl", "entries");
    for (size_t i = 0; i < count; i++)
        docs_put_parameter(&all[i], out);
    docs_list_end(out, "dl");
}

static void put_body_fields(const struct route *row, struct docs_out *out)
{
    if (!row->body)
        return;
    put_part(out, row->body_optional ? "Body, optional" : "Body");
    docs_put_fields(row->body, SCHEMA_REQUEST, out);
}

/* ---- responses ---- */

/* Headers that mean something to this response alone. */
static void put_own_headers(const struct route *row, int status, struct docs_out *out)
{
    static const char *const shown[] = {"ETag", "Location", "Idempotency-Replayed", NULL};
    struct response_header all[RESPONSE_HEADERS_MAX];
    const size_t count = openapi_headers(row, status, all);
    for (size_t i = 0; i < count; i++) {
        if (str_index(str_z(all[i].name), shown) < 0)
            continue;
        docs_paragraph(out, NULL);
        docs_word(out, all[i].name);
        buf_printf(out->to, ": %s", all[i].doc);
        docs_paragraph_end(out);
    }
}

static void put_response(const struct route *row, int status, struct docs_out *out)
{
    char number[12];
    const struct str media = openapi_media(row);
    const char *text = openapi_success_text(row, status);
    snprintf(number, sizeof number, "%d", status);
    docs_entry(out, NULL);
    docs_strong(out, "status", number);
    if (media.p) {
        buf_char(out->to, ' ');
        docs_aside(out);
        buf_str(out->to, media);
        docs_aside_end(out);
    }
    docs_told(out);
    if (text != row->doc.summary)
        docs_markdown(str_z(text), out);
    put_own_headers(row, status, out);
    if (row->reply && status == row->doc.status) {
        docs_fold(out, NULL, false);
        buf_lit(out->to, "Fields of the response");
        docs_fold_told(out);
        docs_put_fields(row->reply, SCHEMA_REPLY, out);
        docs_fold_end(out);
    }
    docs_entry_end(out);
}

static void put_response_list(const struct route *row, struct docs_out *out)
{
    int all[SUCCESSES_MAX];
    const size_t count = openapi_successes(row, all);
    put_part(out, "Response");
    docs_list(out, "dl", "entries");
    for (size_t i = 0; i < count; i++)
        put_response(row, all[i], out);
    docs_list_end(out, "dl");
}

/* ---- an operation ---- */

/* The example of a response, as it is sent. */
static void put_answer_example(const struct docs_reference *r, const struct route *row, struct docs_out *out)
{
    const json_t *example = row->reply ? json_object_get(r->examples, row->operation_id) : NULL;
    char number[12];
    if (!example)
        return;
    struct buf text = BUF(CODE_MAX);
    docs_put_json(example, &text);
    snprintf(number, sizeof number, "%d", row->doc.status);
    docs_html(out, "<figure class=\"answer\"><figcaption>");
    buf_str(out->to, out->markdown ? STR("\nResponse ") : STR("Response "));
    docs_strong(out, "status", number);
    docs_html(out, "</figcaption>");
    buf_str(out->to, out->markdown ? STR(":\n") : STR(""));
    docs_pre(out, "json", buf_view(&text));
    docs_html(out, "</figure>\n");
    out->to->full |= text.full;
    buf_done(&text);
}

/* For the script that sends the operation: what it needs besides a key. */
static void put_form_data(const struct docs_operation *o, struct buf *out)
{
    char path[OPENAPI_PATH_MAX];
    json_t *fields = json_array();
    openapi_path(o->row, path);
    for (size_t i = 0; i < o->count; i++) {
        const struct parameter *p = &o->parameters[i];
        struct buf value = BUF(256);
        docs_put_value(o->row, p, &value);
        json_array_append_new(fields, json_pack("{s:s, s:s, s:b, s:s%}", "name", p->field->name, "in", p->in,
                                                "required", p->field->flags & F_REQUIRED, "example", value.p, value.n));
        buf_done(&value);
    }
    json_t *data = json_pack("{s:s, s:s, s:b, s:o, s:O?}", "method", openapi_method(o->row), "path", path, "key",
                             route_needs_key(o->row), "parameters", fields, "body", o->body);
    if (o->row->body && !o->body)
        json_object_set_new(data, "body", json_object());
    char *text = json_dumps(data, JSON_COMPACT);
    buf_lit(out, "<div class=\"send\" data-operation=\"");
    buf_html(out, str_z(text));
    buf_lit(out, "\"></div>\n");
    free(text);
    json_decref(data);
}

static void put_prose(const struct route *row, struct docs_out *out)
{
    struct buf text = BUF(TEXT_MAX);
    openapi_describe(row, &text);
    docs_markdown(buf_view(&text), out);
    out->to->full |= text.full;
    buf_done(&text);
}

struct operation_writer {
    const struct docs_reference *r;
    struct docs_out *out;
};

static void put_section(void *arg, const struct route *row)
{
    const struct operation_writer *w = arg;
    struct docs_out *out = w->out;
    struct docs_operation o;
    docs_operation_init(&o, w->r->base, row);
    docs_html(out, "<section class=\"operation\" aria-labelledby=\"%s\">\n<div class=\"told\">\n", row->operation_id);
    docs_heading(out, 2, row->operation_id);
    docs_text(out, str_z(row->doc.summary));
    docs_html(out, " <a class=\"anchor\" href=\"#%s\" aria-label=\"Link to this operation\">#</a>", row->operation_id);
    docs_heading_end(out, 2);
    docs_paragraph(out, "line");
    docs_put_line(row, out);
    docs_paragraph_end(out);
    put_prose(row, out);
    put_scope_links(row, out);
    put_parameter_list(o.parameters, o.count, out);
    put_body_fields(row, out);
    put_response_list(row, out);
    docs_put_operation_errors(row, out);
    docs_html(out, "</div>\n<div class=\"shown\">\n");
    docs_put_code(&o, out);
    put_answer_example(w->r, row, out);
    if (w->r->sandbox && !out->markdown)
        put_form_data(&o, out->to);
    docs_html(out, "</div>\n</section>\n");
    docs_operation_done(&o);
}

/* ---- events ---- */

static void put_posted_event(const struct posted_event *event, struct docs_out *out)
{
    size_t count = 0;
    while (openapi_event_parameters[count].field)
        count++;
    docs_html(out, "<section class=\"operation\" aria-labelledby=\"%s\">\n<div class=\"told\">\n", event->operation_id);
    docs_heading(out, 2, event->operation_id);
    buf_lit(out->to, "Event ");
    docs_word(out, event->name);
    docs_heading_end(out, 2);
    docs_paragraph(out, NULL);
    docs_text(out, str_z(event->summary));
    docs_paragraph_end(out);
    docs_markdown(str_z(event->description), out);
    put_parameter_list(openapi_event_parameters, count, out);
    put_part(out, "Body");
    docs_put_fields(&event->body, SCHEMA_REPLY, out);
    docs_html(out, "</div>\n</section>\n");
}

void docs_put_tag(const struct docs_reference *r, const char *tag, struct docs_out *out)
{
    struct operation_writer w = {r, out};
    struct posted_event event;
    docs_heading(out, 1, NULL);
    docs_text(out, str_z(tag));
    docs_heading_end(out, 1);
    docs_markdown(str_z(openapi_tag(tag)), out);
    docs_each_operation(r, tag, put_section, &w);
    for (size_t i = 0; strcmp(tag, "Webhooks") == 0 && openapi_event(i, &event); i++)
        put_posted_event(&event, out);
}
