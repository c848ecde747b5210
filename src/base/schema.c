#include "base/schema.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/schema_text.h"

#define MESSAGE_MAX  400 /* of a message */
#define ECHO_MAX     40  /* of an unknown field's name in a message */
#define VARIANTS_MAX 8

/* The place of a field, or of an item of a list field, with a link to the enclosing one. On the reader's stack. */
struct place {
    const struct place *up;
    const struct field *field;
    const size_t *item; /* index; NULL: the field itself */
    enum err error;     /* error code for a failure here */
    struct arena *arena;
    struct schema_fault *fault;
};

static bool schema_read_object(const struct shape *shape, const json_t *object, const struct place *at, char *ret);

/* ---- faults: "address.zip must be …" ---- */

static void put_place(struct buf *b, const struct place *at)
{
    if (!at || !at->field)
        return;
    put_place(b, at->up);
    if (at->item) {
        buf_char(b, '[');
        buf_i64(b, (int64_t)*at->item);
        buf_char(b, ']');
        return;
    }
    if (b->n)
        buf_char(b, '.');
    buf_str(b, str_z(at->field->name));
}

/* Fills the fault and returns false. `rule` is appended to the name of the field. */
__attribute__((format(printf, 2, 3))) static bool refuse(const struct place *at, const char *rule, ...)
{
    char bytes[MESSAGE_MAX];
    struct buf message = {.p = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    put_place(&message, at);
    buf_char(&message, ' ');
    va_list ap;
    va_start(ap, rule);
    int n = vsnprintf(bytes + message.n, sizeof bytes - message.n, rule, ap);
    va_end(ap);
    if (n > 0)
        message.n += (size_t)n < sizeof bytes - message.n ? (size_t)n : sizeof bytes - message.n - 1;
    at->fault->error = at->error;
    at->fault->message = arena_str(at->arena, buf_view(&message));
    return false;
}

static const char *or_null(const struct place *at)
{
    return !at->item && (at->field->flags & F_NULLABLE) ? " or null" : "";
}

/* The name comes from the client: it is truncated, and only plain characters are repeated. */
static bool refuse_unknown(const struct place *at, const char *name)
{
    char shown[ECHO_MAX + 4];
    size_t n = 0;
    for (; n < ECHO_MAX && name[n]; n++) {
        char c = name[n];
        bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
                     c == '-' || c == '.';
        shown[n] = plain ? c : '?';
    }
    memcpy(shown + n, name[n] ? "..." : "", name[n] ? 4 : 1);
    struct field unknown = {.name = n ? shown : "\"\""};
    struct place here = *at;
    here.up = at;
    here.field = &unknown;
    here.item = NULL;
    return refuse(&here, "is not a known field");
}

/* ---- strings ---- */

/* Normalises the string for the field: trims, converts case, copies into the arena with a NUL. */
static struct str normalise_string(const struct field *f, const json_t *value, struct arena *a)
{
    struct str s = {json_string_value(value), json_string_length(value)};
    if (f->flags & F_TRIM)
        s = text_trim(s);
    char *p = arena_alloc(a, s.n + 1);
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if ((f->flags & F_LOWER) && c >= 'A' && c <= 'Z')
            c |= 0x20;
        else if ((f->flags & F_UPPER) && c >= 'a' && c <= 'z')
            c &= ~0x20;
        p[i] = c;
    }
    p[s.n] = '\0';
    return (struct str){p, s.n};
}

static bool check_length(const struct place *at, struct str s)
{
    const struct field *f = at->field;
    const char *unit = f->flags & F_UTF16 ? "UTF-16 code units" : "characters";
    int64_t n = (int64_t)(f->flags & F_UTF16 ? text_utf16_units(s) : text_code_points(s));
    if ((f->flags & F_NONBLANK) && n == 0)
        return refuse(at, "must not be empty");
    if (at->item || (f->min == 0 && f->max == 0))
        return true; /* the bounds of a list field are of its items' number */
    if (f->min == f->max && n != f->min)
        return refuse(at, "must be exactly %lld %s", (long long)f->min, unit);
    if (n < f->min)
        return refuse(at, "must be at least %lld %s", (long long)f->min, unit);
    if (n > f->max)
        return refuse(at, "must be at most %lld %s", (long long)f->max, unit);
    return true;
}

static bool check_values(const struct place *at, struct str s)
{
    const char *const *values = at->field->values;
    char listed[MESSAGE_MAX / 2] = "";
    size_t n = 0;
    for (size_t i = 0; values[i]; i++) {
        if (str_eq(s, str_z(values[i])))
            return true;
        int wrote = snprintf(listed + n, sizeof listed - n, "%s%s", i ? ", " : "", values[i]);
        n = wrote > 0 && (size_t)wrote < sizeof listed - n ? n + (size_t)wrote : sizeof listed - 1;
    }
    return refuse(at, "must be %s%s%s", values[0] && values[1] ? "one of " : "", listed, or_null(at));
}

static bool read_string(const struct place *at, const json_t *value, struct val *ret)
{
    const struct field *f = at->field;
    if (!json_is_string(value))
        return refuse(at, "must be a string%s", or_null(at));
    struct str s = normalise_string(f, value, at->arena);
    if (f->flags & F_UNCHECKED) {
        *ret = v_str(s);
        return true;
    }
    if (!check_length(at, s))
        return false;
    if (f->values && !check_values(at, s))
        return false;
    if (f->format && strcmp(f->format, "email") == 0 && !text_is_email(s))
        return refuse(at, "must be a valid e-mail address");
    if (f->pattern && !text_matches(f->pattern, s))
        return refuse(at, "must be %s%s", f->form, or_null(at));
    *ret = v_str(s);
    return true;
}

static bool read_id(const struct place *at, const json_t *value, struct val *ret)
{
    struct str s = {json_string_value(value), json_string_length(value)};
    if (!json_is_string(value) || !str_is_id(s))
        return refuse(at, "must be 24 hexadecimal characters%s", or_null(at));
    char *p = arena_alloc(at->arena, s.n + 1);
    for (size_t i = 0; i < s.n; i++)
        p[i] = (char)(s.p[i] | 0x20);
    p[s.n] = '\0';
    *ret = v_str(str_n(p, s.n));
    return true;
}

/* ---- other scalars ---- */

static bool read_time(const struct place *at, const json_t *value, struct val *ret)
{
    int64_t at_us;
    struct str s = {json_string_value(value), json_string_length(value)};
    if (!json_is_string(value) || !time_parse(s, &at_us))
        return refuse(at, "must be an RFC 3339 date-time with offset%s", or_null(at));
    *ret = v_time(at_us);
    return true;
}

static bool read_int(const struct place *at, const json_t *value, struct val *ret)
{
    const struct field *f = at->field;
    bool bounded = f->min || f->max;
    int64_t i = json_integer_value(value);
    if (json_is_integer(value) && (!bounded || (i >= f->min && i <= f->max))) {
        *ret = v_int(i);
        return true;
    }
    if (!bounded)
        return refuse(at, "must be an integer%s", or_null(at));
    if (f->max == INT64_MAX)
        return refuse(at, "must be an integer of at least %lld%s", (long long)f->min, or_null(at));
    return refuse(at, "must be an integer from %lld to %lld%s", (long long)f->min, (long long)f->max, or_null(at));
}

static bool read_bool(const struct place *at, const json_t *value, struct val *ret)
{
    unsigned flags = at->field->flags;
    bool b = json_is_true(value);
    if (!json_is_boolean(value))
        return refuse(at, "must be true or false%s", or_null(at));
    if ((flags & F_CONST) && b != !(flags & F_FALSE))
        return refuse(at, "must be %s%s", flags & F_FALSE ? "false" : "true", or_null(at));
    *ret = v_bool(b);
    return true;
}

/* ---- containers ---- */

static bool read_sub(const struct place *at, const json_t *value, char *ret)
{
    if (!json_is_object(value))
        return refuse(at, "must be an object%s", or_null(at));
    return schema_read_object(at->field->sub, value, at, ret);
}

static bool read_struct(const struct place *at, const json_t *value, struct val *ret)
{
    char *body = arena_zalloc(at->arena, at->field->sub->size);
    if (!read_sub(at, value, body))
        return false;
    *ret = v_object(body);
    return true;
}

static bool check_item_count(const struct place *at, size_t n)
{
    const struct field *f = at->field;
    if ((f->min == 0 && f->max == 0) || ((int64_t)n >= f->min && (int64_t)n <= f->max))
        return true;
    if (f->min == f->max)
        return refuse(at, "must have exactly %lld items", (long long)f->min);
    if ((int64_t)n < f->min)
        return refuse(at, "must have at least %lld item%s", (long long)f->min, f->min == 1 ? "" : "s");
    return refuse(at, "must have at most %lld item%s", (long long)f->max, f->max == 1 ? "" : "s");
}

static bool read_list(const struct place *at, const json_t *value, struct val *ret)
{
    const struct field *f = at->field;
    bool objects = f->type == T_OBJECTS;
    if (!json_is_array(value))
        return refuse(at, "must be a list%s", or_null(at));
    size_t n = json_array_size(value), size = objects ? f->sub->size : sizeof(struct val);
    if (!check_item_count(at, n))
        return false;
    char *items = arena_zalloc(at->arena, n * size);
    for (size_t i = 0; i < n; i++) {
        struct place item = *at;
        item.up = at;
        item.item = &i;
        const json_t *v = json_array_get(value, i);
        if (objects ? !read_sub(&item, v, items + i * size) : !read_string(&item, v, (struct val *)(items + i * size)))
            return false;
    }
    *ret = v_list(items, n);
    return true;
}

/* ---- objects ---- */

static bool read_value(const struct place *at, const json_t *value, struct val *ret)
{
    if (json_is_null(value) && (at->field->flags & F_NULLABLE)) {
        *ret = v_null();
        return true;
    }
    switch (at->field->type) {
    case T_STRING:
        return read_string(at, value, ret);
    case T_ID:
        return read_id(at, value, ret);
    case T_TIME:
        return read_time(at, value, ret);
    case T_INT:
        return read_int(at, value, ret);
    case T_BOOL:
        return read_bool(at, value, ret);
    case T_OBJECT:
        return read_struct(at, value, ret);
    case T_STRINGS:
    case T_OBJECTS:
        return read_list(at, value, ret);
    case T_NUMBER:
        break;
    }
    abort(); /* an output type in an input table */
}

static bool known(const struct shape *shape, const char *name)
{
    for (size_t i = 0; i < shape->field_count; i++)
        if (strcmp(shape->fields[i].name, name) == 0)
            return true;
    return false;
}

static bool check_known(const struct shape *shape, json_t *object, const struct place *at)
{
    if (shape->open)
        return true;
    for (void *i = json_object_iter(object); i; i = json_object_iter_next(object, i))
        if (!known(shape, json_object_iter_key(i)))
            return refuse_unknown(at, json_object_iter_key(i));
    return true;
}

/* The place of a field in the object at `at`. */
static struct place member_place(const struct place *at, const struct field *f)
{
    struct place here = *at;
    here.up = at;
    here.field = f;
    here.item = NULL;
    if (f->error)
        here.error = f->error;
    return here;
}

/* The variant that the object selects; NULL with a fault. */
static const struct shape *choose_variant(const struct shape *shape, const json_t *object, const struct place *at)
{
    const char *tags[VARIANTS_MAX + 1] = {NULL};
    assert(shape->variants[0]);
    for (size_t i = 0; shape->variants[i]; i++) {
        assert(i < VARIANTS_MAX);
        tags[i] = shape->variants[i]->fields[0].values[0];
    }
    struct field tag = shape->variants[0]->fields[0];
    tag.values = tags;
    const struct place here = member_place(at, &tag);
    const json_t *value = json_object_get(object, tag.name);
    struct val chosen = {0};
    if (!value) {
        refuse(&here, "is required");
        return NULL;
    }
    if (!read_string(&here, value, &chosen))
        return NULL;
    for (size_t i = 0; tags[i]; i++)
        if (str_eq(chosen.s, str_z(tags[i])))
            return shape->variants[i];
    return NULL;
}

static bool read_field(const struct field *f, const json_t *object, const struct place *at, char *ret)
{
    struct place here = member_place(at, f);
    const json_t *value = json_object_get(object, f->name);
    if (f->null_error && json_is_null(value))
        here.error = f->null_error;
    if (!value && (f->flags & F_REQUIRED))
        return refuse(&here, "is required");
    return !value || read_value(&here, value, (struct val *)(void *)(ret + f->offset));
}

static bool schema_read_object(const struct shape *shape, const json_t *object, const struct place *at, char *ret)
{
    if (shape->variants && !shape->fields) {
        shape = choose_variant(shape, object, at);
        if (!shape)
            return false;
    }
    size_t i = 0;
    if (shape->field_count && (shape->fields[0].flags & F_TAG) && !read_field(&shape->fields[i++], object, at, ret))
        return false;
    if (!check_known(shape, (json_t *)object, at))
        return false;
    for (; i < shape->field_count; i++)
        if (!read_field(&shape->fields[i], object, at, ret))
            return false;
    return true;
}

bool schema_read(const struct shape *shape, const json_t *object, enum err error, struct arena *a, void *ret,
                 struct schema_fault *ret_fault)
{
    assert(json_is_object(object));
    struct place top = {.error = error, .arena = a, .fault = ret_fault};
    memset(ret, 0, shape->size);
    return schema_read_object(shape, object, &top, ret);
}
