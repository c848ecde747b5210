/* Authorization requests of OAuth (RFC 6749 section 4.1.1, RFC 7636, RFC 8707), and the addresses of the service that
 * OAuth names. */
#pragma once
#include "api/request.h"
#include "oauth/oauth.h"

#define OAUTH_QUERY_MAX     6000 /* bytes of a request's query */
#define MCP_PATH            "/mcp"
#define OAUTH_RESOURCE_PATH "/.well-known/oauth-protected-resource" /* followed by the path of the resource */

/* The resource of an RFC 8707 parameter. False for another service's; OAUTH_ANY for STR_NONE. */
bool oauth_resource_of(const struct request *q, struct str resource, enum oauth_resource *ret);

/* A text of the client's registration or request is never a link of a page, except `redirect_uri`. */
struct oauth_request {
    struct str address;         /* of the client's document; STR_NONE: it has none */
    struct oauth_client client; /* without an ID: unknown, or its document is not */
    struct str redirect_uri;    /* STR_NONE: not one of the client's, so that nothing may be sent anywhere */
    struct str state;           /* STR_NONE: none */
    struct str challenge;
    enum oauth_resource resource;
    uint32_t scopes;   /* that it asks for and that can be given; if there are none, a new key's */
    const char *error; /* as in RFC 6749 section 4.1.2.1 and RFC 8707 section 2; NULL: it can be granted */
};

/* Reads a query string, also an invalid one. `known` is the client with the address that a first reading gave, as its
 * document or a voucher says; NULL: there is none. */
void oauth_request_read(struct request *q, struct str query, const struct oauth_client *known,
                        struct oauth_request *ret);
/* The request lacks nothing but the client's document. */
bool oauth_request_needs_document(const struct oauth_request *r);

/* The address that the browser goes to next, in the arena: the client's, with the value under the name, the request's
 * state and the issuer (RFC 9207). STR_NONE without redirect_uri. */
struct str oauth_request_answer(struct request *q, const struct oauth_request *r, const char *name, struct str value);
