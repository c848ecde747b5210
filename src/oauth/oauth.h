/* Grants that assistants get when a resident connects them: OAuth 2.1 with PKCE for public clients (RFC 6749, RFC 7636,
 * RFC 8707, RFC 9700), as the Model Context Protocol describes it.
 *
 * A resident's consent makes a code, which the client exchanges for a grant. The access token of a grant is the text of
 * an agent key (domain/key.h) that lives an hour. A refresh token gives that key another text, and is itself replaced.
 * For OAUTH_REPEAT_S its client gets the same tokens for it again, because the answer was lost, or two processes of the
 * client refresh at once; after that, one that comes again ends the grant, since two have it. The revocation of the key
 * ends the grant, and so does its deletion. The store has hashes of codes and tokens. */
#pragma once
#include "domain/key.h"
#include "oauth/oauth_client.h"

#define OAUTH_CODE_TTL_S   60
#define OAUTH_CODES_MAX    20 /* of an account, used ones included */
#define OAUTH_ACCESS_TTL_S 3600
#define OAUTH_GRANT_TTL_S  KEY_REMEMBERED_S /* since its last refresh, whose time follows from its end */
#define OAUTH_REPEAT_S     60               /* since the last refresh, its token may come again */
#define OAUTH_CODE_LEN     43               /* base62: 256 bits */
#define OAUTH_REFRESH_LEN  76
#define OAUTH_CHALLENGE    43 /* characters of a code challenge: base64url of a SHA-256 */

/* The resource that a token is for (RFC 8707): parts of one service, so no key tells them apart. */
enum oauth_resource { OAUTH_ANY, OAUTH_SERVICE, OAUTH_MCP };

/* The resident has agreed to this, and the code is bound to it. */
struct oauth_consent {
    struct str client_id, redirect_uri, challenge;
    struct str client_name; /* of a client with a document; STR_NONE: in the ID */
    bool shared;            /* other installations of the client may have grants, which stay */
    enum oauth_resource resource;
    uint32_t scopes;
};

/* Makes a code. Fails with ERR_KEY_LIMIT if the account can have no further agent key. The caller must wipe it. */
enum err oauth_code_issue(struct tx *tx, const struct id *account, const struct oauth_consent *consent,
                          char ret[static OAUTH_CODE_LEN + 1]) CHECKED;

struct oauth_tokens {
    struct key_issued access;
    char refresh[OAUTH_REFRESH_LEN + 1];
}; /* secrets: the caller must wipe it */

struct oauth_exchange {
    struct str code, verifier;
    struct str redirect_uri;      /* STR_NONE: not sent */
    enum oauth_resource resource; /* OAUTH_ANY: not sent */
};

/* Exchanges a code, and ends the grant that the client had before, unless the consent was for a shared one. `client` is
 * as read from its ID, without a name if that is the address of a document. Fails with ERR_NOT_FOUND for a code that is
 * unknown, expired, used, or not for this client and these parameters; the caller must commit that, too: the code is
 * used then, and if it was exchanged before, that grant has ended. Fails with ERR_KEY_LIMIT. */
enum err oauth_code_exchange(struct tx *tx, const struct oauth_client *client, const struct oauth_exchange *x,
                             struct oauth_tokens *ret) CHECKED;

/* Gives a grant other tokens, the access token with `scopes` (0: all that the resident allowed). The token of the last
 * refresh gives the tokens of that one until OAUTH_REPEAT_S have passed, with the scopes and the end that they have.
 * Fails with ERR_NOT_FOUND for a token that is unknown, expired, replaced, or of another client or resource; the caller
 * must commit that, too: a replaced one has ended its grant. Fails with ERR_INSUFFICIENT_SCOPE for a scope that the
 * resident did not allow. */
enum err oauth_refresh(struct tx *tx, struct str client_id, struct str token, uint32_t scopes,
                       enum oauth_resource resource, struct oauth_tokens *ret) CHECKED;

/* Ends the grant of an access token or a refresh token, also of a replaced one (RFC 7009). Without effect for an
 * unknown token. Fails with ERR_NOT_FOUND if it belongs to another client. */
enum err oauth_revoke(struct tx *tx, struct str client_id, struct str token) CHECKED;

/* Deletes at most `limit` codes that expired before before_us. *ret_count is their number. */
enum err oauth_purge(struct tx *tx, int64_t before_us, int64_t limit, int64_t *ret_count) CHECKED;
