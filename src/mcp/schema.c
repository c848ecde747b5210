#include "mcp/schema.h"

void mcp_put_name(struct mcp_members *m, const char *name)
{
    if (m->any)
        buf_char(m->out, ',');
    m->any = true;
    json_put_str(m->out, str_z(name));
    buf_char(m->out, ':');
}

static void put_raw_member(struct mcp_members *m, const char *name, const char *json)
{
    mcp_put_name(m, name);
    buf_str(m->out, str_z(json));
}

static void put_text_member(struct mcp_members *m, const char *name, const char *text)
{
    if (text) {
        mcp_put_name(m, name);
        json_put_str(m->out, str_z(text));
    }
}

/* ---- the fields of a shape, also if it has variants ---- */

/* A table of fields is a shape's own, or one of several of its variants. */
static bool is_merged(const struct shape *shape)
{
    return shape->variants && !shape->fields;
}

static const struct shape *table_of(const struct shape *shape, size_t i)
{
    if (is_merged(shape))
        return shape->variants[i];
    return i == 0 ? shape : NULL;
}

static const struct field *field_of(const struct shape *table, const char *name)
{
    for (size_t i = 0; i < table->field_count; i++)
        if (strcmp(table->fields[i].name, name) == 0)
            return &table->fields[i];
    return NULL;
}

/* The i-th table is the first that has the field. */
static bool is_first(const struct shape *shape, size_t i, const char *name)
{
    for (size_t k = 0; k < i; k++)
        if (field_of(table_of(shape, k), name))
            return false;
    return true;
}

static bool is_required(const struct shape *shape, const char *name)
{
    const struct shape *table;
    for (size_t k = 0; (table = table_of(shape, k)); k++) {
        const struct field *f = field_of(table, name);
        if (!f || !(f->flags & F_REQUIRED))
            return false;
    }
    return true;
}

/* The variants have objects of different shapes under the name. */
static bool varies(const struct shape *shape, const struct field *f)
{
    const struct shape *table;
    for (size_t k = 0; (table = table_of(shape, k)); k++) {
        const struct field *other = field_of(table, f->name);
        if (other && other->sub != f->sub)
            return true;
    }
    return false;
}

/* ---- properties ---- */

static void put_object_schema(const struct shape *shape, struct mcp_members *m);

static const char *const type_names[] = {
    [T_STRING] = "string", [T_ID] = "string",     [T_TIME] = "string",   [T_INT] = "integer",  [T_NUMBER] = "number",
    [T_BOOL] = "boolean",  [T_OBJECT] = "object", [T_STRINGS] = "array", [T_OBJECTS] = "array"};

static void put_compact_type(struct mcp_members *m, const struct field *f)
{
    mcp_put_name(m, "type");
    buf_printf(m->out, f->flags & F_NULLABLE ? "[\"%s\",\"null\"]" : "\"%s\"", type_names[f->type]);
}

static void put_value_list(struct mcp_members *m, const struct shape *shape, const struct field *f)
{
    bool any = false;
    const struct shape *table;
    put_raw_member(m, "enum", "[");
    for (size_t k = 0; (table = table_of(shape, k)); k++) {
        const struct field *of = field_of(table, f->name);
        /* Only constants differ between variants. */
        for (size_t i = 0; of && of->values && of->values[i] && (k == 0 || of->flags & F_CONST); i++) {
            buf_str(m->out, any ? STR(",") : STR(""));
            json_put_str(m->out, str_z(of->values[i]));
            any = true;
        }
    }
    if (f->flags & F_NULLABLE)
        buf_lit(m->out, ",null");
    buf_char(m->out, ']');
}

static void put_compact_rules(struct mcp_members *m, const struct shape *shape, const struct field *f)
{
    if (f->values)
        put_value_list(m, shape, f);
    else
        put_text_member(m, "pattern", f->pattern);
}

static void put_range(struct mcp_members *m, const struct field *f)
{
    if (f->min == 0 && f->max == 0)
        return;
    mcp_put_name(m, "minimum");
    buf_i64(m->out, f->min);
    mcp_put_name(m, "maximum");
    buf_i64(m->out, f->max);
}

static void put_items(struct mcp_members *m, const struct shape *shape, const struct field *f)
{
    struct mcp_members item = {.out = m->out};
    put_raw_member(m, "items", "{");
    if (f->type == T_OBJECTS) {
        put_object_schema(f->sub, &item);
    } else {
        put_raw_member(&item, "type", "\"string\"");
        put_compact_rules(&item, shape, f);
    }
    buf_char(m->out, '}');
}

static void put_input_property(const struct shape *shape, const struct field *f, struct mcp_members *m)
{
    if (f->type == T_OBJECT && !(f->flags & F_NULLABLE) && !varies(shape, f))
        put_object_schema(f->sub, m);
    else
        put_compact_type(m, f);
    if (f->type == T_STRINGS || f->type == T_OBJECTS)
        put_items(m, shape, f);
    if (f->type == T_STRING)
        put_compact_rules(m, shape, f);
    if (f->type == T_TIME)
        put_raw_member(m, "format", "\"date-time\"");
    if (f->type == T_INT)
        put_range(m, f);
    put_text_member(m, "description", f->doc);
}

static void put_properties(const struct shape *shape, bool input, struct mcp_members *properties)
{
    const struct shape *table;
    for (size_t k = 0; shape && (table = table_of(shape, k)); k++)
        for (size_t i = 0; i < table->field_count; i++) {
            struct mcp_members m = {.out = properties->out};
            if (!is_first(shape, k, table->fields[i].name))
                continue;
            mcp_put_name(properties, table->fields[i].name);
            buf_char(m.out, '{');
            if (input)
                put_input_property(shape, &table->fields[i], &m);
            else
                put_compact_type(&m, &table->fields[i]);
            buf_char(m.out, '}');
        }
}

void mcp_put_required(const struct shape *shape, struct buf *out, bool *any)
{
    const struct shape *table = shape ? table_of(shape, 0) : NULL;
    for (size_t i = 0; table && i < table->field_count; i++) {
        if (!is_required(shape, table->fields[i].name))
            continue;
        buf_str(out, *any ? STR(",") : STR(""));
        json_put_str(out, str_z(table->fields[i].name));
        *any = true;
    }
}

/* Members of the schema of an object. */
static void put_object_schema(const struct shape *shape, struct mcp_members *m)
{
    struct mcp_members properties = {.out = m->out};
    bool any = false;
    put_raw_member(m, "type", "\"object\"");
    put_raw_member(m, "properties", "{");
    put_properties(shape, true, &properties);
    buf_char(m->out, '}');
    put_raw_member(m, "required", "[");
    mcp_put_required(shape, m->out, &any);
    buf_char(m->out, ']');
}

void mcp_put_properties(const struct shape *shape, struct mcp_members *properties)
{
    put_properties(shape, true, properties);
}

void mcp_put_output(const struct shape *shape, struct buf *out)
{
    struct mcp_members properties = {.out = out};
    buf_lit(out, "{\"type\":\"object\",\"properties\":{");
    put_properties(shape, false, &properties);
    buf_lit(out, "}}");
}
