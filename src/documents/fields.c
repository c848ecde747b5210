#include "documents/fields.h"

#include "documents/markdown.h"

#define NESTING_MAX 5

static const char *const type_words[] = {
    [T_STRING] = "string",           [T_ID] = "string",
    [T_TIME] = "string (date-time)", [T_INT] = "integer",
    [T_NUMBER] = "number",           [T_BOOL] = "boolean",
    [T_OBJECT] = "object",           [T_STRINGS] = "list of string",
    [T_OBJECTS] = "list of objects",
};

/* ": `a`, `b`" */
static void put_allowed(struct docs_out *out, const struct field *f)
{
    if (f->flags & F_CONST && !(f->flags & F_NULLABLE)) {
        buf_lit(out->to, ", always ");
        docs_word(out, f->values[0]);
        return;
    }
    for (size_t i = 0; f->values[i]; i++) {
        buf_str(out->to, i ? STR(", ") : STR(": "));
        docs_word(out, f->values[i]);
    }
    if (f->flags & F_NULLABLE && f->type == T_STRING && !(f->flags & (F_LOWER | F_UPPER))) {
        buf_lit(out->to, ", ");
        docs_word(out, "null");
    }
    if (f->flags & (F_LOWER | F_UPPER))
        buf_lit(out->to, " (in any case)");
}

static void put_bound_text(struct docs_out *out, const struct field *f, const char *unit)
{
    const struct field_bounds bounds = schema_bounds(f);
    const long long low = bounds.min, high = bounds.max;
    if (bounds.low && !bounds.high && low == 1 && f->type == T_STRING)
        buf_lit(out->to, ", not empty");
    else if (bounds.low && bounds.high && low == high)
        buf_printf(out->to, ", %lld%s", low, unit);
    else if (bounds.low && bounds.high)
        buf_printf(out->to, ", %lld to %lld%s", low, high, unit);
    else if (bounds.low)
        buf_printf(out->to, ", at least %lld%s", low, unit);
    else if (bounds.high)
        buf_printf(out->to, ", at most %lld%s", high, unit);
}

/* The rules of a string, or of each item of a list of strings. */
static void put_text_rules(struct docs_out *out, const struct field *f)
{
    if (f->format)
        buf_printf(out->to, " (%s)", f->format);
    if (f->values)
        put_allowed(out, f);
    if (f->type == T_STRING)
        put_bound_text(out, f, " characters");
    else if (f->flags & F_NONBLANK)
        buf_lit(out->to, ", not empty");
    if (f->pattern) {
        buf_lit(out->to, ", ");
        docs_word(out, f->pattern);
    }
}

static void put_constant(struct docs_out *out, const struct field *f)
{
    const char *value = f->flags & F_FALSE ? "false" : "true";
    buf_str(out->to, f->flags & F_NULLABLE ? STR(": ") : STR(", always "));
    docs_word(out, value);
    if (f->flags & F_NULLABLE) {
        buf_lit(out->to, ", ");
        docs_word(out, "null");
    }
}

/* "list of string: a, b, 1 to 7 entries, or null" */
static void put_type_text(const struct field *f, struct docs_out *out)
{
    buf_str(out->to, str_z(type_words[f->type]));
    if (f->type == T_ID)
        buf_lit(out->to, " (an ID of 24 hexadecimal digits)");
    if (f->type == T_STRING || f->type == T_STRINGS)
        put_text_rules(out, f);
    if (f->type == T_BOOL && f->flags & F_CONST)
        put_constant(out, f);
    if (f->type == T_INT)
        put_bound_text(out, f, "");
    if (f->type == T_STRINGS || f->type == T_OBJECTS)
        put_bound_text(out, f, " entries");
    if (f->flags & F_NULLABLE)
        buf_lit(out->to, ", or null");
}

static void put_nested(const struct shape *shape, enum schema_use use, struct docs_out *out, int depth);

struct entry {
    const struct field *field;
    const char *where; /* of a parameter: "query"; else NULL */
    const char *need;  /* "required", "may be absent" or "" */
};

static void put_field_entry(const struct entry *entry, enum schema_use use, struct docs_out *out, int depth)
{
    const struct field *f = entry->field;
    docs_entry(out, NULL);
    docs_word(out, f->name);
    buf_char(out->to, ' ');
    docs_aside(out);
    if (entry->where)
        buf_printf(out->to, "%s, ", entry->where);
    put_type_text(f, out);
    docs_aside_end(out);
    if (*entry->need) {
        buf_char(out->to, ' ');
        docs_strong(out, "need", entry->need);
    }
    docs_told(out);
    if (f->doc)
        docs_markdown(str_z(f->doc), out);
    if (f->flags & F_SECRET) {
        docs_paragraph(out, "hint");
        buf_lit(out->to, "A secret: keep it out of logs.");
        docs_paragraph_end(out);
    }
    if (depth < NESTING_MAX && f->sub && (f->sub->field_count || f->sub->variants)) {
        docs_fold(out, NULL, false);
        buf_lit(out->to, "Fields of ");
        docs_word(out, f->name);
        docs_fold_told(out);
        put_nested(f->sub, use, out, depth + 1);
        docs_fold_end(out);
    }
    docs_entry_end(out);
}

static void put_field_list(const struct shape *shape, enum schema_use use, struct docs_out *out, int depth)
{
    const bool request = use == SCHEMA_REQUEST && !shape->open;
    if (!shape->field_count)
        return;
    docs_list(out, "dl", "entries");
    for (size_t i = 0; i < shape->field_count; i++) {
        const bool required = shape->fields[i].flags & F_REQUIRED;
        const struct entry entry = {.field = &shape->fields[i],
                                    .need = required != request ? ""
                                            : request           ? "required"
                                                                : "may be absent"};
        put_field_entry(&entry, use, out, depth);
    }
    docs_list_end(out, "dl");
}

static void put_variant(const struct shape *variant, const struct field *tag, enum schema_use use, bool open,
                        struct docs_out *out, int depth)
{
    docs_fold(out, NULL, open);
    if (tag) {
        buf_lit(out->to, "If ");
        docs_word(out, tag->name);
        buf_lit(out->to, " is ");
        docs_word(out, variant->fields[0].values[0]);
    } else {
        buf_str(out->to, str_z(variant->name));
    }
    docs_fold_told(out);
    put_field_list(variant, use, out, depth);
    docs_fold_end(out);
}

static void put_nested(const struct shape *shape, enum schema_use use, struct docs_out *out, int depth)
{
    if (!shape->variants)
        put_field_list(shape, use, out, depth);
    for (size_t i = 0; shape->variants && shape->variants[i]; i++)
        put_variant(shape->variants[i], schema_tag(shape), use, i == 0, out, depth);
}

void docs_put_fields(const struct shape *shape, enum schema_use use, struct docs_out *out)
{
    if (shape->doc)
        docs_markdown(str_z(shape->doc), out);
    put_nested(shape, use, out, 0);
}

void docs_put_parameter(const struct parameter *parameter, struct docs_out *out)
{
    const struct entry entry = {.field = parameter->field,
                                .where = parameter->in,
                                .need = parameter->field->flags & F_REQUIRED ? "required" : ""};
    put_field_entry(&entry, SCHEMA_REQUEST, out, 0);
}
