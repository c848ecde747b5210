#include <assert.h>

#include "base/schema.h"

#define PATTERN_MAX 512

/* Writes the members of a JSON object with commas. */
struct members {
    struct buf *out;
    bool any;
};

static void put_name(struct members *m, const char *name)
{
    if (m->any)
        buf_char(m->out, ',');
    m->any = true;
    json_put_str(m->out, str_z(name));
    buf_char(m->out, ':');
}

static void put_text_of_schema(struct members *m, const char *name, const char *text)
{
    if (text) {
        put_name(m, name);
        json_put_str(m->out, str_z(text));
    }
}

static void put_int(struct members *m, const char *name, int64_t i)
{
    put_name(m, name);
    buf_i64(m->out, i);
}

static void put_raw(struct members *m, const char *name, const char *json)
{
    put_name(m, name);
    buf_str(m->out, str_z(json));
}

static void put_type(struct members *m, const char *type, bool nullable)
{
    put_name(m, "type");
    if (nullable)
        buf_char(m->out, '[');
    json_put_str(m->out, str_z(type));
    if (nullable)
        buf_lit(m->out, ",\"null\"]");
}

struct field_bounds schema_bounds(const struct field *f)
{
    const bool blank_refused = f->type == T_STRING && f->min == 0 && f->flags & F_NONBLANK;
    const int64_t min = blank_refused ? 1 : f->min, max = blank_refused && f->max == 0 ? INT64_MAX : f->max;
    const bool bounded = min != 0 || max != 0;
    return (struct field_bounds){
        .low = bounded && (min != 0 || f->type == T_INT), .high = bounded && max != INT64_MAX, .min = min, .max = max};
}

static void put_bounds(struct members *m, const char *lowest, const char *highest, const struct field *f)
{
    const struct field_bounds bounds = schema_bounds(f);
    if (bounds.low)
        put_int(m, lowest, bounds.min);
    if (bounds.high)
        put_int(m, highest, bounds.max);
}

/* A pattern of the values with each letter in either case; JSON Schema patterns have no flags. */
static void put_any_case(struct members *m, const struct field *f)
{
    char pattern[PATTERN_MAX];
    struct buf b = {.p = pattern, .cap = sizeof pattern, .max = sizeof pattern};
    buf_lit(&b, "^(");
    for (size_t i = 0; f->values[i]; i++) {
        if (i)
            buf_char(&b, '|');
        for (const char *c = f->values[i]; *c; c++)
            buf_printf(&b, "[%c%c]", *c & ~0x20, *c | 0x20);
    }
    buf_lit(&b, ")$");
    assert(!b.full);
    put_name(m, "pattern");
    json_put_str(m->out, buf_view(&b));
}

static void put_values(struct members *m, const struct field *f, bool nullable)
{
    if (f->flags & (F_LOWER | F_UPPER)) {
        put_any_case(m, f);
        return;
    }
    if ((f->flags & F_CONST) && !nullable) {
        put_text_of_schema(m, "const", f->values[0]);
        return;
    }
    put_name(m, "enum");
    buf_char(m->out, '[');
    for (size_t i = 0; f->values[i]; i++) {
        if (i)
            buf_char(m->out, ',');
        json_put_str(m->out, str_z(f->values[i]));
    }
    if (nullable)
        buf_lit(m->out, ",null");
    buf_char(m->out, ']');
}

/* The rules of a string, or of each item of a list of strings. */
static void put_string_rules(struct members *m, const struct field *f, bool nullable)
{
    if (f->values)
        put_values(m, f, nullable);
    put_text_of_schema(m, "pattern", f->pattern);
    put_text_of_schema(m, "format", f->format);
}

static void put_string(struct members *m, const struct field *f, bool nullable)
{
    put_type(m, "string", nullable);
    put_string_rules(m, f, nullable);
    put_bounds(m, "minLength", "maxLength", f);
}

static void put_reference(struct members *m, const char *name, const struct shape *shape)
{
    put_name(m, name);
    buf_printf(m->out, "\"#/components/schemas/%s\"", shape->name);
}

static void put_sub(struct members *m, const struct shape *shape, bool nullable)
{
    struct members of = {.out = m->out};
    if (!nullable) {
        put_reference(m, "$ref", shape);
        return;
    }
    put_raw(m, "anyOf", "[{");
    put_reference(&of, "$ref", shape);
    buf_lit(m->out, "},{\"type\":\"null\"}]");
}

static void put_list(struct members *m, const struct field *f, bool nullable, enum schema_use use)
{
    struct members item = {.out = m->out};
    put_type(m, "array", nullable);
    put_name(m, "items");
    buf_char(m->out, '{');
    if (f->type == T_OBJECTS) {
        put_sub(&item, f->sub, false);
    } else {
        put_type(&item, "string", false);
        put_string_rules(&item, f, false);
        if (f->flags & F_NONBLANK)
            put_int(&item, "minLength", 1);
    }
    buf_char(m->out, '}');
    put_bounds(m, "minItems", "maxItems", f);
    if (f->type == T_STRINGS && use == SCHEMA_REQUEST)
        put_raw(m, "uniqueItems", "true");
}

static void put_rules(struct members *m, const struct field *f, enum schema_use use)
{
    bool nullable = f->flags & F_NULLABLE;
    switch (f->type) {
    case T_STRING:
        put_string(m, f, nullable);
        break;
    case T_ID:
        put_type(m, "string", nullable);
        put_text_of_schema(m, "pattern", "^[a-fA-F0-9]{24}$");
        break;
    case T_TIME:
        put_type(m, "string", nullable);
        put_text_of_schema(m, "format", "date-time");
        break;
    case T_INT:
        put_type(m, "integer", nullable);
        put_bounds(m, "minimum", "maximum", f);
        break;
    case T_NUMBER:
        put_type(m, "number", nullable);
        break;
    case T_BOOL:
        put_type(m, "boolean", nullable);
        if ((f->flags & F_CONST) && nullable)
            put_raw(m, "enum", f->flags & F_FALSE ? "[false,null]" : "[true,null]");
        else if (f->flags & F_CONST)
            put_raw(m, "const", f->flags & F_FALSE ? "false" : "true");
        break;
    case T_OBJECT:
        put_sub(m, f->sub, nullable);
        break;
    case T_STRINGS:
    case T_OBJECTS:
        put_list(m, f, nullable, use);
        break;
    }
}

static void put_field(const struct field *f, const char *description, enum schema_use use, struct buf *out)
{
    struct members m = {.out = out};
    buf_char(out, '{');
    put_rules(&m, f, use);
    put_text_of_schema(&m, "description", description);
    if (f->flags & F_SECRET)
        put_raw(&m, "x-sensitive", "true");
    buf_char(out, '}');
}

void schema_document_field(const struct field *f, enum schema_use use, struct buf *out)
{
    put_field(f, NULL, use, out);
}

static void put_required(struct members *m, const struct shape *shape)
{
    bool any = false;
    for (size_t i = 0; i < shape->field_count; i++) {
        if (!(shape->fields[i].flags & F_REQUIRED))
            continue;
        if (!any)
            put_raw(m, "required", "[");
        else
            buf_char(m->out, ',');
        json_put_str(m->out, str_z(shape->fields[i].name));
        any = true;
    }
    if (any)
        buf_char(m->out, ']');
}

const struct field *schema_tag(const struct shape *shape)
{
    const struct field *first = &shape->variants[0]->fields[0];
    return first->flags & F_CONST ? first : NULL;
}

static void put_discriminator(struct members *m, const struct shape *shape, const char *tag)
{
    struct members of = {.out = m->out}, mapping = {.out = m->out};
    put_raw(m, "discriminator", "{");
    put_text_of_schema(&of, "propertyName", tag);
    put_raw(&of, "mapping", "{");
    for (size_t i = 0; shape->variants[i]; i++)
        put_reference(&mapping, shape->variants[i]->fields[0].values[0], shape->variants[i]);
    buf_lit(m->out, "}}");
}

static void put_variants(struct members *m, const struct shape *shape)
{
    const struct field *tag = schema_tag(shape);
    put_raw(m, tag ? "oneOf" : "anyOf", "[");
    for (size_t i = 0; shape->variants[i]; i++) {
        struct members of = {.out = m->out};
        if (i)
            buf_char(m->out, ',');
        buf_char(m->out, '{');
        put_reference(&of, "$ref", shape->variants[i]);
        buf_char(m->out, '}');
    }
    buf_char(m->out, ']');
    if (tag)
        put_discriminator(m, shape, tag->name);
}

static void put_shape_members(struct members *m, const struct shape *shape, enum schema_use use)
{
    struct members properties = {.out = m->out};
    put_type(m, "object", false);
    put_raw(m, "properties", "{");
    for (size_t i = 0; i < shape->field_count; i++) {
        put_name(&properties, shape->fields[i].name);
        put_field(&shape->fields[i], shape->fields[i].doc, use, m->out);
    }
    buf_char(m->out, '}');
    put_required(m, shape);
    if (shape->least)
        put_int(m, "minProperties", shape->least);
    if (shape->rules)
        buf_printf(m->out, ",%s", shape->rules);
    if (use == SCHEMA_REQUEST && !shape->open)
        put_raw(m, "additionalProperties", "false");
}

void schema_document(const struct shape *shape, enum schema_use use, struct buf *out)
{
    struct members m = {.out = out};
    buf_char(out, '{');
    put_text_of_schema(&m, "description", shape->doc);
    if (shape->variants)
        put_variants(&m, shape);
    else
        put_shape_members(&m, shape, use);
    buf_char(out, '}');
}
