/* A JSON text as the list of its members, each with the place of its value: for a message of which a few members are
 * looked at and others are read as values.
 *
 * This is a parser of our own, although jansson is one: to build the values of an envelope, which is thrown away after
 * a few looks, costs more than the rest of a tool call adds to its request. It accepts exactly what json_read accepts,
 * which a fuzzer compares. It judges plain text alone: json_read decides about a text with an escaped or long number,
 * an escaped code point, an escaped name, or many members. */
#pragma once
#include "base/arena.h"
#include "base/json.h"

struct json_node {
    struct str name; /* decoded; STR_NONE: the whole text */
    struct str text; /* the value, as it is written */
    unsigned nodes;  /* of this value, itself included: the members of objects that no array encloses */
};

/* *ret: the whole text, followed by the nodes within it. Nodes point into the text, and into the arena. Fails with
 * ERR_INVALID_JSON as json_read does. */
enum err json_nodes_read(struct str text, struct arena *a, const struct json_node **ret) CHECKED;

/* The members of an object, in their order: the first, and the one after it. NULL: no more. Of anything else, and of
 * NULL, there are none. */
const struct json_node *json_node_first(const struct json_node *of);
const struct json_node *json_node_after(const struct json_node *of, const struct json_node *member);
/* NULL if there is none. */
const struct json_node *json_node_member(const struct json_node *of, struct str name);

static inline bool json_node_is_object(const struct json_node *n)
{
    return n && n->text.p[0] == '{';
}
static inline bool json_node_is_string(const struct json_node *n)
{
    return n && n->text.p[0] == '"';
}
static inline bool json_node_is_null(const struct json_node *n)
{
    return n && n->text.p[0] == 'n';
}
/* The decoded string, in the text or in the arena, not NUL-terminated; STR_NONE if it is none. */
struct str json_node_string(const struct json_node *n, struct arena *a);
