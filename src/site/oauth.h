/* The authorization server for assistants (OAuth 2.1 as the Model Context Protocol describes it): metadata (RFC 8414,
 * RFC 9728), registration (RFC 7591), tokens (RFC 6749 section 5), revocation (RFC 7009). The page for the resident's
 * consent is a row of site/pages.c. Errors that an RFC defines are sent as it says; others, such as rate limits, are
 * the service's. */
#pragma once
#include "api/request.h"

#define OAUTH_AUTHORIZE "/oauth/authorize"
#define OAUTH_TOKEN     "/oauth/token"
#define OAUTH_REGISTER  "/oauth/register"
#define OAUTH_REVOKE    "/oauth/revoke"
#define OAUTH_BODY_MAX  16384

/* Handlers of the token and revocation endpoints. */
enum err oauth_token(struct request *q, struct reply *p);
enum err oauth_revocation(struct request *q, struct reply *p);
