/* Requests for tokens (RFC 6749 sections 4.1.3 and 6). */
#pragma once
#include "api/request.h"
#include "oauth/oauth.h"

struct oauth_token_request {
    bool refresh;               /* else an exchange */
    struct oauth_client client; /* of an exchange */
    struct oauth_exchange exchange;
    struct str client_id, token; /* of a refresh: any text */
    uint32_t scopes;             /* of a refresh, if they can be given; 0: all that the resident allowed */
    enum oauth_resource resource;
};

/* Reads the form of a request. NULL, or the error as RFC 6749 section 5.2 names it; *ret_why, which may be NULL, says
 * more. Texts are in the arena. */
const char *oauth_token_read(struct request *q, struct oauth_token_request *ret, const char **ret_why);
