#include <assert.h>

#include "base/schema.h"

static void put_bool(struct buf *out, bool b)
{
    if (b)
        buf_lit(out, "true");
    else
        buf_lit(out, "false");
}

static void put_strings(const struct val *items, size_t n, struct buf *out)
{
    buf_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        assert(items[i].kind == VAL_STR);
        if (i)
            buf_char(out, ',');
        json_put_str(out, items[i].s);
    }
    buf_char(out, ']');
}

static void put_objects(const struct shape *shape, const char *items, size_t n, struct buf *out)
{
    buf_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_char(out, ',');
        schema_write(shape, items + i * shape->size, out);
    }
    buf_char(out, ']');
}

static void write_value(const struct field *f, const struct val *v, struct buf *out)
{
    static const enum val_kind kinds[] = {
        [T_STRING] = VAL_STR,    [T_ID] = VAL_STR,       [T_TIME] = VAL_TIME,
        [T_INT] = VAL_INT,       [T_NUMBER] = VAL_INT,   [T_BOOL] = VAL_BOOL,
        [T_OBJECT] = VAL_OBJECT, [T_STRINGS] = VAL_LIST, [T_OBJECTS] = VAL_LIST,
    };
    if (v->kind == VAL_NULL) {
        assert(f->flags & F_NULLABLE);
        buf_lit(out, "null");
        return;
    }
    assert(v->kind == kinds[f->type]);
    switch (f->type) {
    case T_STRING:
    case T_ID:
        json_put_str(out, v->s);
        break;
    case T_TIME:
        json_put_time(out, v->i);
        break;
    case T_INT:
    case T_NUMBER:
        buf_i64(out, v->i);
        break;
    case T_BOOL:
        put_bool(out, v->b);
        break;
    case T_OBJECT:
        schema_write(f->sub, v->ptr, out);
        break;
    case T_STRINGS:
        put_strings(v->ptr, v->count, out);
        break;
    case T_OBJECTS:
        put_objects(f->sub, v->ptr, v->count, out);
        break;
    }
}

/* `,"name":`, for the first member without the comma. Names need no escaping. */
static void put_key(const struct field *f, bool first, struct buf *out)
{
    if (f->key) {
        buf_put(out, f->key + first, f->key_len - first);
        return;
    }
    if (!first)
        buf_char(out, ',');
    json_put_str(out, str_z(f->name));
    buf_char(out, ':');
}

static const struct val *member(const struct field *f, const void *body)
{
    return (const struct val *)(const void *)((const char *)body + f->offset);
}

/* The variant of the body, selected by its first member. */
static const struct shape *selected_variant(const struct shape *shape, const void *body)
{
    const struct shape *const *v = shape->variants;
    while (v[1] && !str_eq(member(&v[0]->fields[0], body)->s, str_z(v[0]->fields[0].values[0])))
        v++;
    return *v;
}

void schema_write(const struct shape *shape, const void *body, struct buf *out)
{
    bool first = true;
    if (shape->variants && !shape->fields)
        shape = selected_variant(shape, body);
    buf_char(out, '{');
    for (size_t i = 0; i < shape->field_count; i++) {
        const struct field *f = &shape->fields[i];
        const struct val *v = member(f, body);
        if (v->kind == VAL_ABSENT) {
            assert(!(f->flags & F_REQUIRED));
            continue;
        }
        put_key(f, first, out);
        write_value(f, v, out);
        first = false;
    }
    buf_char(out, '}');
}
