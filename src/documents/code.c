#include "documents/code.h"

#include <string.h>

#include "api/openapi.h"
#include "api/openapi_prose.h"
#include "api/openapi_responses.h"
#include "documents/rows.h"

#define CODE_MAX   16384
#define DEPTH_MAX  16
#define FIRST_ID   "6b018faceb9d0c2ba6000001"
#define SECOND_ID  "6b018faceb9d0c2ba6000002"
#define THIRD_ID   "6b018faceb9d0c2ba6000003"
#define SETTINGS   "\"b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c\""
#define EXAMPLE_ON "-2026-11-20"

/* ---- JSON ---- */

struct literals {
    const char *yes, *no, *nothing;
};
static const struct literals json_literals = {"true", "false", "null"}, python_literals = {"True", "False", "None"};

static void start_line(struct buf *out, int depth)
{
    buf_char(out, '\n');
    for (int i = 0; i < depth; i++)
        buf_lit(out, "  ");
}

static bool is_flat(const json_t *list)
{
    size_t i;
    json_t *item;
    json_array_foreach (list, i, item)
        if (json_is_object(item) || json_is_array(item))
            return false;
    return true;
}

static void put_literal(struct buf *out, const json_t *value, const struct literals *l)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        json_put_str(out, str_n(json_string_value(value), json_string_length(value)));
        return;
    case JSON_INTEGER:
        buf_i64(out, json_integer_value(value));
        return;
    case JSON_REAL:
        buf_printf(out, "%g", json_real_value(value));
        return;
    case JSON_TRUE:
        buf_str(out, str_z(l->yes));
        return;
    case JSON_FALSE:
        buf_str(out, str_z(l->no));
        return;
    default:
        buf_str(out, str_z(l->nothing));
    }
}

static void put_json_value(struct buf *out, const json_t *value, int depth, const struct literals *l);

static void put_json_list(struct buf *out, const json_t *list, int depth, const struct literals *l)
{
    size_t i;
    json_t *item;
    const bool flat = is_flat(list);
    buf_char(out, '[');
    json_array_foreach (list, i, item) {
        buf_str(out, i ? STR(",") : STR(""));
        if (!flat)
            start_line(out, depth + 1);
        else if (i)
            buf_char(out, ' ');
        put_json_value(out, item, depth + 1, l);
    }
    if (!flat)
        start_line(out, depth);
    buf_char(out, ']');
}

static void put_json_object(struct buf *out, const json_t *object, int depth, const struct literals *l)
{
    const char *name;
    json_t *value;
    bool any = false;
    buf_char(out, '{');
    json_object_foreach ((json_t *)(uintptr_t)object, name, value) {
        buf_str(out, any ? STR(",") : STR(""));
        any = true;
        start_line(out, depth + 1);
        json_put_str(out, str_z(name));
        buf_lit(out, ": ");
        put_json_value(out, value, depth + 1, l);
    }
    if (any)
        start_line(out, depth);
    buf_char(out, '}');
}

static void put_json_value(struct buf *out, const json_t *value, int depth, const struct literals *l)
{
    if (depth > DEPTH_MAX)
        out->full = true;
    else if (json_is_object(value))
        put_json_object(out, value, depth, l);
    else if (json_is_array(value))
        put_json_list(out, value, depth, l);
    else
        put_literal(out, value, l);
}

void docs_put_json(const json_t *value, struct buf *out)
{
    put_json_value(out, value, 0, &json_literals);
}

/* ---- the request ---- */

void docs_operation_init(struct docs_operation *o, const char *base, const struct route *row)
{
    *o = (struct docs_operation){.base = base, .row = row};
    o->count = openapi_parameters(row, o->parameters);
    if (row->body && row->doc.body_example)
        o->body = openapi_constant(row->doc.body_example);
}

void docs_operation_done(struct docs_operation *o)
{
    json_decref(o->body);
}

static const char *example_id(const char *name)
{
    if (strcmp(name, "buildingId") == 0)
        return FIRST_ID;
    return strcmp(name, "id") == 0 ? SECOND_ID : THIRD_ID;
}

void docs_put_value(const struct route *row, const struct parameter *parameter, struct buf *out)
{
    const struct field *f = parameter->field;
    switch (parameter->kind) {
    case PARAMETER_KEY:
        buf_printf(out, "%s" EXAMPLE_ON, row->operation_id);
        return;
    case PARAMETER_GRANT_VERSION:
        buf_lit(out, "\"0\"");
        return;
    case PARAMETER_SETTINGS_VERSION:
        buf_lit(out, SETTINGS);
        return;
    case PARAMETER_BUILDING:
        buf_lit(out, FIRST_ID);
        return;
    default:
        buf_str(out, str_z(f->type == T_ID                 ? example_id(f->name)
                           : strcmp(f->name, "limit") == 0 ? "10"
                                                           : "cs_5CsFtExample"));
    }
}

static bool is_shown(const struct parameter *p)
{
    return p->field->flags & F_REQUIRED || p->kind == PARAMETER_KEY || strcmp(p->field->name, "limit") == 0;
}

/* The address, with values in place of {names}, which are the first parameters in their order, and the query. */
static void put_example_url(const struct docs_operation *o, struct buf *out)
{
    struct str rest = str_z(o->row->path);
    char before = '?';
    buf_str(out, str_z(o->base));
    for (size_t i = 0; rest.p; i++) {
        buf_str(out, str_cut(rest, '{', &rest));
        if (rest.p) {
            (void)str_cut(rest, '}', &rest);
            docs_put_value(o->row, &o->parameters[i], out);
        }
    }
    for (size_t i = 0; i < o->count; i++) {
        const struct parameter *p = &o->parameters[i];
        if (p->kind != PARAMETER_QUERY || !is_shown(p))
            continue;
        buf_printf(out, "%c%s=", before, p->field->name);
        docs_put_value(o->row, p, out);
        before = '&';
    }
}

enum answer { ANSWER_JSON, ANSWER_TEXT, ANSWER_STREAM, ANSWER_FILE };

static enum answer answer_kind(const struct route *row)
{
    const struct str media = openapi_media(row);
    if (!media.p || str_eq(media, STR("application/json")))
        return ANSWER_JSON;
    if (str_eq(media, STR("text/event-stream")))
        return ANSWER_STREAM;
    return str_starts(media, STR("text/")) ? ANSWER_TEXT : ANSWER_FILE;
}

/* Calls `put` for each header to be sent, besides Authorization. */
static void each_header(const struct docs_operation *o, struct buf *out,
                        void (*put)(struct buf *out, const char *name, struct str value))
{
    if (o->body)
        put(out, "Content-Type", STR("application/json"));
    for (size_t i = 0; i < o->count; i++) {
        const struct parameter *p = &o->parameters[i];
        if (strcmp(p->in, "header") != 0 || !is_shown(p))
            continue;
        struct buf value = BUF(256);
        docs_put_value(o->row, p, &value);
        put(out, p->field->name, buf_view(&value));
        buf_done(&value);
    }
}

/* ---- curl ---- */

/* Within single quotes. */
static void put_shell_word(struct buf *out, struct str text)
{
    buf_char(out, '\'');
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\'')
            buf_lit(out, "'\\''");
        else
            buf_char(out, text.p[i]);
    buf_char(out, '\'');
}

static void put_curl_header(struct buf *out, const char *name, struct str value)
{
    struct buf line = BUF(512);
    buf_printf(&line, "%s: ", name);
    buf_str(&line, value);
    buf_lit(out, " \\\n  -H ");
    put_shell_word(out, buf_view(&line));
    buf_done(&line);
}

static void put_curl(const struct docs_operation *o, struct buf *out)
{
    struct buf text = BUF(CODE_MAX);
    const enum answer answer = answer_kind(o->row);
    buf_lit(out, "curl ");
    if (answer == ANSWER_STREAM)
        buf_lit(out, "--no-buffer ");
    if (answer == ANSWER_FILE)
        buf_lit(out, "--output portero.wav ");
    if (!openapi_media(o->row).p)
        buf_lit(out, "--location ");
    if (o->row->method != (o->body ? HTTP_POST : HTTP_GET)) {
        buf_lit(out, "-X ");
        buf_str(out, http_method_names[o->row->method]);
        buf_char(out, ' ');
    }
    put_example_url(o, &text);
    if (memchr(text.p, '?', text.n))
        put_shell_word(out, buf_view(&text));
    else
        buf_str(out, buf_view(&text));
    if (route_needs_key(o->row))
        buf_lit(out, " \\\n  -H \"Authorization: Bearer $PORTERO_KEY\"");
    each_header(o, out, put_curl_header);
    text.n = 0;
    if (o->body) {
        put_json_value(&text, o->body, 0, &json_literals);
        buf_lit(out, " \\\n  -d ");
        put_shell_word(out, buf_view(&text));
    }
    buf_done(&text);
}

/* ---- JavaScript ---- */

static void put_named_header(struct buf *out, const char *name, struct str value)
{
    buf_printf(out, "    \"%s\": ", name);
    json_put_str(out, value);
    buf_lit(out, ",\n");
}

static void put_javascript(const struct docs_operation *o, struct buf *out)
{
    static const char *const ends[] = {
        [ANSWER_JSON] = "console.log(response.status, await response.json());",
        [ANSWER_TEXT] = "console.log(response.status, await response.text());",
        [ANSWER_STREAM] = ("const decoder = new TextDecoder();\nfor await (const chunk of response.body) {\n"
                           "  console.log(decoder.decode(chunk, { stream: true }));\n}"),
        [ANSWER_FILE] = "const sound = await response.arrayBuffer();\nconsole.log(response.status, sound.byteLength);"};
    buf_lit(out, "const response = await fetch(\"");
    put_example_url(o, out);
    buf_lit(out, "\", {\n  method: \"");
    buf_str(out, http_method_names[o->row->method]);
    buf_lit(out, "\",\n  headers: {\n");
    if (route_needs_key(o->row))
        buf_lit(out, "    \"Authorization\": `Bearer ${process.env.PORTERO_KEY}`,\n");
    each_header(o, out, put_named_header);
    buf_lit(out, "  },\n");
    if (o->body) {
        buf_lit(out, "  body: JSON.stringify(");
        put_json_value(out, o->body, 1, &json_literals);
        buf_lit(out, "),\n");
    }
    buf_printf(out, "});\n%s", ends[answer_kind(o->row)]);
}

/* ---- Python ---- */

static void put_python_header(struct buf *out, const char *name, struct str value)
{
    buf_lit(out, "    ");
    put_named_header(out, name, value);
}

static void put_python(const struct docs_operation *o, struct buf *out)
{
    static const char *const ends[] = {
        [ANSWER_JSON] = "    print(response.status, json.dumps(json.load(response), indent=2))",
        [ANSWER_TEXT] = "    print(response.status, response.read().decode())",
        [ANSWER_STREAM] = "    for line in response:\n        print(line.decode(), end=\"\", flush=True)",
        [ANSWER_FILE] = "    print(response.status, len(response.read()))"};
    const enum answer answer = answer_kind(o->row);
    if (o->body || answer == ANSWER_JSON)
        buf_lit(out, "import json\n");
    if (route_needs_key(o->row))
        buf_lit(out, "import os\n");
    buf_lit(out, "from urllib.request import Request, urlopen\n\nrequest = Request(\n    \"");
    put_example_url(o, out);
    buf_lit(out, "\",\n    method=\"");
    buf_str(out, http_method_names[o->row->method]);
    buf_lit(out, "\",\n    headers={\n");
    if (route_needs_key(o->row))
        buf_lit(out, "        \"Authorization\": \"Bearer \" + os.environ[\"PORTERO_KEY\"],\n");
    each_header(o, out, put_python_header);
    buf_lit(out, "    },\n");
    if (o->body) {
        buf_lit(out, "    data=json.dumps(");
        put_json_value(out, o->body, 2, &python_literals);
        buf_lit(out, ").encode(),\n");
    }
    buf_printf(out, ")\nwith urlopen(request) as response:\n%s", ends[answer]);
}

static const struct {
    const char *id, *name, *fence;
    void (*put)(const struct docs_operation *o, struct buf *out);
} languages[] = {{"curl", "curl", "sh", put_curl},
                 {"javascript", "JavaScript", "js", put_javascript},
                 {"python", "Python", "python", put_python}};

void docs_put_code(const struct docs_operation *o, struct docs_out *out)
{
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        struct buf code = BUF(CODE_MAX);
        languages[i].put(o, &code);
        docs_html(out, "<details class=\"sample\" data-language=\"%s\"%s><summary>%s</summary>", languages[i].id,
                  i ? "" : " open", languages[i].name);
        docs_pre(out, languages[i].fence, buf_view(&code));
        docs_html(out, "</details>\n");
        out->to->full |= code.full;
        buf_done(&code);
    }
}
