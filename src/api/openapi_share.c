#include "api/openapi_share.h"

#include <limits.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/crypto.h"

#define NAME_MAX_LEN 96
#define DIGITS       4 /* of the hash that a name ends with */

/* The objects of one kind. They are visited twice: once to count equal ones, once to replace the repeated ones. */
struct pool {
    json_t *counts; /* number of occurrences, by text */
    json_t *names;  /* component names, by text; NULL in the first pass */
    json_t *components;
    const char *kind;
    json_int_t least; /* occurrences of an object that is moved */
};

/* The name depends on the object alone, so that it stays when operations come and go. */
static void choose_name(const struct pool *p, const char *base, const char *text, char ret[static NAME_MAX_LEN])
{
    unsigned char hash[SHA256_LEN];
    char hex[2 * SHA256_LEN + 1];
    crypto_sha256(str_z(text), hash);
    hex_encode(hash, sizeof hash, hex);
    int digits = DIGITS;
    do
        snprintf(ret, NAME_MAX_LEN, "%s_%.*s", base, digits++, hex);
    while (json_object_get(p->components, ret));
}

/* The reference that replaces the object; NULL: keep the object. */
static json_t *replacement(struct pool *p, json_t *object, const char *text, const char *base)
{
    if (json_integer_value(json_object_get(p->counts, text)) < p->least)
        return NULL;
    if (!json_object_get(p->names, text)) {
        char name[NAME_MAX_LEN];
        choose_name(p, base, text, name);
        json_object_set(p->components, name, object);
        json_object_set_new(p->names, text, json_string(name));
    }
    const char *name = json_string_value(json_object_get(p->names, text));
    return json_pack("{s:o}", "$ref", json_sprintf("#/components/%s/%s", p->kind, name));
}

static json_t *share_object(struct pool *p, json_t *object, const char *base)
{
    char *text = json_dumps(object, JSON_COMPACT);
    json_t *instead = NULL;
    if (text && p->names)
        instead = replacement(p, object, text, base);
    else if (text)
        json_object_set_new(p->counts, text, json_integer(1 + json_integer_value(json_object_get(p->counts, text))));
    free(text);
    return instead;
}

static void visit_parameters(struct pool *p, json_t *operation)
{
    size_t i;
    json_t *list = json_object_get(operation, "parameters"), *parameter, *instead;
    json_array_foreach (list, i, parameter)
        if ((instead = share_object(p, parameter, json_string_value(json_object_get(parameter, "name")))))
            json_array_set_new(list, i, instead);
}

static void visit_headers(struct pool *p, json_t *operation)
{
    const char *status, *name;
    json_t *response, *header, *instead;
    json_object_foreach (json_object_get(operation, "responses"), status, response) {
        json_t *headers = json_object_get(response, "headers");
        json_object_foreach (headers, name, header)
            if ((instead = share_object(p, header, name)))
                json_object_set_new(headers, name, instead);
    }
}

/* "AUTH_REQUIRED_401": the description of an error response begins with its first code. Not the status first:
 * generators make identifiers of the names. */
static void visit_responses(struct pool *p, json_t *operation)
{
    const char *status;
    char base[NAME_MAX_LEN / 2];
    json_t *responses = json_object_get(operation, "responses"), *response, *instead;
    json_object_foreach (responses, status, response) {
        const char *codes = json_string_value(json_object_get(response, "description"));
        const bool error = status[0] == '4' || status[0] == '5';
        snprintf(base, sizeof base, "%.*s_%s", error ? (int)strcspn(codes, ",") : INT_MAX, error ? codes : "STATUS",
                 status);
        if ((instead = share_object(p, response, base)))
            json_object_set_new(responses, status, instead);
    }
}

static void visit_all(struct pool *p, json_t *paths, void (*visit_kind)(struct pool *, json_t *))
{
    const char *path, *method;
    json_t *item, *operation;
    json_object_foreach (paths, path, item) {
        json_object_foreach (item, method, operation) {
            visit_kind(p, operation);
        }
    }
}

static void share(json_t *paths, json_t *components, const char *kind, json_int_t least,
                  void (*visit_kind)(struct pool *, json_t *))
{
    struct pool p = {.counts = json_object(), .components = json_object(), .kind = kind, .least = least};
    visit_all(&p, paths, visit_kind);
    p.names = json_object();
    visit_all(&p, paths, visit_kind);
    if (json_object_size(p.components))
        json_object_set(components, kind, p.components);
    json_decref(p.components);
    json_decref(p.names);
    json_decref(p.counts);
}

void openapi_share(json_t *paths, json_t *components)
{
    share(paths, components, "parameters", 2, visit_parameters);
    share(paths, components, "headers", 1, visit_headers);
    /* All headers are already replaced, so equal responses have equal references. */
    share(paths, components, "responses", 2, visit_responses);
}
