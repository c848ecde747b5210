#include "client/operation_input.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/complain.h"
#include "client/day_words.h"
#include "client/pass_words.h"

#define BODY_MAX (1U << 20)

/* ---- one value ---- */

static json_t *read_integer(const char *text)
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    return errno || end == text || *end ? NULL : json_integer(value);
}

static json_t *read_words(const char *text)
{
    json_t *words = json_array();
    for (struct str rest = str_z(text), word; rest.p;) {
        word = str_trim(str_cut(rest, ',', &rest));
        json_array_append_new(words, json_stringn(word.p, word.n));
    }
    return words;
}

static json_t *read_json(const char *text)
{
    json_t *value = NULL;
    return json_read(str_z(text), &value) ? NULL : value;
}

/* The text as a value of the field's type, NULL if it is not one. Ranges and forms are not checked here. */
static json_t *read_option_value(const struct field *f, const char *text)
{
    if (f->flags & F_NULLABLE && !strcmp(text, "null"))
        return json_null();
    switch (f->type) {
    case T_INT:
    case T_NUMBER:
        return read_integer(text);
    case T_BOOL:
        return !strcmp(text, "true") ? json_true() : !strcmp(text, "false") ? json_false() : NULL;
    case T_STRINGS:
        return f->values == day_words_names ? day_words_read(str_z(text)) : read_words(text);
    case T_OBJECT:
    case T_OBJECTS:
        return read_json(text);
    case T_STRING:
    case T_ID:
    case T_TIME:
        break;
    }
    return json_string(text);
}

static const char *name_of_kind(const struct field *f)
{
    return f->type == T_BOOL ? "true or false" : f->type == T_INT || f->type == T_NUMBER ? "an integer" : "valid";
}

/* ---- query and body ---- */

/* The object of the flag's field, which is created. */
static json_t *object_of(const struct operation_flag *flag, const struct operation_input *in)
{
    json_t *root = flag->in_query ? in->query : in->body;
    if (!flag->path[1])
        return root;
    json_t *inner = json_object_get(root, flag->path[0]->name);
    if (!json_is_object(inner)) {
        inner = json_object();
        json_object_set_new(root, flag->path[0]->name, inner);
    }
    return inner;
}

static int set_values(const struct operation *o, const struct operation_options *given, struct operation_input *in)
{
    for (size_t i = 0; i < o->flag_count; i++) {
        const struct operation_flag *flag = &o->flags[i];
        const struct field *f = flag->path[1] ? flag->path[1] : flag->path[0];
        if (!given->values[i])
            continue;
        json_t *value = read_option_value(f, given->values[i]);
        if (!value) {
            complain("%s: --%s must be %s", o->command.name, o->command.options[i].name, name_of_kind(f));
            return EXIT_USAGE;
        }
        json_object_set_new(object_of(flag, in), f->name, value);
    }
    return EXIT_DONE;
}

/* Fields that can only have one value. */
static void set_constants(const struct shape *shape, json_t *body)
{
    for (size_t i = 0; i < shape->field_count; i++) {
        const struct field *f = &shape->fields[i];
        if ((f->flags & (F_CONST | F_REQUIRED)) == (F_CONST | F_REQUIRED) && f->type == T_STRING)
            json_object_set_new(body, f->name, json_string(f->values[0]));
    }
}

static bool is_body_given(const struct operation *o, const struct operation_options *given)
{
    for (size_t i = 0; i < o->flag_count; i++)
        if (given->values[i] && !o->flags[i].in_query)
            return true;
    return given->body != NULL;
}

/* The text after --body: JSON, @FILE, or - for standard input. */
static json_t *read_given_body(const char *text)
{
    struct buf content = BUF(BODY_MAX);
    json_t *body = NULL;
    char part[4096];
    const bool is_input = !strcmp(text, "-");
    FILE *file = is_input ? stdin : *text == '@' ? fopen(text + 1, "re") : NULL;
    if (file)
        for (size_t n; (n = fread(part, 1, sizeof part, file)) > 0;)
            buf_put(&content, part, n);
    else if (*text != '@')
        buf_str(&content, str_z(text));
    if (file && !is_input)
        fclose(file);
    if (content.full || json_read(buf_view(&content), &body) || !json_is_object(body)) {
        json_decref(body);
        body = NULL;
    }
    buf_done(&content);
    return body;
}

static int begin_body(const struct operation *o, const struct operation_options *given, struct operation_input *in)
{
    const struct operation_row *r = o->row;
    if (!r->body || (r->body_optional && !is_body_given(o, given)))
        return EXIT_DONE;
    in->body = given->body ? read_given_body(given->body) : json_object();
    if (!in->body) {
        complain("%s: --body must be a JSON object, or @FILE with one", o->command.name);
        return EXIT_USAGE;
    }
    set_constants(r->body, in->body);
    return EXIT_DONE;
}

/* The words of a pass become fields of its body. */
static int read_pass(const struct operation *o, const struct operation_options *given, json_t *body)
{
    const char *why = pass_words_fit(o->row) ? pass_words_read(body, pass_words_today()) : NULL;
    if (given->no_code)
        json_object_set_new(body, "code", json_false());
    if (why)
        complain("%s: %s", o->command.name, why);
    return why ? EXIT_USAGE : EXIT_DONE;
}

/* ---- checks ---- */

static int check_shape(const struct operation *o, const struct shape *shape, const json_t *object, struct arena *a)
{
    struct schema_fault fault;
    if (!shape || !object || schema_read(shape, object, ERR_BAD_REQUEST, a, arena_alloc(a, shape->size), &fault))
        return EXIT_DONE;
    complain("%s: %.*s; see `portero %s --help`", o->command.name, STR_ARG(fault.message), o->command.name);
    return EXIT_USAGE;
}

static int render_body(const struct operation *o, struct operation_input *in, struct arena *a)
{
    if (!in->body)
        return EXIT_DONE;
    char *text = json_dumps(in->body, JSON_COMPACT);
    if (!text) {
        complain("%s: the options are not valid UTF-8", o->command.name);
        return EXIT_USAGE;
    }
    in->body_text = arena_str(a, str_z(text));
    free(text);
    return EXIT_DONE;
}

int operation_input_read(const struct operation *o, const struct operation_options *given, struct arena *a,
                         struct operation_input *ret)
{
    struct operation_input in = {.query = json_object()};
    int status = begin_body(o, given, &in);
    if (!status)
        status = set_values(o, given, &in);
    if (!status)
        status = read_pass(o, given, in.body);
    if (!status)
        status = check_shape(o, o->row->query, in.query, a);
    if (!status)
        status = check_shape(o, o->row->body, in.body, a);
    if (!status)
        status = render_body(o, &in, a);
    if (status) {
        json_decref(in.query);
        json_decref(in.body);
        return status;
    }
    *ret = in;
    return EXIT_DONE;
}

/* ---- headers and the path ---- */

bool operation_is_header(const char *command, const char *option, const char *text)
{
    bool valid = !text || *text;
    for (const char *p = text; valid && p && *p; p++)
        valid = (unsigned char)*p >= ' ' && *p != 0x7f;
    if (!valid)
        complain("%s: --%s must not be empty or have control characters", command, option);
    return valid;
}

void operation_put_escaped(const char *text, struct buf *out)
{
    char *escaped = curl_easy_escape(NULL, text, 0);
    buf_str(out, str_z(escaped ? escaped : ""));
    curl_free(escaped);
}

void operation_put_query(const json_t *query, struct buf *out)
{
    const char *name, *separator = "?";
    json_t *value;
    json_object_foreach ((json_t *)query, name, value) {
        char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        buf_printf(out, "%s%s=", separator, name);
        operation_put_escaped(text ? text : json_string_value(value), out);
        free(text);
        separator = "&";
    }
}
