#include "api/openapi.h"

#include <stdio.h>

#include "api/cookie.h"
#include "api/openapi_errors.h"
#include "api/openapi_events.h"
#include "api/openapi_parameters.h"
#include "api/openapi_prose.h"
#include "api/openapi_responses.h"
#include "api/openapi_schemas.h"
#include "api/openapi_share.h"
#include "api/reply.h"

#define CONTRACT_VERSION "1.0.0"

json_t *openapi_constant(const char *text)
{
    json_error_t why;
    json_t *value = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    if (!value) {
        fprintf(stderr, "an example of the OpenAPI document is not JSON: %s: %.100s\n", why.text, text);
        abort();
    }
    return value;
}

struct document {
    json_t *paths, *schemas, *tags;
    json_t *examples;   /* of replies, by operation ID */
    bool keys, cookies; /* true if an operation needs one */
};

static json_t *json_content(json_t *schema)
{
    return json_pack("{s:{s:o}}", "application/json", "schema", schema);
}

/* ---- parameters ---- */

static json_t *parameters_of(const struct route *route)
{
    struct parameter all[PARAMETERS_MAX];
    const size_t count = openapi_parameters(route, all);
    json_t *parameters = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(parameters, openapi_parameter(&all[i]));
    return parameters;
}

/* ---- responses ---- */

static json_t *header_objects(const struct response_header *all, size_t count)
{
    json_t *headers = json_object();
    for (size_t i = 0; i < count; i++)
        json_object_set_new(headers, all[i].name,
                            json_pack("{s:s, s:{s:s}}", "description", all[i].doc, "schema", "type", all[i].type));
    return headers;
}

static json_t *headers_of(const struct route *route, int status)
{
    struct response_header all[RESPONSE_HEADERS_MAX];
    return header_objects(all, openapi_headers(route, status, all));
}

static json_t *reply_content(const struct route *route, int status, struct document *d)
{
    json_t *content = json_content(openapi_reference(d->schemas, route->reply, SCHEMA_REPLY));
    json_t *example = json_object_get(d->examples, route->operation_id);
    if (example && status == route->doc.status)
        json_object_set(json_object_get(content, "application/json"), "example", example);
    return content;
}

static json_t *success(const struct route *route, int status, struct document *d)
{
    const struct str media = openapi_media(route);
    json_t *r = json_pack("{s:s, s:o}", "description", openapi_success_text(route, status), "headers",
                          headers_of(route, status));
    if (route->reply)
        json_object_set_new(r, "content", reply_content(route, status, d));
    else if (media.n)
        json_object_set_new(r, "content", json_pack("{s%:{}}", media.p, media.n));
    return r;
}

static void add_response(json_t *responses, int status, json_t *response)
{
    char key[12];
    snprintf(key, sizeof key, "%d", status);
    json_object_set_new(responses, key, response);
}

/* One response for all errors of a status: the envelope with these codes. */
static void add_errors(json_t *responses, const struct route *route, const struct error_set *errors, int status)
{
    json_t *codes = json_array();
    struct buf names = BUF(4096);
    for (int e = 1; e < ERR_TABLE_END; e++) {
        if (!errors->has[e] || err_info((enum err)e)->status != status)
            continue;
        buf_printf(&names, "%s%s", names.n ? ", " : "", err_info((enum err)e)->code);
        json_array_append_new(codes, json_string(err_info((enum err)e)->code));
    }
    if (json_array_size(codes)) {
        json_t *schema = json_pack("{s:[{s:s}, {s:{s:{s:{s:{s:o}}}}}]}", "allOf", "$ref", "#/components/schemas/Error",
                                   "properties", "error", "properties", "code", "enum", json_incref(codes));
        add_response(responses, status,
                     json_pack("{s:s%, s:o, s:o}", "description", names.p, names.n, "headers",
                               headers_of(route, status), "content", json_content(schema)));
    }
    json_decref(codes);
    buf_done(&names);
}

static json_t *responses_of(const struct route *route, struct document *d)
{
    int successes[SUCCESSES_MAX];
    struct response_header common[RESPONSE_HEADERS_MAX];
    struct error_set errors;
    json_t *responses = json_object();
    const size_t count = openapi_successes(route, successes);
    for (size_t i = 0; i < count; i++)
        add_response(responses, successes[i], success(route, successes[i], d));
    openapi_errors(route, &errors);
    for (int status = 400; status < 600; status++)
        add_errors(responses, route, &errors, status);
    json_object_set_new(responses, "default",
                        json_pack("{s:s, s:o, s:o}", "description", "any other error", "headers",
                                  header_objects(common, openapi_common_headers(false, common)), "content",
                                  json_content(openapi_reference(d->schemas, &error_shape, SCHEMA_REPLY))));
    return responses;
}

/* ---- operations ---- */

static json_t *scopes_of(const struct route *route)
{
    json_t *scopes = json_array();
    for (int bit = 0; bit < SCOPE_COUNT; bit++)
        if (route->scopes & 1u << bit)
            json_array_append_new(scopes, json_string(scope_text((enum scope)bit)));
    return scopes;
}

static json_t *description_of(const struct route *route)
{
    struct buf text = BUF(4096);
    openapi_describe(route, &text);
    json_t *description = json_stringn(text.p, text.n);
    buf_done(&text);
    return description;
}

static json_t *request_body_of(const struct route *route, json_t *schemas)
{
    json_t *content = json_content(openapi_reference(schemas, route->body, SCHEMA_REQUEST));
    if (route->doc.body_example)
        json_object_set_new(json_object_get(content, "application/json"), "example",
                            openapi_constant(route->doc.body_example));
    return json_pack("{s:b, s:o}", "required", !route->body_optional, "content", content);
}

static json_t *operation_of(const struct route *route, struct document *d)
{
    json_t *object = json_pack("{s:s, s:s, s:o, s:[s], s:o, s:o}", "operationId", route->operation_id, "summary",
                               route->doc.summary, "description", description_of(route), "tags", route->doc.tag,
                               "parameters", parameters_of(route), "responses", responses_of(route, d));
    if (route->body)
        json_object_set_new(object, "requestBody", request_body_of(route, d->schemas));
    if (route_needs_key(route)) {
        json_object_set_new(object, "security",
                            json_pack("[{s:[]}]", route->flags & ROUTE_SITE_ONLY ? "cookie" : "key"));
        json_object_set_new(object, "x-required-scopes", scopes_of(route));
    } else {
        json_object_set_new(object, "security", json_array());
    }
    if (route->credential == CRED_WEB_SESSION)
        json_object_set_new(object, "x-web-session-only", json_true());
    if (route->doc.flags & DOC_EXTENSION)
        json_object_set_new(object, "x-extension", json_true());
    return object;
}

static void add_route(struct document *d, const struct route *route)
{
    char name[OPENAPI_PATH_MAX];
    openapi_path(route, name);
    json_t *path = json_object_get(d->paths, name);
    if (!path) {
        path = json_object();
        json_object_set_new(d->paths, name, path);
    }
    json_object_set_new(path, openapi_method(route), operation_of(route, d));
}

/* ---- the document ---- */

/* Groups appear in the order of their first operations. */
static void add_tag(json_t *tags, const char *name)
{
    size_t i;
    json_t *known;
    json_array_foreach (tags, i, known)
        if (strcmp(json_string_value(json_object_get(known, "name")), name) == 0)
            return;
    const char *description = openapi_tag(name);
    json_t *tag = json_pack("{s:s}", "name", name);
    if (description)
        json_object_set_new(tag, "description", json_string(description));
    json_array_append_new(tags, tag);
}

static void add_set(struct document *d, const struct route_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct route *route = &set->rows[i];
        if (route->flags & ROUTE_PAGE)
            continue;
        add_route(d, route);
        add_tag(d->tags, route->doc.tag);
        if (route_needs_key(route))
            *(route->flags & ROUTE_SITE_ONLY ? &d->cookies : &d->keys) = true;
    }
}

/* A machine's own name means nothing to other machines. */
static bool is_public_address(const char *public_url)
{
    return public_url && !str_starts(str_z(public_url), STR("https://localhost"));
}

static json_t *info_of(const struct openapi *d)
{
    return json_pack("{s:s, s:s, s:s, s:{s:s}, s:{s:s, s:s}}", "title", d->title, "version", CONTRACT_VERSION,
                     "description", d->description, "contact", "name", "The operator of this service", "license",
                     "name", "Apache License 2.0", "identifier", "Apache-2.0");
}

/* The server entry needs an absolute address. */
static void add_addresses(json_t *document, const struct openapi *d, const char *public_url)
{
    json_t *contact = json_object_get(json_object_get(document, "info"), "contact");
    json_object_set_new(contact, "url", json_string(public_url));
    if (d->guide)
        json_object_set_new(document, "externalDocs",
                            json_pack("{s:s, s:o}", "description", "Guide for agents", "url",
                                      json_sprintf("%s%s", public_url, d->guide)));
}

static json_t *components_of(const struct document *d)
{
    json_t *components = json_pack("{s:o}", "schemas", d->schemas);
    if (d->keys)
        json_object_set_new(components, "securitySchemes",
                            json_pack("{s:{s:s, s:s, s:s}}", "key", "type", "http", "scheme", "bearer", "description",
                                      "An API key of a website session or an agent. Never in a query string."));
    if (d->cookies)
        json_object_set_new(components, "securitySchemes",
                            json_pack("{s:{s:s, s:s, s:s, s:s}}", "cookie", "type", "apiKey", "in", "cookie", "name",
                                      COOKIE_NAME, "description", "The cookie that signInBrowser sets."));
    return components;
}

/* Operations are whole, and only schemas are references. */
static json_t *build(const struct openapi *d, const char *public_url)
{
    struct document parts = {.paths = json_object(), .schemas = json_object(), .tags = json_array()};
    parts.examples = d->examples ? d->examples() : NULL;
    for (size_t i = 0; i < d->set_count; i++)
        add_set(&parts, d->sets[i]);
    json_t *document = json_pack("{s:s, s:o, s:[{s:s}], s:o, s:o, s:o}", "openapi", "3.1.0", "info", info_of(d),
                                 "servers", "url", is_public_address(public_url) ? public_url : "/", "tags", parts.tags,
                                 "paths", parts.paths, "components", components_of(&parts));
    json_decref(parts.examples);
    if (d->events)
        json_object_set_new(document, "webhooks", openapi_events(parts.schemas));
    if (is_public_address(public_url))
        add_addresses(document, d, public_url);
    return document;
}

void openapi_document(const struct openapi *d, const char *public_url, struct buf *out)
{
    json_t *document = build(d, public_url);
    openapi_share(json_object_get(document, "paths"), json_object_get(document, "components"));
    char *text = document ? json_dumps(document, JSON_COMPACT) : NULL;
    if (text)
        buf_str(out, str_z(text));
    else
        out->full = true;
    free(text);
    json_decref(document);
}
