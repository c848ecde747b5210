#include "site/oauth.h"

#include "api/oauth_request.h"
#include "api/scopes.h"
#include "api/service.h"
#include "domain/key.h"
#include "site/oauth_error.h"
#include "site/routes.h"

/* ---- metadata ---- */

struct resource {
    struct val resource, resource_name, authorization_servers, scopes_supported, bearer_methods_supported,
        resource_documentation;
};
static const struct field resource_fields[] = {
    FIELD(struct resource, resource, T_STRING, .flags = F_REQUIRED),
    FIELD(struct resource, resource_name, T_STRING, .flags = F_REQUIRED),
    FIELD(struct resource, authorization_servers, T_STRINGS, .flags = F_REQUIRED),
    FIELD(struct resource, scopes_supported, T_STRINGS, .flags = F_REQUIRED),
    FIELD(struct resource, bearer_methods_supported, T_STRINGS, .flags = F_REQUIRED),
    FIELD(struct resource, resource_documentation, T_STRING, .flags = F_REQUIRED),
};
static const struct shape resource_shape = SHAPE(struct resource, "ProtectedResource", resource_fields);

struct server {
    struct val issuer, authorization_endpoint, token_endpoint, registration_endpoint, revocation_endpoint,
        scopes_supported, response_types_supported, response_modes_supported, grant_types_supported,
        token_endpoint_auth_methods_supported, revocation_endpoint_auth_methods_supported,
        code_challenge_methods_supported, authorization_response_iss_parameter_supported,
        client_id_metadata_document_supported, service_documentation;
};
static const struct field server_fields[] = {
    FIELD(struct server, issuer, T_STRING, .flags = F_REQUIRED),
    FIELD(struct server, authorization_endpoint, T_STRING, .flags = F_REQUIRED),
    FIELD(struct server, token_endpoint, T_STRING, .flags = F_REQUIRED),
    FIELD(struct server, registration_endpoint, T_STRING, .flags = F_REQUIRED),
    FIELD(struct server, revocation_endpoint, T_STRING, .flags = F_REQUIRED),
    FIELD(struct server, scopes_supported, T_STRINGS, .flags = F_REQUIRED),
    FIELD(struct server, response_types_supported, T_STRINGS, .flags = F_REQUIRED),
    FIELD(struct server, response_modes_supported, T_STRINGS, .flags = F_REQUIRED),
    FIELD(struct server, grant_types_supported, T_STRINGS, .flags = F_REQUIRED),
    FIELD(struct server, token_endpoint_auth_methods_supported, T_STRINGS, .flags = F_REQUIRED),
    FIELD(struct server, revocation_endpoint_auth_methods_supported, T_STRINGS, .flags = F_REQUIRED),
    FIELD(struct server, code_challenge_methods_supported, T_STRINGS, .flags = F_REQUIRED),
    FIELD(struct server, authorization_response_iss_parameter_supported, T_BOOL, .flags = F_REQUIRED),
    FIELD(struct server, client_id_metadata_document_supported, T_BOOL, .flags = F_REQUIRED),
    FIELD(struct server, service_documentation, T_STRING, .flags = F_REQUIRED),
};
static const struct shape server_shape = SHAPE(struct server, "AuthorizationServer", server_fields);

static struct val address(struct request *q, const char *path)
{
    return v_str(arena_printf(q->tx.arena, "%s%s", service_public_url(q->service), path));
}

static struct val words(struct request *q, const char *first, const char *second)
{
    struct val *list = arena_array(q->tx.arena, struct val, 2);
    list[0] = v_str(str_z(first));
    list[1] = v_str(str_z(second));
    return v_list(list, second ? 2 : 1);
}

/* Clients ask for all scopes of this document, so it has those that a new key gets. */
static enum err get_resource(struct request *q, struct reply *p)
{
    struct resource *r = arena_new(q->tx.arena, struct resource);
    struct val *servers = arena_array(q->tx.arena, struct val, 1);
    servers[0] = address(q, "");
    r->resource = address(q, q->route->handler_data);
    r->resource_name = v_str(STR("Portero"));
    r->authorization_servers = v_list(servers, 1);
    r->scopes_supported = scope_list(q->tx.arena, key_scopes_named(STR_NONE));
    r->bearer_methods_supported = words(q, "header", NULL);
    r->resource_documentation = address(q, "/docs/agents");
    return reply_ok(p, 200, &resource_shape, r);
}

static enum err get_server(struct request *q, struct reply *p)
{
    struct server *s = arena_new(q->tx.arena, struct server);
    s->issuer = address(q, "");
    s->authorization_endpoint = address(q, OAUTH_AUTHORIZE);
    s->token_endpoint = address(q, OAUTH_TOKEN);
    s->registration_endpoint = address(q, OAUTH_REGISTER);
    s->revocation_endpoint = address(q, OAUTH_REVOKE);
    s->scopes_supported = scope_list(q->tx.arena, key_scopes_current.issuable);
    s->response_types_supported = words(q, "code", NULL);
    s->response_modes_supported = words(q, "query", NULL);
    s->grant_types_supported = words(q, "authorization_code", "refresh_token");
    s->token_endpoint_auth_methods_supported = words(q, "none", NULL);
    s->revocation_endpoint_auth_methods_supported = words(q, "none", NULL);
    s->code_challenge_methods_supported = words(q, "S256", NULL);
    s->authorization_response_iss_parameter_supported = v_bool(true);
    s->client_id_metadata_document_supported = v_bool(q->tx.config->oauth_client_documents);
    s->service_documentation = address(q, "/docs/agents");
    return reply_ok(p, 200, &server_shape, s);
}

/* ---- registration ---- */

struct registration {
    struct val client_name, redirect_uris, grant_types, response_types;
};
static const struct field registration_fields[] = {
    FIELD(struct registration, client_name, T_STRING, .flags = F_TRIM | F_NULLABLE),
    FIELD(struct registration, redirect_uris, T_STRINGS, .flags = F_REQUIRED, .min = 1, .max = OAUTH_REDIRECTS_MAX),
    FIELD(struct registration, grant_types, T_STRINGS, .max = 10),
    FIELD(struct registration, response_types, T_STRINGS, .max = 10),
};
static const struct shape registration_shape =
    SHAPE(struct registration, "ClientRegistration", registration_fields, .open = true);

struct registered {
    struct val client_id, client_id_issued_at, client_name, redirect_uris, grant_types, response_types,
        token_endpoint_auth_method;
};
static const struct field registered_fields[] = {
    FIELD(struct registered, client_id, T_STRING, .flags = F_REQUIRED),
    FIELD(struct registered, client_id_issued_at, T_INT, .flags = F_REQUIRED),
    FIELD(struct registered, client_name, T_STRING, .flags = F_REQUIRED),
    FIELD(struct registered, redirect_uris, T_STRINGS, .flags = F_REQUIRED),
    FIELD(struct registered, grant_types, T_STRINGS, .flags = F_REQUIRED),
    FIELD(struct registered, response_types, T_STRINGS, .flags = F_REQUIRED),
    FIELD(struct registered, token_endpoint_auth_method, T_STRING, .flags = F_REQUIRED),
};
static const struct shape registered_shape = SHAPE(struct registered, "RegisteredClient", registered_fields);

/* An absent list has what is needed. */
static bool has_word(struct val list, struct str word)
{
    const struct val *words = list.ptr;
    for (uint32_t i = 0; i < list.count; i++)
        if (str_eq(words[i].s, word))
            return true;
    return !v_given(list);
}

/* The URIs, separated by line feeds; STR_NONE if one of them is not allowed. */
static struct str join_redirects(struct arena *a, struct val uris)
{
    const struct val *list = uris.ptr;
    struct str all = STR("");
    for (uint32_t i = 0; i < uris.count; i++) {
        if (!oauth_redirect_is_allowed(list[i].s))
            return STR_NONE;
        all = arena_printf(a, "%.*s%s%.*s", STR_ARG(all), i ? "\n" : "", STR_ARG(list[i].s));
    }
    return all;
}

static enum err refuse_metadata(struct request *q, struct reply *p, const char *why)
{
    return oauth_refuse(q, p, "invalid_client_metadata", why);
}

static enum err add_client(struct request *q, struct reply *p, const struct registration *given)
{
    const struct str redirects = join_redirects(q->tx.arena, given->redirect_uris);
    if (!redirects.p)
        return oauth_refuse(q, p, "invalid_redirect_uri",
                            "redirect_uris must be https, or http with 127.0.0.1, [::1] or localhost, at most 500 "
                            "characters, without user and fragment");
    if (!has_word(given->grant_types, STR("authorization_code")) || !has_word(given->response_types, STR("code")))
        return refuse_metadata(q, p, "only the grant type authorization_code with the response type code is offered");
    const struct val *first = given->redirect_uris.ptr;
    const bool named = v_set(given->client_name) && given->client_name.s.n;
    const struct str name = named ? given->client_name.s : oauth_redirect_host(q->tx.arena, first->s);
    if (!oauth_name_is_allowed(name))
        return refuse_metadata(q, p, "client_name must have at most 80 characters, and none that is invisible");
    const struct str id = oauth_client_register(q->tx.arena, q->tx.now_us, name, redirects);
    if (!id.p)
        return refuse_metadata(q, p, "client_name and redirect_uris are too long");
    struct registered *r = arena_new(q->tx.arena, struct registered);
    r->client_id = v_str(id);
    r->client_id_issued_at = v_int(q->tx.now_us / US_PER_S);
    r->client_name = v_str(name);
    r->redirect_uris = given->redirect_uris;
    r->grant_types = words(q, "authorization_code", "refresh_token");
    r->response_types = words(q, "code", NULL);
    r->token_endpoint_auth_method = v_str(STR("none"));
    return reply_ok(p, 201, &registered_shape, r);
}

static enum err post_client(struct request *q, struct reply *p)
{
    struct registration given;
    struct schema_fault fault = {0};
    json_t *body;
    if (json_read(q->http->body, &body))
        return refuse_metadata(q, p, "the body must be one JSON object");
    const bool read =
        json_is_object(body) && schema_read(&registration_shape, body, ERR_BAD_REQUEST, q->tx.arena, &given, &fault);
    json_decref(body);
    return read ? add_client(q, p, &given) : refuse_metadata(q, p, fault.message.p ? fault.message.p : "not an object");
}

/* ---- routes ---- */

/* A page of another origin asks before it sends JSON, or a field of its own. */
static enum err preflight(struct request *q, struct reply *p)
{
    (void)q;
    p->status = 204;
    reply_header(p, "Access-Control-Allow-Methods", STR("GET, POST"));
    reply_header(p, "Access-Control-Allow-Headers", STR("Content-Type, Authorization, MCP-Protocol-Version"));
    reply_header(p, "Access-Control-Max-Age", STR("86400"));
    return ERR_NONE;
}

#define OAUTH_ROUTE(id, text, verb, at, ...)                                                                           \
    {.operation_id = (id),                                                                                             \
     .summary = (text),                                                                                                \
     .tag = "OAuth",                                                                                                   \
     .method = (verb),                                                                                                 \
     .path = (at),                                                                                                     \
     .credential = CRED_NONE,                                                                                          \
     .body_max = OAUTH_BODY_MAX,                                                                                       \
     .flags = ROUTE_CORS,                                                                                              \
     __VA_ARGS__},                                                                                                     \
    {                                                                                                                  \
        .operation_id = "preflight", .summary = "CORS", .tag = "OAuth", .method = HTTP_OPTIONS, .path = (at),          \
        .credential = CRED_NONE, .run = RUN_HERE, .handler = preflight, .status = 204, .flags = ROUTE_CORS             \
    }

static const struct route rows[] = {
    OAUTH_ROUTE("getResource", "The service as a resource of OAuth", HTTP_GET, OAUTH_RESOURCE_PATH, .run = RUN_HERE,
                .handler = get_resource, .handler_data = "", .status = 200),
    OAUTH_ROUTE("getMcpResource", "The service's MCP as a resource of OAuth", HTTP_GET, OAUTH_RESOURCE_PATH MCP_PATH,
                .run = RUN_HERE, .handler = get_resource, .handler_data = MCP_PATH, .status = 200),
    OAUTH_ROUTE("getAuthorizationServer", "What the authorization server offers", HTTP_GET,
                "/.well-known/oauth-authorization-server", .run = RUN_HERE, .handler = get_server, .status = 200),
    OAUTH_ROUTE("registerClient", "Register an assistant", HTTP_POST, OAUTH_REGISTER, .run = RUN_HERE,
                .limit = LIMIT_OAUTH, .handler = post_client, .status = 201),
    OAUTH_ROUTE("getToken", "Exchange a code or a refresh token", HTTP_POST, OAUTH_TOKEN, .run = RUN_WRITE,
                .limit = LIMIT_OAUTH, .handler = oauth_token, .status = 200),
    OAUTH_ROUTE("revokeToken", "End a grant", HTTP_POST, OAUTH_REVOKE, .run = RUN_WRITE, .limit = LIMIT_OAUTH,
                .handler = oauth_revocation, .status = 200),
};
const struct route_set oauth_routes = ROUTE_SET(rows);
