#include "api/query.h"

#include "base/clock.h"
#include "base/form.h"

static const struct field *query_field(const struct shape *shape, struct str name)
{
    for (size_t i = 0; i < shape->field_count; i++)
        if (str_eq(str_z(shape->fields[i].name), name))
            return &shape->fields[i];
    return NULL;
}

/* The JSON value of a parameter's text. Text that does not fit the type stays a string, which the schema refuses. */
static json_t *json_of(const struct field *f, struct str text)
{
    uint64_t number;
    if (f->type == T_INT && str_to_u64(text, INT64_MAX, &number))
        return json_integer((json_int_t)number);
    if (f->type == T_BOOL && str_eq(text, STR("true")))
        return json_true();
    if (f->type == T_BOOL && str_eq(text, STR("false")))
        return json_false();
    return json_stringn(text.p, text.n); /* NULL if it is not UTF-8 */
}

/* Restores the plus sign of a time's offset: in a query it stands for a space. */
static bool lost_plus(struct str text, struct arena *a)
{
    int64_t at_us;
    text = arena_str(a, text);
    char *space = strrchr(text.p, ' ');
    if (!space)
        return false;
    *space = '+';
    return time_parse(text, &at_us);
}

static bool query_refuse(const struct field *f, struct arena *a, const char *rule, struct schema_fault *ret_fault)
{
    ret_fault->error = f->error;
    ret_fault->message = arena_printf(a, "%s %s", f->name, rule);
    return false;
}

bool query_add(const struct field *f, struct str text, struct arena *a, json_t *values, struct schema_fault *ret_fault)
{
    if (!text.n)
        return query_refuse(f, a, "must not be empty", ret_fault);
    if (f->type == T_TIME && lost_plus(text, a))
        return query_refuse(f, a, "must be an RFC 3339 date-time with offset: send %2B for the + of its offset",
                            ret_fault);
    if (json_object_set_new(values, f->name, json_of(f, text)) != 0)
        return query_refuse(f, a, "must be UTF-8 text", ret_fault);
    return true;
}

static bool query_object(const struct shape *shape, struct str query, struct arena *a, json_t *object,
                         struct schema_fault *ret_fault)
{
    while (query.p) {
        struct str value, pair = str_cut(query, '&', &query), name;
        struct str key = str_cut(pair, '=', &value);
        if (!form_decode(key, a, &name))
            continue;
        const struct field *f = query_field(shape, name);
        if (!f)
            continue;
        if (json_object_get(object, f->name))
            return query_refuse(f, a, "must be given once", ret_fault);
        struct str text = STR("");
        if (value.n && !form_decode(value, a, &text))
            return query_refuse(f, a, "is not properly percent-encoded", ret_fault);
        if (!query_add(f, text, a, object, ret_fault))
            return false;
    }
    return true;
}

static bool has_required(const struct shape *shape)
{
    for (size_t i = 0; i < shape->field_count; i++)
        if (shape->fields[i].flags & F_REQUIRED)
            return true;
    return false;
}

bool query_read_values(const struct shape *shape, json_t *values, struct arena *a, void *ret,
                       struct schema_fault *ret_fault)
{
    if (!json_object_size(values) && !has_required(shape)) {
        memset(ret, 0, shape->size);
        return true;
    }
    json_t *object = values ? json_incref(values) : json_object();
    const bool read = schema_read(shape, object, ERR_INVALID_FILTER, a, ret, ret_fault);
    json_decref(object);
    return read;
}

bool query_read(const struct shape *shape, struct str query, struct arena *a, void *ret, struct schema_fault *ret_fault)
{
    json_t *values = query.n ? json_object() : NULL;
    const bool read = (!query.n || query_object(shape, query, a, values, ret_fault)) &&
                      query_read_values(shape, values, a, ret, ret_fault);
    json_decref(values);
    return read;
}
