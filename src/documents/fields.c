#include "documents/fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "documents/markdown.h"

#define NESTING_MAX 5
#define ID_PATTERN  "^[a-fA-F0-9]{24}$"

static const char *member_string(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

const json_t *docs_resolve(const json_t *document, const json_t *node)
{
    const char *path = member_string(node, "$ref");
    if (!path)
        return node;
    const json_t *at = document;
    struct str rest = str_z(path), name;
    (void)str_cut(rest, '/', &rest);
    while (rest.p) {
        name = str_cut(rest, '/', &rest);
        at = json_object_getn(at, name.p, name.n);
    }
    return at;
}

/* The schema of a field that is an object or a list of objects, or null in place of one. */
static const json_t *inner_schema(const json_t *document, const json_t *schema)
{
    const json_t *any = json_object_get(schema, "anyOf");
    if (any && !json_object_get(schema, "type"))
        return docs_resolve(document, json_array_get(any, 0));
    const json_t *items = json_object_get(schema, "items");
    return docs_resolve(document, items ? items : schema);
}

static bool is_nullable(const json_t *schema)
{
    size_t i;
    json_t *type;
    json_array_foreach (json_object_get(schema, "type"), i, type)
        if (strcmp(json_string_value(type), "null") == 0)
            return true;
    return json_object_get(schema, "anyOf") && !json_object_get(schema, "type");
}

static const char *type_word(const json_t *schema)
{
    const json_t *type = json_object_get(schema, "type");
    const char *name = json_is_array(type) ? json_string_value(json_array_get(type, 0)) : json_string_value(type);
    return name ? name : "object";
}

static void put_constant(struct docs_out *out, const json_t *value)
{
    if (json_is_string(value))
        docs_word(out, json_string_value(value));
    else
        docs_word(out, json_is_true(value) ? "true" : json_is_null(value) ? "null" : "false");
}

static void put_allowed(struct docs_out *out, const json_t *schema)
{
    size_t i;
    json_t *value;
    const json_t *constant = json_object_get(schema, "const");
    if (constant) {
        buf_lit(out->to, ", always ");
        put_constant(out, constant);
    }
    const json_t *values = json_object_get(schema, "enum");
    json_array_foreach (values, i, value) {
        buf_str(out->to, i ? STR(", ") : STR(": "));
        put_constant(out, value);
    }
}

static void put_limits(struct docs_out *out, const json_t *schema, const char *lowest, const char *highest,
                       const char *unit)
{
    const json_t *min = json_object_get(schema, lowest), *max = json_object_get(schema, highest);
    const long long low = json_integer_value(min), high = json_integer_value(max);
    if (min && !max && low == 1 && strcmp(unit, " characters") == 0)
        buf_lit(out->to, ", not empty");
    else if (min && max && low == high)
        buf_printf(out->to, ", %lld%s", low, unit);
    else if (min && max)
        buf_printf(out->to, ", %lld to %lld%s", low, high, unit);
    else if (min)
        buf_printf(out->to, ", at least %lld%s", low, unit);
    else if (max)
        buf_printf(out->to, ", at most %lld%s", high, unit);
}

/* ": `a`, `b`" of "a|b" */
static void put_words(struct docs_out *out, struct str words)
{
    const char *before = ": ";
    while (words.p) {
        const struct str word = str_cut(words, '|', &words);
        char *text = mem_printf("%.*s", STR_ARG(word));
        buf_str(out->to, str_z(before));
        docs_word(out, text);
        free(text);
        before = ", ";
    }
}

/* A pattern of words in either case, "^([Aa][Bb]|[Cc])$", as words; false if it is another one. */
static bool put_caseless_words(struct docs_out *out, const char *pattern)
{
    struct buf words = BUF(1024);
    const char *c = pattern;
    bool done = strncmp(c, "^(", 2) == 0;
    for (c += done ? 2 : 0; done && strcmp(c, ")$") != 0;) {
        if (*c == '|') {
            buf_char(&words, *c++);
        } else if (*c == '[' && c[1] && (c[1] | 0x20) == c[2] && c[3] == ']') {
            buf_char(&words, c[2]);
            c += 4;
        } else {
            done = false;
        }
    }
    if (done) {
        put_words(out, buf_view(&words));
        buf_lit(out->to, " (in any case)");
    }
    buf_done(&words);
    return done;
}

static void put_string_bounds(struct docs_out *out, const json_t *schema)
{
    const char *format = member_string(schema, "format"), *pattern = member_string(schema, "pattern");
    if (pattern && strcmp(pattern, ID_PATTERN) == 0) {
        buf_lit(out->to, " (an ID of 24 hexadecimal digits)");
        return;
    }
    if (format)
        buf_printf(out->to, " (%s)", format);
    put_allowed(out, schema);
    put_limits(out, schema, "minLength", "maxLength", " characters");
    if (pattern && !put_caseless_words(out, pattern)) {
        buf_lit(out->to, ", ");
        docs_word(out, pattern);
    }
}

/* "list of string: a, b, 1 to 7 entries, or null" */
static void put_type_text(const json_t *document, const json_t *schema, struct docs_out *out)
{
    const json_t *items = json_object_get(schema, "items");
    if (items) {
        const json_t *item = docs_resolve(document, items);
        buf_printf(out->to, "list of %s%s", type_word(item), strcmp(type_word(item), "object") == 0 ? "s" : "");
        put_string_bounds(out, item);
        put_limits(out, schema, "minItems", "maxItems", " entries");
    } else {
        buf_str(out->to, str_z(type_word(schema)));
        put_string_bounds(out, schema);
        put_limits(out, schema, "minimum", "maximum", "");
    }
    if (is_nullable(schema))
        buf_lit(out->to, ", or null");
}

static void put_nested(const json_t *document, const json_t *schema, struct docs_out *out, int depth);

struct entry {
    const char *name;
    const char *where; /* of a parameter: "query"; else NULL */
    const char *need;  /* "required", "may be absent" or "" */
    const char *meaning;
};

static void put_field_entry(const json_t *document, const struct entry *entry, const json_t *schema,
                            struct docs_out *out, int depth)
{
    const json_t *self = json_object_get(schema, "$ref") ? docs_resolve(document, schema) : schema;
    const json_t *inner = inner_schema(document, self);
    docs_entry(out, NULL);
    docs_word(out, entry->name);
    buf_char(out->to, ' ');
    docs_aside(out);
    if (entry->where)
        buf_printf(out->to, "%s, ", entry->where);
    put_type_text(document, self, out);
    docs_aside_end(out);
    if (*entry->need) {
        buf_char(out->to, ' ');
        docs_strong(out, "need", entry->need);
    }
    docs_told(out);
    if (entry->meaning)
        docs_markdown(str_z(entry->meaning), out);
    if (json_is_true(json_object_get(schema, "x-sensitive"))) {
        docs_paragraph(out, "hint");
        buf_lit(out->to, "A secret: keep it out of logs.");
        docs_paragraph_end(out);
    }
    if (depth < NESTING_MAX && (json_object_get(inner, "properties") || json_object_get(inner, "oneOf"))) {
        docs_fold(out, NULL, false);
        buf_lit(out->to, "Fields of ");
        docs_word(out, entry->name);
        docs_fold_told(out);
        put_nested(document, inner, out, depth + 1);
        docs_fold_end(out);
    }
    docs_entry_end(out);
}

static bool is_field_required(const json_t *schema, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach (json_object_get(schema, "required"), i, item)
        if (strcmp(json_string_value(item), name) == 0)
            return true;
    return false;
}

static void put_field_list(const json_t *document, const json_t *schema, struct docs_out *out, int depth)
{
    const char *name;
    json_t *field;
    const bool request = json_is_false(json_object_get(schema, "additionalProperties"));
    if (!json_object_size(json_object_get(schema, "properties")))
        return;
    docs_list(out, "dl", "entries");
    json_object_foreach (json_object_get(schema, "properties"), name, field) {
        const struct entry entry = {.name = name,
                                    .need = is_field_required(schema, name) != request ? ""
                                            : request                                  ? "required"
                                                                                       : "may be absent",
                                    .meaning = member_string(field, "description")};
        put_field_entry(document, &entry, field, out, depth);
    }
    docs_list_end(out, "dl");
}

/* The name of a variant: the value of its first constant field, else the schema's. */
static void put_variant_name(const json_t *reference, const json_t *variant, struct docs_out *out)
{
    const char *name, *path = member_string(reference, "$ref");
    json_t *field;
    json_object_foreach (json_object_get(variant, "properties"), name, field) {
        if (json_object_get(field, "const")) {
            buf_lit(out->to, "If ");
            docs_word(out, name);
            buf_lit(out->to, " is ");
            put_constant(out, json_object_get(field, "const"));
            return;
        }
    }
    buf_str(out->to, str_z(path ? strrchr(path, '/') + 1 : "Variant"));
}

static void put_nested(const json_t *document, const json_t *schema, struct docs_out *out, int depth)
{
    size_t i;
    json_t *reference;
    put_field_list(document, schema, out, depth);
    json_array_foreach (json_object_get(schema, "oneOf"), i, reference) {
        const json_t *variant = docs_resolve(document, reference);
        docs_fold(out, NULL, i == 0);
        put_variant_name(reference, variant, out);
        docs_fold_told(out);
        put_field_list(document, variant, out, depth);
        docs_fold_end(out);
    }
}

void docs_put_fields(const json_t *document, const json_t *schema, struct docs_out *out)
{
    const json_t *self = docs_resolve(document, schema);
    const char *description = member_string(self, "description");
    if (description)
        docs_markdown(str_z(description), out);
    put_nested(document, self, out, 0);
}

void docs_put_parameter(const json_t *document, const json_t *parameter, const json_t *schema, const char *meaning,
                        struct docs_out *out)
{
    const struct entry entry = {.name = member_string(parameter, "name"),
                                .where = member_string(parameter, "in"),
                                .need = json_is_true(json_object_get(parameter, "required")) ? "required" : "",
                                .meaning = meaning};
    put_field_entry(document, &entry, schema, out, 0);
}
