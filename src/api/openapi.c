#include "api/openapi.h"

#include "api/cookie.h"
#include "api/gate_site.h"
#include "api/openapi_errors.h"
#include "api/openapi_events.h"
#include "api/openapi_examples.h"
#include "api/openapi_prose.h"
#include "api/openapi_schemas.h"
#include "api/openapi_share.h"
#include "api/reply.h"

#define CONTRACT_VERSION "1.0.0"

static const char *const methods[] = {
    [HTTP_GET] = "get", [HTTP_POST] = "post", [HTTP_PUT] = "put", [HTTP_PATCH] = "patch", [HTTP_DELETE] = "delete"};

static json_t *json_content(json_t *schema)
{
    return json_pack("{s:{s:o}}", "application/json", "schema", schema);
}

/* ---- parameters ---- */

static void add_parameter(json_t *parameters, const char *name, const char *in, bool required, json_t *schema,
                          const char *doc)
{
    json_t *p = json_pack("{s:s, s:s, s:b, s:o}", "name", name, "in", in, "required", required, "schema", schema);
    if (doc)
        json_object_set_new(p, "description", json_string(doc));
    json_array_append_new(parameters, p);
}

static json_t *pattern(const char *regex)
{
    return json_pack("{s:s, s:s}", "type", "string", "pattern", regex);
}

/* All path parameters are IDs, except a first one with its own name. */
static void add_path_parameters(json_t *parameters, const char *path)
{
    struct str rest = str_z(path), name;
    for (bool first = true; str_cut(rest, '{', &rest).p && rest.p; first = false) {
        char text[32] = "";
        name = str_cut(rest, '}', &rest);
        strncat(text, name.p, name.n < sizeof text ? name.n : sizeof text - 1);
        bool id = !first || strcmp(text, "id") == 0 || strcmp(text, "buildingId") == 0;
        add_parameter(parameters, id ? text : "id", "path", true,
                      id ? pattern("^[a-fA-F0-9]{24}$") : json_pack("{s:s}", "type", "string"),
                      id ? "an ID that this API returned, in either case" : "as this API returned it");
    }
}

/* A query table's fields, from the schema of their shape. */
static void add_query(json_t *parameters, const struct shape *query)
{
    json_t *schema = openapi_schema(query, SCHEMA_REQUEST);
    json_t *properties = json_object_get(schema, "properties");
    for (size_t i = 0; i < query->field_count; i++) {
        const struct field *f = &query->fields[i];
        json_t *property = json_object_get(properties, f->name);
        json_object_del(property, "description"); /* the parameter has it */
        add_parameter(parameters, f->name, "query", f->flags & F_REQUIRED, json_incref(property), f->doc);
    }
    json_decref(schema);
}

static json_t *parameters_of(const struct route *route)
{
    json_t *parameters = json_array();
    add_path_parameters(parameters, route->path);
    if (route->query)
        add_query(parameters, route->query);
    if (route->building == BUILDING_HEADER || route->building == BUILDING_PATH)
        add_parameter(parameters, "X-Service-Building-Id", "header", false, pattern("^[a-fA-F0-9]{24}$"),
                      route->building == BUILDING_HEADER ? "required when the account has linked buildings"
                                                         : "if sent, must agree with the path");
    if (route->idempotency != NEED_NOT)
        add_parameter(parameters, "Idempotency-Key", "header", route->idempotency == NEED_REQUIRED,
                      pattern("^[a-zA-Z0-9_-]{16,100}$"),
                      "identifies this request: the same key and body replay its result");
    if (route->match == MATCH_GRANT)
        add_parameter(parameters, "If-Match", "header", true, pattern("^(W/)?\"[0-9]+\"$"), "the grant's ETag");
    if (route->match == MATCH_SETTINGS)
        add_parameter(parameters, "If-Match", "header", true, pattern("^(W/)?\"[a-fA-F0-9]{64}\"$"),
                      "the settings' ETag");
    return parameters;
}

/* ---- responses ---- */

static void document_header(json_t *headers, const char *name, const char *type, const char *doc)
{
    json_object_set_new(headers, name, json_pack("{s:s, s:{s:s}}", "description", doc, "schema", "type", type));
}

/* on every response */
static json_t *common_headers(bool cacheable)
{
    json_t *headers = json_object();
    document_header(headers, "X-Request-ID", "string", "identifies this request in support cases");
    document_header(headers, "Cache-Control", "string", cacheable ? "public, for one minute" : "no-store");
    return headers;
}

static json_t *headers_of(const struct route *route, int status)
{
    json_t *headers = common_headers(route->flags & ROUTE_CACHEABLE && status < 400);
    const bool success = status < 400;
    const bool early = status == 413 || status == 426; /* refused before any limit is counted */
    if (route->limit != LIMIT_NONE && !early) {
        document_header(headers, "RateLimit-Limit", "integer", "requests per window");
        document_header(headers, "RateLimit-Remaining", "integer", "requests left in the window");
        document_header(headers, "RateLimit-Reset", "integer", "seconds until the window ends");
    }
    if (!early && status != 401 && status != 429 &&
        (route->building == BUILDING_HEADER || route->building == BUILDING_PATH))
        document_header(headers, "X-Service-Building-Id", "string", "the selected building, if known");
    if (route->flags & ROUTE_CORS)
        document_header(headers, "Access-Control-Allow-Origin", "string", "*");
    if (success && (route->flags & ROUTE_ETAG))
        document_header(headers, "ETag", "string",
                        route->flags & ROUTE_CACHEABLE ? "version of this text, for If-None-Match"
                                                       : "the version, for If-Match");
    if (status == 201 && (route->flags & ROUTE_LOCATION))
        document_header(headers, "Location", "string", "path of the created resource");
    if ((status == 200 || (status && status == route->pending_status)) && (route->flags & ROUTE_REPLAY))
        document_header(headers, "Idempotency-Replayed", "string", "true: this is the result of an earlier request");
    if (status == 302 || status == 303)
        document_header(headers, "Location", "string", "address to follow");
    if (status == 401)
        document_header(headers, "WWW-Authenticate", "string", "Bearer");
    if (status == 403 && route->scopes)
        document_header(headers, "WWW-Authenticate", "string", "Bearer, with the scopes of a key that would do");
    if (status == 426)
        document_header(headers, "Upgrade", "string", "TLS/1.2");
    if (status == 429 || status == 503)
        document_header(headers, "Retry-After", "integer", "seconds to wait");
    return headers;
}

static const char *success_text(const struct route *route, int status)
{
    if (status == 200 && route->status != 200 && (route->flags & ROUTE_REPLAY))
        return "Replayed: the result of the earlier request.";
    return status == 201   ? "Created."
           : status == 202 ? "Accepted, but not completed yet."
           : status == 302 ? "Redirect."
                           : route->summary;
}

static json_t *success(const struct route *route, int status, json_t *schemas)
{
    struct str rest, media = str_cut(str_z(route->media), ';', &rest);
    json_t *r =
        json_pack("{s:s, s:o}", "description", success_text(route, status), "headers", headers_of(route, status));
    if (route->reply)
        json_object_set_new(r, "content", json_content(openapi_reference(schemas, route->reply, SCHEMA_REPLY)));
    else if (media.n)
        json_object_set_new(r, "content", json_pack("{s%:{}}", media.p, media.n));
    return r;
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
        char key[12];
        snprintf(key, sizeof key, "%d", status);
        json_object_set_new(responses, key,
                            json_pack("{s:s%, s:o, s:o}", "description", names.p, names.n, "headers",
                                      headers_of(route, status), "content", json_content(schema)));
    }
    json_decref(codes);
    buf_done(&names);
}

static void add_success(json_t *responses, const struct route *route, int status, json_t *schemas)
{
    char key[12];
    if (!status)
        return;
    snprintf(key, sizeof key, "%d", status);
    json_object_set_new(responses, key, success(route, status, schemas));
}

static json_t *responses_of(const struct route *route, json_t *schemas)
{
    json_t *responses = json_object();
    add_success(responses, route, route->status, schemas);
    add_success(responses, route, route->other_status, schemas);
    add_success(responses, route, route->pending_status, schemas);
    struct error_set errors;
    openapi_errors(route, &errors);
    for (int status = 400; status < 600; status++)
        add_errors(responses, route, &errors, status);
    json_object_set_new(responses, "default",
                        json_pack("{s:s, s:o, s:o}", "description", "any other error", "headers", common_headers(false),
                                  "content", json_content(openapi_reference(schemas, &error_shape, SCHEMA_REPLY))));
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
    if (route->body_example)
        json_object_set_new(json_object_get(content, "application/json"), "example",
                            openapi_constant(route->body_example));
    return json_pack("{s:b, s:o}", "required", !route->body_optional, "content", content);
}

static json_t *operation_of(const struct route *route, json_t *schemas)
{
    json_t *object = json_pack("{s:s, s:s, s:o, s:[s], s:o, s:o}", "operationId", route->operation_id, "summary",
                               route->summary, "description", description_of(route), "tags", route->tag, "parameters",
                               parameters_of(route), "responses", responses_of(route, schemas));
    if (route->body)
        json_object_set_new(object, "requestBody", request_body_of(route, schemas));
    if (route->credential >= CRED_KEY && route->credential <= CRED_PARENT) {
        json_object_set_new(object, "security",
                            json_pack("[{s:[]}]", route->flags & ROUTE_SITE_ONLY ? "cookie" : "key"));
        json_object_set_new(object, "x-required-scopes", scopes_of(route));
    } else {
        json_object_set_new(object, "security", json_array());
    }
    if (route->credential == CRED_WEB_SESSION)
        json_object_set_new(object, "x-web-session-only", json_true());
    if (route->flags & ROUTE_EXTENSION)
        json_object_set_new(object, "x-extension", json_true());
    return object;
}

/* {text}, an ID made by another system, is documented as {id}. */
static void public_path(const struct route *route, char *ret, size_t size)
{
    const char *path = route->path;
    const char *prefix = route->flags & ROUTE_SITE_ONLY ? SITE_PREFIX : "";
    const char *text = strstr(path, "{text}");
    int before = text ? (int)(text - path) : (int)strlen(path);
    snprintf(ret, size, "%s%.*s%s%s", prefix, before, path, text ? "{id}" : "", text ? text + strlen("{text}") : "");
}

static void add_route(json_t *paths, json_t *schemas, const struct route *route)
{
    char name[128];
    public_path(route, name, sizeof name);
    json_t *path = json_object_get(paths, name);
    if (!path) {
        path = json_object();
        json_object_set_new(paths, name, path);
    }
    json_object_set_new(path, methods[route->method], operation_of(route, schemas));
}

/* ---- the document ---- */

struct document {
    json_t *paths, *schemas, *tags;
    bool keys, cookies; /* true if an operation needs one */
};

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
        add_route(d->paths, d->schemas, route);
        add_tag(d->tags, route->tag);
        if (route->credential >= CRED_KEY && route->credential <= CRED_PARENT)
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

json_t *openapi_build(const struct openapi *d, const char *public_url)
{
    struct document parts = {json_object(), json_object(), json_array(), false, false};
    for (size_t i = 0; i < d->set_count; i++)
        add_set(&parts, d->sets[i]);
    json_t *document = json_pack("{s:s, s:o, s:[{s:s}], s:o, s:o, s:o}", "openapi", "3.1.0", "info", info_of(d),
                                 "servers", "url", is_public_address(public_url) ? public_url : "/", "tags", parts.tags,
                                 "paths", parts.paths, "components", components_of(&parts));
    openapi_examples(parts.paths);
    if (d->events)
        json_object_set_new(document, "webhooks", openapi_events(parts.schemas));
    if (is_public_address(public_url))
        add_addresses(document, d, public_url);
    return document;
}

void openapi_document(const struct openapi *d, const char *public_url, struct buf *out)
{
    json_t *document = openapi_build(d, public_url);
    openapi_share(json_object_get(document, "paths"), json_object_get(document, "components"));
    char *text = document ? json_dumps(document, JSON_COMPACT) : NULL;
    if (text)
        buf_str(out, str_z(text));
    else
        out->full = true;
    free(text);
    json_decref(document);
}
