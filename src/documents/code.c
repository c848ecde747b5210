#include "documents/code.h"

#include <string.h>

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

static void put_indent(struct buf *out, int depth)
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
            put_indent(out, depth + 1);
        else if (i)
            buf_char(out, ' ');
        put_json_value(out, item, depth + 1, l);
    }
    if (!flat)
        put_indent(out, depth);
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
        put_indent(out, depth + 1);
        json_put_str(out, str_z(name));
        buf_lit(out, ": ");
        put_json_value(out, value, depth + 1, l);
    }
    if (any)
        put_indent(out, depth);
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

static const char *member_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static void put_example_id(const char *name, struct buf *out)
{
    if (strcmp(name, "buildingId") == 0 || strcmp(name, "X-Service-Building-Id") == 0)
        buf_lit(out, FIRST_ID);
    else if (strcmp(name, "id") == 0)
        buf_lit(out, SECOND_ID);
    else
        buf_lit(out, THIRD_ID);
}

void docs_put_value(const struct docs_operation *o, const json_t *parameter, struct buf *out)
{
    const json_t *schema = json_object_get(parameter, "schema");
    const char *name = member_text(parameter, "name"), *pattern = member_text(schema, "pattern");
    if (strcmp(name, "Idempotency-Key") == 0)
        buf_printf(out, "%s" EXAMPLE_ON, member_text(o->operation, "operationId"));
    else if (strcmp(name, "If-Match") == 0)
        buf_str(out, strstr(pattern, "{64}") ? STR(SETTINGS) : STR("\"0\""));
    else if (strstr(pattern, "{24}"))
        put_example_id(name, out);
    else if (strcmp(name, "limit") == 0)
        buf_lit(out, "10");
    else
        buf_lit(out, "cs_5CsFtExample");
}

static bool is_shown(const json_t *parameter)
{
    const char *name = member_text(parameter, "name");
    return json_is_true(json_object_get(parameter, "required")) || strcmp(name, "Idempotency-Key") == 0 ||
           strcmp(name, "limit") == 0;
}

static const json_t *parameter_of(const struct docs_operation *o, struct str name)
{
    size_t i;
    json_t *p;
    json_array_foreach (json_object_get(o->operation, "parameters"), i, p)
        if (str_eq(name, str_z(member_text(p, "name"))))
            return p;
    return NULL;
}

/* The address, with values in place of {names}, and the query. */
static void put_example_url(const struct docs_operation *o, struct buf *out)
{
    struct str rest = str_z(o->path);
    buf_str(out, str_z(o->base));
    while (rest.p) {
        buf_str(out, str_cut(rest, '{', &rest));
        const json_t *p = rest.p ? parameter_of(o, str_cut(rest, '}', &rest)) : NULL;
        if (p)
            docs_put_value(o, p, out);
    }
    size_t i;
    json_t *p;
    char before = '?';
    json_array_foreach (json_object_get(o->operation, "parameters"), i, p) {
        if (strcmp(member_text(p, "in"), "query") != 0 || !is_shown(p))
            continue;
        buf_printf(out, "%c%s=", before, member_text(p, "name"));
        docs_put_value(o, p, out);
        before = '&';
    }
}

static const json_t *example_body(const struct docs_operation *o)
{
    const json_t *body = json_object_get(o->operation, "requestBody");
    return json_object_get(json_object_get(json_object_get(body, "content"), "application/json"), "example");
}

static bool needs_key(const struct docs_operation *o)
{
    return json_array_size(json_object_get(o->operation, "security")) > 0;
}

const char *docs_media(const json_t *operation)
{
    json_t *responses = json_object_get(operation, "responses");
    json_t *content = json_object_get(json_object_iter_value(json_object_iter(responses)), "content");
    return json_object_size(content) ? json_object_iter_key(json_object_iter(content)) : NULL;
}

enum answer { ANSWER_JSON, ANSWER_TEXT, ANSWER_STREAM, ANSWER_FILE };

static enum answer answer_kind(const struct docs_operation *o)
{
    const char *media = docs_media(o->operation);
    if (!media || strcmp(media, "application/json") == 0)
        return ANSWER_JSON;
    if (strcmp(media, "text/event-stream") == 0)
        return ANSWER_STREAM;
    return strncmp(media, "text/", 5) == 0 ? ANSWER_TEXT : ANSWER_FILE;
}

/* Calls `put` for each header to be sent, besides Authorization. */
static void each_header(const struct docs_operation *o, struct buf *out,
                        void (*put)(struct buf *out, const char *name, struct str value))
{
    if (example_body(o))
        put(out, "Content-Type", STR("application/json"));
    size_t i;
    json_t *p;
    json_array_foreach (json_object_get(o->operation, "parameters"), i, p) {
        if (strcmp(member_text(p, "in"), "header") != 0 || !is_shown(p))
            continue;
        struct buf value = BUF(256);
        docs_put_value(o, p, &value);
        put(out, member_text(p, "name"), buf_view(&value));
        buf_done(&value);
    }
}

static void put_upper(struct buf *out, const char *method)
{
    for (const char *c = method; *c; c++)
        buf_char(out, (char)(*c & ~0x20));
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
    const json_t *body = example_body(o);
    const enum answer answer = answer_kind(o);
    buf_lit(out, "curl ");
    if (answer == ANSWER_STREAM)
        buf_lit(out, "--no-buffer ");
    if (answer == ANSWER_FILE)
        buf_lit(out, "--output portero.wav ");
    if (!docs_media(o->operation))
        buf_lit(out, "--location ");
    if (strcmp(o->method, body ? "post" : "get") != 0) {
        buf_lit(out, "-X ");
        put_upper(out, o->method);
        buf_char(out, ' ');
    }
    put_example_url(o, &text);
    if (memchr(text.p, '?', text.n))
        put_shell_word(out, buf_view(&text));
    else
        buf_str(out, buf_view(&text));
    if (needs_key(o))
        buf_lit(out, " \\\n  -H \"Authorization: Bearer $PORTERO_KEY\"");
    each_header(o, out, put_curl_header);
    text.n = 0;
    if (body) {
        put_json_value(&text, body, 0, &json_literals);
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
    const json_t *body = example_body(o);
    buf_lit(out, "const response = await fetch(\"");
    put_example_url(o, out);
    buf_lit(out, "\", {\n  method: \"");
    put_upper(out, o->method);
    buf_lit(out, "\",\n  headers: {\n");
    if (needs_key(o))
        buf_lit(out, "    \"Authorization\": `Bearer ${process.env.PORTERO_KEY}`,\n");
    each_header(o, out, put_named_header);
    buf_lit(out, "  },\n");
    if (body) {
        buf_lit(out, "  body: JSON.stringify(");
        put_json_value(out, body, 1, &json_literals);
        buf_lit(out, "),\n");
    }
    buf_printf(out, "});\n%s", ends[answer_kind(o)]);
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
    const json_t *body = example_body(o);
    const enum answer answer = answer_kind(o);
    if (body || answer == ANSWER_JSON)
        buf_lit(out, "import json\n");
    if (needs_key(o))
        buf_lit(out, "import os\n");
    buf_lit(out, "from urllib.request import Request, urlopen\n\nrequest = Request(\n    \"");
    put_example_url(o, out);
    buf_lit(out, "\",\n    method=\"");
    put_upper(out, o->method);
    buf_lit(out, "\",\n    headers={\n");
    if (needs_key(o))
        buf_lit(out, "        \"Authorization\": \"Bearer \" + os.environ[\"PORTERO_KEY\"],\n");
    each_header(o, out, put_python_header);
    buf_lit(out, "    },\n");
    if (body) {
        buf_lit(out, "    data=json.dumps(");
        put_json_value(out, body, 2, &python_literals);
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
