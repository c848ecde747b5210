#include "site/oauth.h"

#include "api/parts.h"
#include "api/scopes.h"
#include "domain/key.h"
#include "resources/oauth_request.h"
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
    return v_str(arena_printf(q->tx.arena, "%s%s", q->parts->public_url, path));
}

static struct val words(struct request *q, const char *first, const char *second)
{
    struct val *list = arena_array(q->tx.arena, struct val, 2);
    list[0] = v_str(str_z(first));
    list[1] = v_str(str_z(second));
    return v_list(list, second ? 2 : 1);
}

/* Clients ask for all scopes of this document, so it has the scopes that a new key gets. */
static enum err get_resource(struct request *q, struct reply *p)
{
    struct resource *r = arena_new(q->tx.arena, struct resource);
    struct val *servers = arena_array(q->tx.arena, struct val, 1);
    servers[0] = address(q, "");
    r->resource = address(q, q->route->handler_data);
    r->resource_name = v_str(STR("Portero"));
    r->authorization_servers = v_list(servers, 1);
    r->scopes_supported = scope_list(q->tx.arena, key_scopes_current.standard);
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
    FIELD(struct registration, redirect_uris, T_STRINGS, .flags = F_REQUIRED),
    FIELD(struct registration, grant_types, T_STRINGS),
    FIELD(struct registration, response_types, T_STRINGS),
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

static struct val list_of_lines(struct arena *a, struct str lines)
{
    uint32_t count = 1;
    for (size_t i = 0; i < lines.n; i++)
        count += lines.p[i] == '\n';
    struct val *list = arena_array(a, struct val, count);
    for (uint32_t i = 0; i < count; i++)
        list[i] = v_str(str_cut(lines, '\n', &lines));
    return v_list(list, count);
}

/* As a name, which a host may exceed. */
static struct str first_host(struct arena *a, struct str redirects)
{
    struct str rest;
    const struct str host = oauth_redirect_host(a, str_cut(redirects, '\n', &rest));
    return str_n(host.p, host.n < OAUTH_NAME_MAX ? host.n : OAUTH_NAME_MAX);
}

static enum err refuse_metadata(struct request *q, struct reply *p, const char *why)
{
    return oauth_refuse(q, p, "invalid_client_metadata", why);
}

static enum err add_client(struct request *q, struct reply *p, const struct registration *given)
{
    struct arena *a = q->tx.arena;
    const bool named = v_set(given->client_name) && given->client_name.s.n;
    if (named && !oauth_name_is_allowed(given->client_name.s))
        return refuse_metadata(q, p, "client_name must have at most 80 characters, and none that is invisible");
    if (!oauth_list_has(given->grant_types, STR("authorization_code")) ||
        !oauth_list_has(given->response_types, STR("code")))
        return refuse_metadata(q, p, "only the grant type authorization_code with the response type code is offered");
    const size_t room = OAUTH_REGISTRY_MAX - (named ? given->client_name.s.n : OAUTH_NAME_MAX);
    const struct str redirects = oauth_redirects_allowed(a, given->redirect_uris, room);
    if (!redirects.p)
        return oauth_refuse(q, p, "invalid_redirect_uri", "redirect_uris must have one with " OAUTH_REDIRECT_RULE);
    const struct str name = named ? given->client_name.s : first_host(a, redirects);
    const struct str id = oauth_client_register(a, q->tx.now_us, name, redirects);
    if (!id.p)
        return ERR_INTERNAL_ERROR;
    struct registered *r = arena_new(a, struct registered);
    r->client_id = v_str(id);
    r->client_id_issued_at = v_int(q->tx.now_us / US_PER_S);
    r->client_name = v_str(name);
    r->redirect_uris = list_of_lines(a, redirects);
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

#define OAUTH_ROUTE(id, verb, at, answered, text, ...)                                                                 \
    ROUTE(id, verb, at, .credential = CRED_NONE, .body_max = OAUTH_BODY_MAX, .flags = ROUTE_CORS, __VA_ARGS__,         \
          .doc = ROUTE_DOC("OAuth", answered, text)),                                                                  \
        ROUTE("preflight", OPTIONS, at, .credential = CRED_NONE, .run = RUN_HERE, .handler = preflight,                \
              .flags = ROUTE_CORS, .doc = ROUTE_DOC("OAuth", 204, "CORS"))

static const struct route rows[] = {
    OAUTH_ROUTE("getResource", GET, OAUTH_RESOURCE_PATH, 200, "The service as a resource of OAuth", .run = RUN_HERE,
                .handler = get_resource, .handler_data = ""),
    OAUTH_ROUTE("getMcpResource", GET, OAUTH_RESOURCE_PATH MCP_PATH, 200, "The service's MCP as a resource of OAuth",
                .run = RUN_HERE, .handler = get_resource, .handler_data = MCP_PATH),
    OAUTH_ROUTE("getAuthorizationServer", GET, "/.well-known/oauth-authorization-server", 200,
                "What the authorization server offers", .run = RUN_HERE, .handler = get_server),
    OAUTH_ROUTE("registerClient", POST, OAUTH_REGISTER, 201, "Register an assistant", .run = RUN_HERE,
                .limit = LIMIT_OAUTH, .handler = post_client),
    OAUTH_ROUTE("getToken", POST, OAUTH_TOKEN, 200, "Exchange a code or a refresh token", .run = RUN_WRITE,
                .limit = LIMIT_OAUTH, .handler = oauth_token),
    OAUTH_ROUTE("revokeToken", POST, OAUTH_REVOKE, 200, "End a grant", .run = RUN_WRITE, .limit = LIMIT_OAUTH,
                .handler = oauth_revocation),
};
const struct route_set oauth_routes = ROUTE_SET(rows);
