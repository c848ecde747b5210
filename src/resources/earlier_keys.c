#include "resources/earlier_keys.h"

#include "api/scopes.h"
#include "domain/session.h"
#include "resources/auth.h"
#include "resources/key.h"

/* ---- sign-in without a purpose ---- */

static const struct field verify_fields[] = {VERIFY_FIELDS(0)};
static const struct shape verify_shape =
    SHAPE(struct verify_request, "EarlierVerifyRequest", verify_fields, .open = true);

/* The account is not known before the code is right. Until then, the answer has the form of the current revision, whose
 * reason the gate left in tx.why. */
static enum err post_owner(struct request *q, struct reply *p)
{
    const struct verify_request *body = q->body;
    struct key_issued key;
    bool attempted;
    enum err e = session_own(&q->tx, body->email.s, body->challenge.s, body->otp.s, &key, &attempted);
    if (e == ERR_WEBSITE_SIGN_IN_REQUIRED)
        return attempted ? reply_error_keep(p, e) : e;
    q->tx.why = STR_NONE;
    return e ? e : reply_credential(q, p, &key, OWNER_NAME);
}

/* ---- keys ---- */

static const struct field key_fields[] = {KEY_REQUEST_FIELDS(
    scope_values_earlier, SCOPE_COUNT, "account:read, access:read, access:write, logs:read, webhooks:write")};
static const struct shape key_shape = SHAPE(struct key_request, "EarlierKeyRequest", key_fields);

const struct route earlier_key_rows[EARLIER_KEY_ROWS] = {
    [EARLIER_VERIFY] =
        ROUTE("earlierVerifyOtp", POST, "/v1/auth/verify", .credential = CRED_NONE, .limit = LIMIT_AUTH,
              .body = &verify_shape, .body_error = ERR_INVALID_JSON, .run = RUN_WRITE, .handler = post_owner,
              .reply = &session_credential_shape,
              .doc = ROUTE_DOC("Sign-in and keys", 200, "Exchange a sign-in code for an owner's credential")),
    [EARLIER_CREATE_KEY] =
        ROUTE("earlierCreateKey", POST, "/v1/auth/keys", .credential = CRED_WEB_SESSION, .scopes = SCOPE(KEYS_WRITE),
              .limit = LIMIT_AUTH, .body = &key_shape, .body_error = ERR_INVALID_KEY_OPTIONS, .run = RUN_WRITE,
              .handler = key_post, .handler_data = &key_scopes_earlier, .reply = &agent_credential_shape,
              .flags = ROUTE_RECHECKS_KEY, .store_error = ERR_CREATE_FAILED,
              .doc = ROUTE_DOC("Sign-in and keys", 201, "Create an agent key")),
};
