/* Any bytes: the canonical form of accepted JSON is JSON, and its own canonical form. A number without a fraction is an
 * integer. A string written by json_put_str reads back unchanged. schema_read ends, and writes accepted values as JSON.
 * json_nodes_read accepts exactly what json_read accepts, and finds the same members with the same values. */
#include <assert.h>
#include <stdlib.h>

#include "base/json_nodes.h"
#include "base/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct part {
    struct val city, zip;
};
static const struct field part_fields[] = {
    FIELD(struct part, city, T_STRING, .flags = F_REQUIRED | F_TRIM | F_NONBLANK, .max = 10),
    FIELD(struct part, zip, T_STRING, .pattern = "^[0-9]{5}(-[0-9]{4})?$"),
};
static const struct shape part_shape = SHAPE(struct part, "Part", part_fields);
static const char *const words[] = {"a", "b", NULL};
struct body {
    struct val s, id, at, i, b, o, l, p, e, u;
};
static const struct field fields[] = {
    FIELD(struct body, s, T_STRING, .flags = F_TRIM | F_NULLABLE | F_LOWER, .max = 5),
    FIELD(struct body, id, T_ID, ),
    FIELD(struct body, at, T_TIME, .flags = F_NULLABLE),
    FIELD(struct body, i, T_INT, .flags = F_NULLABLE, .min = 1, .max = 100),
    FIELD(struct body, b, T_BOOL, ),
    FIELD(struct body, o, T_OBJECT, .flags = F_NULLABLE, .sub = &part_shape),
    FIELD(struct body, l, T_STRINGS, .values = words, .min = 1, .max = 3),
    FIELD(struct body, p, T_OBJECTS, .sub = &part_shape),
    FIELD(struct body, e, T_STRING, .format = "email"),
    FIELD(struct body, u, T_STRING, .flags = F_UTF16, .max = 3),
};
static const struct shape shape = SHAPE(struct body, "Body", fields);

static json_t *must_read(const struct buf *text)
{
    json_t *value = NULL;
    if (text->full || json_read(buf_view(text), &value))
        abort();
    return value;
}

static void check_canonical(const json_t *value)
{
    struct buf once = BUF(1 << 24), twice = BUF(1 << 24);
    json_canonical(value, &once);
    json_t *again = must_read(&once);
    json_canonical(again, &twice);
    if (!str_eq(buf_view(&once), buf_view(&twice)) || !json_equal(value, again))
        abort();
    json_decref(again);
    buf_done(&once);
    buf_done(&twice);
}

static void check_numbers(json_t *value)
{
    const double d = json_real_value(value);
    if (json_is_real(value) && d > -9007199254740992.0 && d < 9007199254740992.0 && d == (double)(int64_t)d)
        abort();
    json_t *item;
    size_t i;
    const char *name;
    json_array_foreach (value, i, item)
        check_numbers(item);
    json_object_foreach (value, name, item)
        check_numbers(item);
}

static void check_string(const json_t *value)
{
    struct buf text = BUF(1 << 24);
    json_put_str(&text, str_n(json_string_value(value), json_string_length(value)));
    json_t *again = must_read(&text);
    if (!json_equal(value, again))
        abort();
    json_decref(again);
    buf_done(&text);
}

static void check_schema(const json_t *object)
{
    struct arena a;
    struct body body;
    struct schema_fault fault = {0};
    struct buf text = BUF(1 << 24);
    arena_init(&a, NULL, 0);
    if (schema_read(&shape, object, ERR_BAD_REQUEST, &a, &body, &fault)) {
        schema_write(&shape, &body, &text);
        json_decref(must_read(&text));
    } else {
        json_put_str(&text, fault.message);
        json_decref(must_read(&text));
        if (fault.error != ERR_BAD_REQUEST || fault.message.n == 0)
            abort();
    }
    buf_done(&text);
    arena_done(&a);
}

static void check_nodes(const json_t *value, const struct json_node *node, struct arena *a)
{
    json_t *again = NULL;
    size_t count = 0;
    if (json_read(node->text, &again) || !json_equal(value, again) ||
        json_is_object(value) != json_node_is_object(node) || json_is_null(value) != json_node_is_null(node))
        abort();
    json_decref(again);
    const struct str text = json_node_string(node, a);
    if (!str_eq(text, str_n(json_string_value(value), json_string_length(value))))
        abort();
    for (const struct json_node *m = json_node_first(node); m; m = json_node_after(node, m), count++) {
        if (json_node_member(node, m->name) != m)
            abort();
        check_nodes(json_object_getn(value, m->name.p, m->name.n), m, a);
    }
    if (count != json_object_size(value))
        abort();
}

static void check_nodes_of(struct str text, const json_t *value)
{
    struct arena a;
    const struct json_node *nodes;
    arena_init(&a, NULL, 0);
    const bool accepted = !json_nodes_read(text, &a, &nodes);
    if (accepted != (value != NULL))
        abort();
    if (value)
        check_nodes(value, nodes, &a);
    arena_done(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_t *value = NULL;
    const struct str text = str_n((const char *)data, size);
    if (json_read(text, &value))
        value = NULL;
    check_nodes_of(text, value);
    if (!value)
        return 0;
    check_canonical(value);
    check_numbers(value);
    if (json_is_string(value))
        check_string(value);
    if (json_is_object(value))
        check_schema(value);
    json_decref(value);
    return 0;
}
